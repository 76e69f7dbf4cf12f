import type { MiddlewareHandler } from 'hono'
import { routePath } from 'hono/route'
import { type Env, publicUrlFault } from '../env.ts'
import { errorFields, log } from '../log.ts'
import {
  measureDelay,
  releaseSlots,
  tryAcquireSlot,
  waitWithoutSlot,
} from './admission/loadShedding.ts'
import { ratePolicy } from './admission/rateLimit.ts'
import { declaredLength, MAX_OPEN_BODY_BYTES } from './body/body.ts'
import type { AppEnv, Context } from './context.ts'
import { overloaded, problemDocument } from './contract/problem.ts'
import { isForOwnPages } from './ownOrigin.ts'
import { countRejected, countServed } from './requestCounts.ts'
import { VERSION_HEADER } from './version/version.ts'
import { NEWEST_VERSION } from './version/versions.ts'

const EXPOSED_HEADERS =
  'ETag, Link, Location, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id, ' +
  'Idempotent-Replayed, WWW-Authenticate, Perigee-Version, Deprecation, Sunset'
const ALLOWED_HEADERS =
  'Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, X-Request-Id, ' +
  'Perigee-Version, MCP-Protocol-Version'
const ALLOWED_METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'

const requestIdOf = ({ headers }: Request): string => {
  const given = headers.get('X-Request-Id')
  return given !== null && /^[A-Za-z0-9._-]{1,64}$/.test(given) ? given : crypto.randomUUID()
}

/** Nothing personal: the pattern of the route, not the path; the account, not the address. */
const logRequest = (c: Context, startedAt: number) => {
  const served = {
    account: c.get('principal')?.accountId ?? null,
    method: c.req.method,
    route: routePath(c),
    status: c.res.status,
    durationMs: Date.now() - startedAt,
  }
  countServed(c.env, served)
  log(served.status >= 500 ? 'error' : 'info', {
    requestId: c.get('requestId'),
    ...served,
    ...(c.error && served.status >= 500 && errorFields(c.error)),
  })
}

/**
 * Reads and drops a small body that a refused request left unread. Otherwise the runtime closes the
 * connection, and a client that reuses it loses its next request.
 */
const drainSmallBody = async (request: Request): Promise<void> => {
  if (request.bodyUsed || !request.body) return
  if (!(declaredLength(request) <= MAX_OPEN_BODY_BYTES)) return
  await waitWithoutSlot(request, () => request.arrayBuffer()).catch(() => {})
}

const CORS_HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': EXPOSED_HEADERS,
}

const commonHeaders = (requestId: string, path: string) => ({
  'X-Request-Id': requestId,
  // An operation replaces it by the version of its caller.
  [VERSION_HEADER]: NEWEST_VERSION,
  ...(!isForOwnPages(path) && CORS_HEADERS),
  'X-Content-Type-Options': 'nosniff',
  // Also in console/_headers. Browsers ignore it where there is no TLS.
  'Strict-Transport-Security': 'max-age=31536000',
})

const policyHeader = (path: string, env: Env): Record<string, string> =>
  path.startsWith('/api/') ? { 'RateLimit-Policy': ratePolicy(env) } : {}

const PREFLIGHT_HEADERS = {
  'Access-Control-Allow-Methods': ALLOWED_METHODS,
  'Access-Control-Allow-Headers': ALLOWED_HEADERS,
  'Access-Control-Max-Age': '86400',
}

const preflightReply = (path: string) =>
  new Response(null, { status: 204, headers: isForOwnPages(path) ? {} : PREFLIGHT_HEADERS })

/** Completes the few replies that `newReply` did not make: pages, preflights, upgrades. */
const addMissingHeaders = (c: Context): void => {
  const { headers } = c.res
  if (headers.has('X-Request-Id')) return
  for (const [name, value] of Object.entries(c.get('replyHeaders')))
    if (!headers.has(name)) headers.set(name, value)
}

let isPublicUrlChecked = false

/** Once in an isolate. Requests are served all the same: an emergency must not fail because of it. */
const checkPublicUrl = (env: Env): void => {
  if (isPublicUrlChecked) return
  isPublicUrlChecked = true
  const fault = publicUrlFault(env)
  if (fault) log('warn', { event: 'public-url-invalid', fault })
}

/** Answers preflights, adds the headers that every reply has, and logs the request. */
export const commonReply: MiddlewareHandler<AppEnv> = async (c, next) => {
  const startedAt = Date.now()
  checkPublicUrl(c.env)
  const requestId = requestIdOf(c.req.raw)
  c.set('requestId', requestId)
  c.set('replyHeaders', {
    ...commonHeaders(requestId, c.req.path),
    ...policyHeader(c.req.path, c.env),
    'Cache-Control': 'no-store',
  })
  if (c.req.method === 'OPTIONS') c.res = preflightReply(c.req.path)
  else await next()
  await drainSmallBody(c.req.raw)
  addMissingHeaders(c)
  logRequest(c, startedAt)
}

/** A 503 with as little work as possible, and without a log line. */
const rejectRequest = async (request: Request, env: Env): Promise<Response> => {
  countRejected()
  await drainSmallBody(request)
  const requestId = requestIdOf(request)
  const path = new URL(request.url).pathname
  const { text, status, headers } = problemDocument(overloaded(), { path, requestId })
  return new Response(text, {
    status,
    headers: { ...headers, ...commonHeaders(requestId, path), ...policyHeader(path, env) },
  })
}

export type Serve = (
  request: Request,
  env: Env,
  context: ExecutionContext,
) => Response | Promise<Response>

/** Serves as many requests at once as the isolate can bear and rejects the others. */
export const withLoadShedding =
  (serve: Serve): Serve =>
  async (request, env, context) => {
    // A refused preflight would hide the 503 from a browser.
    if (request.method === 'OPTIONS') return serve(request, env, context)
    if (!tryAcquireSlot(request)) return rejectRequest(request, env)
    try {
      await measureDelay()
      return await serve(request, env, context)
    } finally {
      releaseSlots(request)
    }
  }
