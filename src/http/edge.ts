import type { MiddlewareHandler } from 'hono'
import { routePath } from 'hono/route'
import { type Env, publicUrlFault } from '../env.ts'
import { errorFields, log } from '../log.ts'
import { declaredLength, MAX_OPEN_BODY_BYTES } from './body.ts'
import type { AppEnv, Context } from './context.ts'
import { acquire, release, releaseWhile } from './loadShedding.ts'
import { overloaded, problemDocument } from './problem.ts'
import { ratePolicy } from './rateLimit.ts'

const EXPOSED_HEADERS =
  'ETag, Link, Location, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id, ' +
  'Idempotent-Replayed, WWW-Authenticate'
const ALLOWED_HEADERS =
  'Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, X-Request-Id'
const ALLOWED_METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'

const requestIdOf = ({ headers }: Request): string => {
  const given = headers.get('X-Request-Id')
  return given !== null && /^[A-Za-z0-9._-]{1,64}$/.test(given) ? given : crypto.randomUUID()
}

/** Nothing personal: the pattern of the route, not the path; the account, not the address. */
const logRequest = (c: Context, startedAt: number) => {
  log(c.res.status >= 500 ? 'error' : 'info', {
    requestId: c.get('requestId'),
    account: c.get('principal')?.accountId ?? null,
    method: c.req.method,
    route: routePath(c),
    status: c.res.status,
    durationMs: Date.now() - startedAt,
    ...(c.error && c.res.status >= 500 && errorFields(c.error)),
  })
}

/**
 * Reads and drops a small body that a refused request left unread. Otherwise the runtime closes the
 * connection, and a client that reuses it loses its next request.
 */
const drainSmallBody = async (request: Request): Promise<void> => {
  const isSmall = declaredLength(request) <= MAX_OPEN_BODY_BYTES
  if (!request.body || request.bodyUsed || !isSmall) return
  await releaseWhile(request, () => request.arrayBuffer()).catch(() => {})
}

const commonHeaders = (requestId: string) => ({
  'X-Request-Id': requestId,
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': EXPOSED_HEADERS,
  'X-Content-Type-Options': 'nosniff',
})

const policyHeader = (path: string, env: Env): Record<string, string> =>
  path.startsWith('/api/') ? { 'RateLimit-Policy': ratePolicy(env) } : {}

const preflightReply = () =>
  new Response(null, {
    status: 204,
    headers: {
      'Access-Control-Allow-Methods': ALLOWED_METHODS,
      'Access-Control-Allow-Headers': ALLOWED_HEADERS,
      'Access-Control-Max-Age': '86400',
    },
  })

/**
 * Sets them on the reply itself: after a handler each `c.header` builds the whole reply anew, with a
 * stream for its body.
 */
const addCommonHeaders = (c: Context, requestId: string): void => {
  const { headers } = c.res
  for (const [name, value] of Object.entries(commonHeaders(requestId))) headers.set(name, value)
  for (const [name, value] of Object.entries(policyHeader(c.req.path, c.env)))
    headers.set(name, value)
  if (!headers.has('Cache-Control')) headers.set('Cache-Control', 'no-store')
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
  if (c.req.method === 'OPTIONS') c.res = preflightReply()
  else await next()
  await drainSmallBody(c.req.raw)
  addCommonHeaders(c, requestId)
  logRequest(c, startedAt)
}

/** A 503 with as little work as possible, and without a log line. */
const rejectRequest = async (request: Request, env: Env): Promise<Response> => {
  await drainSmallBody(request)
  const requestId = requestIdOf(request)
  const path = new URL(request.url).pathname
  const { text, status, headers } = problemDocument(overloaded(), { path, requestId })
  return new Response(text, {
    status,
    headers: { ...headers, ...commonHeaders(requestId), ...policyHeader(path, env) },
  })
}

type Serve = (request: Request, env: Env, context: ExecutionContext) => Response | Promise<Response>

/** Serves as many requests at once as the isolate can bear and rejects the others. */
export const withLoadShedding =
  (serve: Serve): Serve =>
  async (request, env, context) => {
    // A refused preflight would hide the 503 from a browser.
    if (request.method === 'OPTIONS') return serve(request, env, context)
    if (!acquire(request, Date.now())) return rejectRequest(request, env)
    try {
      return await serve(request, env, context)
    } finally {
      release(request)
    }
  }
