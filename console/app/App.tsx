import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { isOnline } from '../api/connection.ts'
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
import { Boundary, useHeadingFocus } from './Boundary.tsx'
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
  useHeadingFocus(path)

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
