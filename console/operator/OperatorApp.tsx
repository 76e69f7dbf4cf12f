import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { Boundary, useHeadingFocus } from '../app/Boundary.tsx'
import { Frame, OfflineNotice } from '../app/Frame.tsx'
import type { PageProps } from '../app/routes.ts'
import { THEMES, theme } from '../format/preferences.ts'
import { match, navigate, place } from '../router/router.ts'
import { auditText } from '../text/audit.ts'
import { operatorText as words } from '../text/operator.ts'
import { text } from '../text/text.ts'
import { Button, LinkButton } from '../ui/Button.tsx'
import { SelectField } from '../ui/form/fields.tsx'
import { Icon, type IconName } from '../ui/Icon.tsx'
import { Page } from '../ui/Page.tsx'
import { Failed, Pending } from '../ui/states.tsx'
import { Toasts } from '../ui/toast.tsx'
import { operator, type Right } from './operator.ts'
import { AccountPage } from './pages/AccountPage.tsx'
import { AccountsPage } from './pages/AccountsPage.tsx'
import { AuditPage } from './pages/AuditPage.tsx'
import { HealthPage } from './pages/HealthPage.tsx'
import { OperatorsPage } from './pages/OperatorsPage.tsx'
import { UsagePage } from './pages/UsagePage.tsx'
import { SignIn } from './SignIn.tsx'
import './operator.css'

interface OperatorRoute {
  path: string
  page: ComponentType<PageProps>
  /** What the operator's role must allow. */
  right: Right
  /** For pages of the menu. */
  item?: { label: string; icon: IconName }
}

const ROUTES: readonly OperatorRoute[] = [
  {
    path: '/operator',
    page: AccountsPage,
    right: 'read',
    item: { label: words.accounts.title, icon: 'group' },
  },
  { path: '/operator/accounts/:accountId', page: AccountPage, right: 'read' },
  {
    path: '/operator/usage',
    page: UsagePage,
    right: 'usage',
    item: { label: words.usage.title, icon: 'license' },
  },
  {
    path: '/operator/health',
    page: HealthPage,
    right: 'read',
    item: { label: words.health.title, icon: 'info' },
  },
  {
    path: '/operator/audit',
    page: AuditPage,
    right: 'read',
    item: { label: auditText.title, icon: 'list' },
  },
  {
    path: '/operator/operators',
    page: OperatorsPage,
    right: 'read',
    item: { label: words.operators.title, icon: 'user' },
  },
]

const isCurrent = (path: string): boolean => {
  const here = place.value.path.replace(/(.)\/$/, '$1')
  return path === '/operator' ? /^\/operator(\/accounts\/|$)/.test(here) : here === path
}

const Menu = () => (
  <nav class="nav" aria-label={text.shell.navigation}>
    <ul>
      {ROUTES.map(
        ({ path, item, right }) =>
          item &&
          operator.may(right) && (
            <li key={path}>
              <a href={path} aria-current={isCurrent(path) ? 'page' : undefined}>
                <Icon name={item.icon} />
                {item.label}
              </a>
            </li>
          ),
      )}
    </ul>
  </nav>
)

const themes = THEMES.map((value) => ({ value, label: text.shell.themes[value] }))

const Foot = () => {
  const me = operator.me.value
  return (
    <div class="operator-foot">
      <p class="account-names">
        <b>{me?.name}</b>
        <span>{me && words.roles[me.role]}</span>
      </p>
      <SelectField
        label={text.shell.theme}
        value={theme.value}
        choices={themes}
        onChange={(value) => {
          theme.value = value
        }}
      />
      <Button icon="out" onClick={operator.signOut}>
        {text.shell.signOut}
      </Button>
    </div>
  )
}

const NoPage = ({ title, lead }: { title: string; lead: string }) => (
  <Page title={title} lead={lead}>
    <div class="actions">
      <LinkButton href="/operator">{words.toStart}</LinkButton>
    </div>
  </Page>
)

const Content = ({ path }: { path: string }) => {
  const first = ROUTES.find(({ item, right }) => item && operator.may(right))
  const found = ROUTES.flatMap((route) => {
    const params = match(route.path, path)
    return params ? [{ route, params }] : []
  })[0]
  const isAllowed = found !== undefined && operator.may(found.route.right)
  // Not every role may see the accounts, which are the first page.
  const isMoved = found?.route.path === '/operator' && !isAllowed && first !== undefined
  useEffect(() => {
    if (isMoved) navigate(first.path, { replace: true })
  }, [isMoved])
  if (isMoved) return <Pending />
  if (!found) return <NoPage title={text.errors.notFoundTitle} lead={text.errors.notFound} />
  if (!isAllowed) return <NoPage title={text.errors.notAllowedTitle} lead={words.notAllowed} />
  const { page: Found } = found.route
  return <Found key={path} params={found.params} />
}

/** The pages of who runs the service. They are loaded at their own address alone. */
export const OperatorApp = () => {
  const { path } = place.value
  const status = operator.status.value
  useHeadingFocus(path)
  useEffect(() => void operator.start(), [])
  if (status === 'starting') return <Pending />
  if (status === 'failed' && operator.error.value)
    return <Failed error={operator.error.value} onRetry={operator.start} />
  if (status === 'signed-out') return <SignIn />
  return (
    <>
      <Frame
        home="/operator"
        brand={words.brand}
        menu={<Menu />}
        foot={<Foot />}
        notices={<OfflineNotice />}
      >
        <Boundary path={path}>
          <Content path={path} />
        </Boundary>
      </Frame>
      <Toasts />
    </>
  )
}
