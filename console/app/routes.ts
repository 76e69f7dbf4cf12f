import type { ComponentType } from 'preact'
import { text } from '../text/text.ts'
import type { IconName } from '../ui/Icon.tsx'

/* Every page of the console. A page is loaded when it is first opened. */

export interface PageProps {
  /** The values of the `:name` parts of the path. */
  params: Record<string, string>
}

type Load = () => Promise<{ default: ComponentType<PageProps> }>

export interface Route {
  path: string
  load: Load
  /** The page has the whole window: no margins. */
  isWide?: boolean
  /** Shown without signing in. */
  isOpen?: boolean
}

export interface NavItem {
  path: string
  label: string
  icon: IconName
  /** Hidden from keys and users without this scope, and from users who see one group only. */
  needs?: 'write' | 'admin'
}

export const routes: readonly Route[] = [
  { path: '/reset', load: () => import('../pages/signIn/ResetPage.tsx'), isOpen: true },
  { path: '/password', load: () => import('../pages/signIn/PasswordPage.tsx'), isOpen: true },
]

/** The menu, in groups. */
export const navigation: readonly { label: string; items: readonly NavItem[] }[] = [
  { label: text.shell.watch, items: [] },
  { label: text.shell.manage, items: [] },
  { label: text.shell.connect, items: [] },
]
