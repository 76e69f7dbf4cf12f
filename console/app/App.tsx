import { Component, type ComponentChildren, type ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { isOnline } from '../api/send.ts'
import { SignInAgain } from '../pages/signIn/SignInAgain.tsx'
import { SignInPage } from '../pages/signIn/SignInPage.tsx'
import { match, place } from '../router/router.ts'
import { session } from '../session/session.ts'
import { text } from '../text/text.ts'
import { Button, LinkButton } from '../ui/Button.tsx'
import { NotAllowed } from '../ui/NotAllowed.tsx'
import { Page } from '../ui/Page.tsx'
import { Empty, Pending } from '../ui/states.tsx'
import { Toasts } from '../ui/toast.tsx'
import { isAllowed } from './access.ts'
import { useReloadWhenBack } from './reloadWhenBack.ts'
import { type PageProps, type Route, routes } from './routes.ts'
import { Shell } from './Shell.tsx'

/** Instead of every page of an account of which nothing can be read. */
const SUSPENDED: Route = {
  path: [],
  load: () => import('../pages/status/SuspendedPage.tsx'),
}

const loaded = new Map<Route, ComponentType<PageProps>>()

const NotFound = () => (
  <Page title={text.errors.notFoundTitle} lead={text.errors.notFound}>
    <div class="actions">
      <LinkButton href="/">{text.errors.toMap}</LinkButton>
    </div>
  </Page>
)

/** Keeps a fault in one page from taking the whole console down. */
class Boundary extends Component<
  { path: string; children: ComponentChildren },
  { hasFailed: boolean }
> {
  override state = { hasFailed: false }

  override componentDidUpdate({ path }: { path: string }) {
    if (this.state.hasFailed && path !== this.props.path) this.setState({ hasFailed: false })
  }

  override componentDidCatch(error: unknown) {
    console.error(error)
    this.setState({ hasFailed: true })
  }

  override render() {
    if (!this.state.hasFailed) return this.props.children
    return (
      <Empty
        icon="warning"
        title={text.errors.crashTitle}
        action={<Button onClick={() => location.reload()}>{text.errors.reload}</Button>}
      >
        {text.errors.crash}
      </Empty>
    )
  }
}

const findRoute = (path: string): { route: Route; params: Record<string, string> } | null => {
  for (const route of routes)
    for (const pattern of [route.path].flat()) {
      const params = match(pattern, path)
      if (params) return { route, params }
    }
  return null
}

const Content = ({ route, params }: { route: Route; params: Record<string, string> }) => {
  const [, setRound] = useState(0)
  const [hasFailed, setHasFailed] = useState(false)
  const Page = loaded.get(route)
  useReloadWhenBack(hasFailed)
  useEffect(() => {
    if (Page) return
    let isHere = true
    route.load().then(
      ({ default: page }) => {
        loaded.set(route, page)
        if (isHere) setRound((round) => round + 1)
      },
      () => isHere && setHasFailed(true),
    )
    return () => {
      isHere = false
    }
  }, [route, Page])
  if (hasFailed)
    return (
      <Empty
        icon="warning"
        title={text.errors.crashTitle}
        action={<Button onClick={() => location.reload()}>{text.errors.reload}</Button>}
      >
        {text.errors.offline}
      </Empty>
    )
  return Page ? <Page params={params} /> : <Pending />
}

export const App = () => {
  const { path } = place.value
  const isSuspended = session.me.value?.account.status === 'ingestOnly'
  const found = isSuspended ? { route: SUSPENDED, params: {} } : findRoute(path)
  const status = session.status.value
  // The new page is announced by moving the focus to its heading.
  useEffect(() => {
    const timer = setTimeout(() => {
      if (document.activeElement === document.body || document.activeElement?.closest('nav'))
        document.querySelector<HTMLElement>('h1[tabindex]')?.focus({ preventScroll: true })
    }, 150)
    return () => clearTimeout(timer)
  }, [path])

  if (found && (found.route.isOpen || (isSuspended && status === 'signed-in')))
    return (
      <>
        <Content {...found} />
        <Toasts />
      </>
    )
  if (status === 'starting')
    return <Pending {...(!isOnline.value && { label: text.errors.offline })} />
  if (status === 'signed-out') return <SignInPage />
  return (
    <>
      <Shell isWide={found?.route.isWide ?? false}>
        <Boundary key={found ? routes.indexOf(found.route) : -1} path={path}>
          {!found ? <NotFound /> : isAllowed(found.route) ? <Content {...found} /> : <NotAllowed />}
        </Boundary>
      </Shell>
      {status === 'expired' && <SignInAgain />}
      <Toasts />
    </>
  )
}
