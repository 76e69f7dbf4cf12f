import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'
import { isOnline } from '../api/connection.ts'
import { place } from '../router/router.ts'
import { text } from '../text/text.ts'
import { IconButton } from '../ui/Button.tsx'
import { Icon, Logo } from '../ui/Icon.tsx'

export const OfflineNotice = () => {
  if (!isOnline.value)
    return (
      <p class="notice" role="status">
        <Icon name="warning" size={16} />
        {text.shell.offline}
      </p>
    )
  return null
}

interface FrameProps {
  /** The address of the first page. */
  home: string
  brand: string
  menu: ComponentChildren
  /** Below the menu. */
  foot: ComponentChildren
  /** Above every page. */
  notices: ComponentChildren
  isWide?: boolean
  children: ComponentChildren
}

/** A menu beside the page; on a phone a button opens it. */
export const Frame = ({ home, brand, menu, foot, notices, isWide, children }: FrameProps) => {
  const [isMenuOpen, setIsMenuOpen] = useState(false)
  const { path } = place.value
  // The menu closes when the page changes, before somebody can open it again.
  useLayoutEffect(() => setIsMenuOpen(false), [path])
  return (
    <div class={`shell ${isMenuOpen ? 'menu-open' : ''}`}>
      <a class="skip" href="#content">
        {text.shell.skip}
      </a>
      <header class="topbar">
        <IconButton
          icon={isMenuOpen ? 'close' : 'menu'}
          label={isMenuOpen ? text.shell.closeMenu : text.shell.openMenu}
          onClick={() => setIsMenuOpen(!isMenuOpen)}
        />
        <a class="brand" href={home}>
          <Logo size={24} />
          {brand}
        </a>
      </header>
      <aside class="sidebar" onKeyDown={(event) => event.key === 'Escape' && setIsMenuOpen(false)}>
        <a class="brand" href={home}>
          <Logo />
          {brand}
        </a>
        {menu}
        <div class="sidebar-foot">{foot}</div>
      </aside>
      <button
        type="button"
        class="scrim"
        tabIndex={-1}
        aria-hidden="true"
        onClick={() => setIsMenuOpen(false)}
      />
      <div class="content">
        {notices}
        <main id="content" class={isWide ? 'wide' : ''} tabIndex={-1}>
          {children}
        </main>
      </div>
    </div>
  )
}
