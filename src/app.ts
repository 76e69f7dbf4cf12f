import { Hono } from 'hono'
import { account } from './account/routes.ts'
import { admin } from './admin/routes.ts'
import { alerts, deviceAlerts } from './alerts/routes.ts'
import { accountExport, operatorArchives } from './archive/routes.ts'
import { accountAudit, operatorAudit } from './audit/routes.ts'
import { commands } from './commands/routes.ts'
import { devices } from './devices/routes.ts'
import { events } from './events/routes.ts'
import { groups } from './groups/routes.ts'
import { admit } from './http/auth.ts'
import { findFile } from './http/consoleFile.ts'
import type { AppEnv, Context } from './http/context.ts'
import { unroutedProblem } from './http/contract/methods.ts'
import { problemResponse } from './http/contract/problem.ts'
import { commonReply, type Serve, withLoadShedding } from './http/edge.ts'
import { admitOperator } from './http/operator.ts'
import { problemOf } from './http/reply/failure.ts'
import { keys } from './keys/routes.ts'
import { links } from './links/routes.ts'
import { allLocations, locations } from './locations/routes.ts'
import { mcp } from './mcp/routes.ts'
import { me } from './me/routes.ts'
import { messages } from './messages/routes.ts'
import { moves } from './move/routes.ts'
import { oauth } from './oauth/protocolRoutes.ts'
import { consent } from './oauth/routes.ts'
import { operators } from './operators/routes.ts'
import { invitations, passwords } from './passwordLinks/routes.ts'
import { places } from './places/routes.ts'
import { ownPushSubscriptions, pushKey, pushKeyRotation } from './pushSubscriptions/routes.ts'
import { receipts } from './receipts/routes.ts'
import { rules } from './rules/routes.ts'
import { accountSandbox } from './sandbox/routes.ts'
import { operatorHealth, pages, service } from './service/routes.ts'
import { sessions } from './sessions/routes.ts'
import { shareLinks } from './shares/linkRoutes.ts'
import { shares } from './shares/routes.ts'
import { pushes } from './sources/push/pushRoutes.ts'
import { deviceQuarantine, sources } from './sources/routes.ts'
import { stream } from './stream/routes.ts'
import { support } from './support/routes.ts'
import { tokens } from './tokens/routes.ts'
import { trips } from './trips/routes.ts'
import { accountUsage, operatorUsage } from './usage/routes.ts'
import { users } from './users/routes.ts'
import { watchLinks } from './watches/linkRoutes.ts'
import { watches } from './watches/routes.ts'
import { webhooks } from './webhooks/routes.ts'
import { zoneCollection, zones } from './zones/routes.ts'

const base = new Hono<AppEnv>()
base.use(commonReply)

/** For requests that a request makes to the API itself: each has a slot of its own. */
const serveOwn: Serve = (request, env, context) => serveApp(request, env, context)

export const app = base
  .route('/', service)
  .route('/', pages)
  .route('/api', tokens)
  .route('/api/Auth', sessions)
  .route('/api/Auth', passwords)
  .route('/api/Auth/Consent', consent)
  .route('/api/me', me)
  .route('/api/me/pushSubscriptions', ownPushSubscriptions)
  .route('/api/push', pushKey)
  .route('/api/account/keys', keys)
  .route('/api/account/messages', messages)
  .route('/api/account/audit', accountAudit)
  .route('/api/account/usage', accountUsage)
  .route('/api/account/export', accountExport)
  .route('/api/account/sandbox', accountSandbox)
  .route('/api/account', account)
  .route('/api/devices', devices)
  .route('/api/devices', locations)
  .route('/api/locations', allLocations)
  .route('/api/events', events)
  .route('/api/webhooks', webhooks)
  .route('/api/stream', stream)
  .route('/api/groups', groups)
  .route('/api/users', users)
  .route('/api/users', invitations)
  .route('/api/zones', zones)
  .route('/api/zones.geojson', zoneCollection)
  .route('/api/place', places)
  .route('/api/rules', rules)
  .route('/api/watches', watches)
  .route('/api/shares', shares)
  .route('/api/devices', deviceAlerts)
  .route('/api/devices', trips)
  .route('/api/alerts', alerts)
  .route('/api/sources', sources)
  .route('/api/devices', deviceQuarantine)
  .route('/api/devices', commands)
  .route('/in', pushes)
  .route('/admin/audit', operatorAudit)
  .route('/admin', operators)
  .route('/admin', operatorHealth)
  .route('/admin', support)
  .route('/admin', operatorUsage)
  .route('/admin/accounts', operatorArchives)
  .route('/admin', admin)
  .route('/admin', moves)
  .route('/admin/push', pushKeyRotation)
  .route('/hooks', receipts)
  .route('/', oauth)
  .route('/', links)
  .route('/', watchLinks)
  .route('/', shareLinks)
  .route('/mcp', mcp(serveOwn))

const problemOfUnrouted = unroutedProblem(app)
const OPEN_PATHS =
  /^\/api\/(auth\/token|Auth\/(Token|SignIn|Refresh|SignOut|Reset|Password)|openapi\.json|push\/key)$/

// A route instead of `app.notFound`, whose replies would lack the headers of `commonReply`.
app.all('*', async (c) => {
  if (c.req.path.startsWith('/admin/')) await admitOperator(c)
  else if (c.req.path.startsWith('/api/') && !OPEN_PATHS.test(c.req.path)) await admit(c)
  throw problemOfUnrouted(c)
})

app.onError((error, c) => problemResponse(c, problemOf(c as Context, error)))

const serveApp = withLoadShedding(app.fetch)

/** The assets would take an encoded slash for a slash. */
const firstSegment = (path: string): string =>
  path
    .split(/\/|%2f/i)
    .find(Boolean)
    ?.toLowerCase() ?? ''
const OWN_SEGMENTS = new Set(
  app.routes.map(({ path }) => firstSegment(path)).filter((segment) => /^[\w.]/.test(segment)),
)

/** Whether a path is the service's own, in any letter case, and never a page of the console. */
export const isOwnPath = (path: string): boolean => OWN_SEGMENTS.has(firstSegment(path))

export const serve: typeof serveApp = async (request, env, context) => {
  const { method, url } = request
  // The assets would answer other methods with an empty 405.
  if (method !== 'GET' && method !== 'HEAD') return serveApp(request, env, context)
  const path = new URL(url).pathname
  const file = isOwnPath(path) ? null : await findFile(request, path, env)
  return file ?? serveApp(request, env, context)
}
