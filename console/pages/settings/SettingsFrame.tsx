import { type ComponentChildren, Fragment } from 'preact'
import { call } from '../../api/client.ts'
import { isAdmin } from '../../api/people.ts'
import { useResource } from '../../api/resource.ts'
import type { Account } from '../../api/types.ts'
import { place } from '../../router/router.ts'
import { session } from '../../session/session.ts'
import { auditText } from '../../text/audit.ts'
import { later } from '../../text/later.ts'
import { text } from '../../text/text.ts'
import { Page } from '../../ui/Page.tsx'
import { NotLoaded } from '../../ui/states.tsx'
import './settings.css'

interface SettingsFrameProps {
  title: string
  children: ComponentChildren
  actions?: ComponentChildren
  lead?: string
}

/** The parts of the settings, each with its own address. */
export const SettingsFrame = ({ title, children, actions, lead }: SettingsFrameProps) => {
  const tabs = [
    { href: '/settings', label: text.settings.account, isShown: true },
    { href: '/settings/emergencies', label: text.settings.emergencies, isShown: true },
    { href: '/settings/keys', label: text.settings.keys, isShown: session.can('admin') },
    { href: '/settings/audit', label: auditText.title, isShown: isAdmin() },
    {
      href: '/settings/sessions',
      label: text.settings.sessions,
      isShown: (session.me.value?.user ?? null) !== null,
    },
    {
      href: '/settings/usage',
      label: later.usage.title,
      isShown: !session.me.value?.isConfined,
    },
    { href: '/settings/notifications', label: later.notifications.title, isShown: true },
  ]
  return (
    <Page title={title} {...(lead && { lead })} actions={actions}>
      <nav class="tabs" aria-label={text.settings.title}>
        {tabs
          .filter(({ isShown }) => isShown)
          .map(({ href, label }) => (
            <a key={href} href={href} aria-current={place.value.path === href ? 'page' : undefined}>
              {label}
            </a>
          ))}
      </nav>
      {children}
    </Page>
  )
}

interface AccountSettingsProps {
  lead?: string
  children: (account: Account, onSaved: (account: Account) => void) => ComponentChildren
}

/** A part of the settings that shows and changes the account. */
export const AccountSettings = ({ children, ...frame }: AccountSettingsProps) => {
  const account = useResource(
    async (signal) => (await call('GET /api/account', { signal })).account,
    [],
  )
  const { data } = account
  return (
    <SettingsFrame title={text.settings.title} {...frame}>
      {data ? (
        <Fragment key={data.lastModified}>
          {children(data, (saved) => account.set(() => saved))}
        </Fragment>
      ) : (
        <NotLoaded of={account} />
      )}
    </SettingsFrame>
  )
}
