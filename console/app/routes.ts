import type { ComponentType } from 'preact'
import { text } from '../text/text.ts'
import type { IconName } from '../ui/Icon.tsx'

/* Every page of the console. A page is loaded when it is first opened. */

export interface PageProps {
  /** The values of the `:name` parts of the path. */
  params: Record<string, string>
}

type Load = () => Promise<{ default: ComponentType<PageProps> }>

/** Who may use a page. */
export interface Access {
  /** Closed to keys and users without this scope. */
  needs?: 'write' | 'admin'
  /** Closed to users who see one group only, as is by default what needs `admin`. */
  isForWholeAccount?: boolean
}

export interface Route extends Access {
  /** Several addresses of one page: it stays as it is while they change. */
  path: string | readonly string[]
  load: Load
  /** The page has the whole window: no margins. */
  isWide?: boolean
  /** Shown without signing in. */
  isOpen?: boolean
}

export interface NavItem extends Access {
  path: string
  label: string
  icon: IconName
}

export const routes: readonly Route[] = [
  {
    path: ['/', '/map/:deviceId', '/map/:deviceId/track'],
    load: () => import('../pages/map/MapPage.tsx'),
    isWide: true,
  },
  { path: '/devices', load: () => import('../pages/devices/DevicesPage.tsx') },
  {
    path: '/devices/new',
    load: () => import('../pages/devices/NewDevicePage.tsx'),
    needs: 'write',
  },
  { path: '/devices/:deviceId', load: () => import('../pages/devices/DevicePage.tsx') },
  {
    path: '/devices/:deviceId/edit',
    load: () => import('../pages/devices/EditDevicePage.tsx'),
    needs: 'write',
  },
  { path: '/connect', load: () => import('../pages/connect/ConnectPage.tsx') },
  { path: '/reset', load: () => import('../pages/signIn/ResetPage.tsx'), isOpen: true },
  { path: '/password', load: () => import('../pages/signIn/PasswordPage.tsx'), isOpen: true },
  { path: '/alerts', load: () => import('../pages/alerts/AlertsPage.tsx') },
  { path: '/alerts/:alertId', load: () => import('../pages/alerts/AlertPage.tsx') },
  { path: '/watches', load: () => import('../pages/watches/WatchesPage.tsx') },
  {
    path: ['/watches/new', '/watches/:watchId/edit'],
    load: () => import('../pages/watches/EditWatchPage.tsx'),
    needs: 'write',
  },
  { path: '/watches/:watchId', load: () => import('../pages/watches/WatchPage.tsx') },
  {
    path: ['/zones', '/zones/:zoneId'],
    load: () => import('../pages/zones/ZonesPage.tsx'),
    isWide: true,
    isForWholeAccount: true,
  },
  {
    path: '/rules',
    load: () => import('../pages/rules/RulesPage.tsx'),
    isForWholeAccount: true,
  },
  {
    path: '/rules/:ruleId',
    load: () => import('../pages/rules/RulePage.tsx'),
    isForWholeAccount: true,
  },
  { path: '/licenses', load: () => import('../pages/licenses/LicensesPage.tsx') },
  { path: '/groups', load: () => import('../pages/groups/GroupsPage.tsx') },
  { path: '/groups/:groupId', load: () => import('../pages/groups/GroupPage.tsx') },
  { path: '/users', load: () => import('../pages/users/UsersPage.tsx'), needs: 'admin' },
  { path: '/users/:userId', load: () => import('../pages/users/UserPage.tsx'), needs: 'admin' },
  { path: '/messages', load: () => import('../pages/messages/MessagesPage.tsx') },
  { path: '/sources', load: () => import('../pages/sources/SourcesPage.tsx'), needs: 'admin' },
  {
    path: '/sources/new',
    load: () => import('../pages/sources/NewSourcePage.tsx'),
    needs: 'admin',
  },
  { path: '/sources/decode', load: () => import('../pages/sources/decode/DecodePage.tsx') },
  {
    path: '/sources/:sourceId',
    load: () => import('../pages/sources/SourcePage.tsx'),
    needs: 'admin',
  },
  {
    path: '/sources/:sourceId/edit',
    load: () => import('../pages/sources/EditSourcePage.tsx'),
    needs: 'admin',
  },
  { path: '/webhooks', load: () => import('../pages/webhooks/WebhooksPage.tsx'), needs: 'admin' },
  {
    path: '/webhooks/:webhookId',
    load: () => import('../pages/webhooks/WebhookPage.tsx'),
    needs: 'admin',
  },
  { path: '/events', load: () => import('../pages/events/EventsPage.tsx') },
  { path: '/settings', load: () => import('../pages/settings/AccountPage.tsx') },
  { path: '/settings/emergencies', load: () => import('../pages/settings/EmergenciesPage.tsx') },
  {
    path: '/settings/keys',
    load: () => import('../pages/settings/KeysPage.tsx'),
    needs: 'admin',
    // Users who see one group have the keys that are bound to them.
    isForWholeAccount: false,
  },
  {
    path: '/settings/audit',
    load: () => import('../pages/settings/AuditPage.tsx'),
    needs: 'admin',
  },
  { path: '/settings/sessions', load: () => import('../pages/settings/SessionsPage.tsx') },
  {
    path: '/settings/usage',
    load: () => import('../pages/settings/UsagePage.tsx'),
    isForWholeAccount: true,
  },
  {
    path: '/settings/notifications',
    load: () => import('../pages/settings/NotificationsPage.tsx'),
  },
]

/** The menu, in groups. */
export const navigation: readonly { label: string; items: readonly NavItem[] }[] = [
  {
    label: text.shell.watch,
    items: [
      { path: '/', label: text.map.title, icon: 'map' },
      { path: '/devices', label: text.devices.title, icon: 'device' },
      { path: '/alerts', label: text.alerts.title, icon: 'alert' },
      { path: '/watches', label: text.watches.title, icon: 'clock' },
      { path: '/zones', label: text.zones.title, icon: 'zone', isForWholeAccount: true },
      { path: '/rules', label: text.rules.title, icon: 'rule', isForWholeAccount: true },
    ],
  },
  {
    label: text.shell.manage,
    items: [
      { path: '/groups', label: text.groups.title, icon: 'group' },
      { path: '/users', label: text.users.title, icon: 'user', needs: 'admin' },
      { path: '/licenses', label: text.licenses.title, icon: 'license' },
      { path: '/messages', label: text.messages.title, icon: 'message' },
    ],
  },
  {
    label: text.shell.connect,
    items: [
      { path: '/sources', label: text.sources.title, icon: 'source', needs: 'admin' },
      { path: '/webhooks', label: text.webhooks.title, icon: 'webhook', needs: 'admin' },
      { path: '/events', label: text.events.title, icon: 'event' },
      { path: '/settings', label: text.settings.title, icon: 'settings' },
    ],
  },
]
