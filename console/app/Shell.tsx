import type { ComponentChildren, ComponentType } from 'preact'
import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { isOnline, onBack } from '../api/send.ts'
import { live, liveStatus } from '../live/stream.ts'
import { place } from '../router/router.ts'
import { session } from '../session/session.ts'
import { text } from '../text/text.ts'
import { IconButton } from '../ui/Button.tsx'
import { Icon, Logo } from '../ui/Icon.tsx'
import { AccountMenu } from './AccountMenu.tsx'
import { isAllowed } from './access.ts'
import { EmergencyBar } from './EmergencyBar.tsx'
import { startEmergencies } from './emergencies.ts'
import { navigation } from './routes.ts'

const isCurrent = (path: string): boolean => {
  const here = place.value.path
  return path === '/' ? here === '/' || here.startsWith('/map') : here.startsWith(path)
}

const Navigation = () => (
  <nav class="nav" aria-label={text.shell.navigation}>
    {navigation.map(({ label, items }) => {
      const shown = items.filter(isAllowed)
      if (shown.length === 0) return null
      return (
        <div key={label}>
          <p class="nav-label">{label}</p>
          <ul>
            {shown.map(({ path, label, icon }) => (
              <li key={path}>
                <a href={path} aria-current={isCurrent(path) ? 'page' : undefined}>
                  <Icon name={icon} />
                  {label}
                </a>
              </li>
            ))}
          </ul>
        </div>
      )
    })}
  </nav>
)

const Notice = () => {
  if (!isOnline.value)
    return (
      <p class="notice" role="status">
        <Icon name="warning" size={16} />
        {text.shell.offline}
      </p>
    )
  return null
}

/** Loaded for the few accounts of which the operator has something to say. */
const StatusNotice = () => {
  const [Notice, setNotice] = useState<ComponentType | null>(null)
  const isShown = session.me.value?.account.status !== 'active'
  useEffect(() => {
    if (isShown)
      import('../pages/status/StatusNotice.tsx').then(
        ({ default: notice }) => setNotice(() => notice),
        () => undefined,
      )
  }, [isShown])
  return isShown && Notice && <Notice />
}

/** Tried again when the connection is back: without it an emergency makes no sound. */
const loadAlarm = (): Promise<() => void> =>
  import('../alarm/alarm.ts').then(
    ({ startAlarm }) => startAlarm(),
    () =>
      new Promise((resolve) => {
        const stop = onBack(() => {
          stop()
          resolve(loadAlarm())
        })
      }),
  )

/** The menu, the notices that every page has, and the page itself. */
export const Shell = ({ isWide, children }: { isWide: boolean; children: ComponentChildren }) => {
  const [isMenuOpen, setIsMenuOpen] = useState(false)
  const { path } = place.value
  useEffect(() => {
    const stopEmergencies = startEmergencies()
    const alarm = loadAlarm()
    live.start()
    return () => {
      stopEmergencies()
      void alarm.then((stopAlarm) => stopAlarm())
      live.stop()
    }
  }, [])
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
        <a class="brand" href="/">
          <Logo size={24} />
          {text.brand}
        </a>
      </header>
      <aside class="sidebar" onKeyDown={(event) => event.key === 'Escape' && setIsMenuOpen(false)}>
        <a class="brand" href="/">
          <Logo />
          {text.brand}
        </a>
        <Navigation />
        <div class="sidebar-foot">
          <p class={`stream-state ${liveStatus.value}`} role="status">
            {liveStatus.value === 'live' ? text.shell.live : text.shell.notLive}
          </p>
          <AccountMenu />
        </div>
      </aside>
      <button
        type="button"
        class="scrim"
        tabIndex={-1}
        aria-hidden="true"
        onClick={() => setIsMenuOpen(false)}
      />
      <div class="content">
        <EmergencyBar />
        <Notice />
        <StatusNotice />
        <main id="content" class={isWide ? 'wide' : ''} tabIndex={-1}>
          {children}
        </main>
      </div>
    </div>
  )
}
