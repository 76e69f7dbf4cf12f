import type { MiddlewareHandler } from 'hono'
import { routePath } from 'hono/route'
import type { Env } from '../env.ts'
import { log } from '../log.ts'
import type { AppEnv, Context } from './context.ts'
import { acquire, release, releaseWhile } from './loadShedding.ts'
import { Problem, problemDocument } from './problem.ts'
import { ratePolicy } from './rateLimit.ts'

const EXPOSED = 'ETag, Link, Location, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id'
const ACCEPTED =
  'Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, X-Request-Id'
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'

const requestIdOf = ({ headers }: Request): string => {
  const given = headers.get('X-Request-Id')
  return given !== null && /^[A-Za-z0-9._-]{1,64}$/.test(given) ? given : crypto.randomUUID()
}

/** Nothing personal: the pattern of the route, not the path; the account, not the caller's address. */
const logLine = (c: Context, began: number) => {
  log(c.res.status >= 500 ? 'error' : 'info', {
    requestId: c.get('requestId'),
    account: c.get('principal')?.accountId ?? null,
    method: c.req.method,
    route: routePath(c),
    status: c.res.status,
    durationMs: Date.now() - began,
    ...(c.error && c.res.status >= 500 && { error: c.error.name }),
  })
}

const SMALL_BODY_BYTES = 65_536

/**
 * A refusal may come before the body was read; the runtime then closes the connection, and a client that keeps its connections
 * loses the request that it sends next. So a small body is taken and dropped.
 */
const drainSmallBody = async (request: Request): Promise<void> => {
  const declared = Number(request.headers.get('Content-Length') ?? Number.NaN)
  if (!request.body || request.bodyUsed || !(declared <= SMALL_BODY_BYTES)) return
  await releaseWhile(request, () => request.arrayBuffer()).catch(() => {})
}

const commonHeaders = (requestId: string) => ({
  'X-Request-Id': requestId,
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': EXPOSED,
  'X-Content-Type-Options': 'nosniff',
})

const policyHeader = (path: string, env: Env): Record<string, string> =>
  path.startsWith('/api/') ? { 'RateLimit-Policy': ratePolicy(env) } : {}

/** What every reply carries, and the one line that is logged of it. */
export const commonReply: MiddlewareHandler<AppEnv> = async (c, next) => {
  const began = Date.now()
  const requestId = requestIdOf(c.req.raw)
  c.set('requestId', requestId)
  if (c.req.method === 'OPTIONS') {
    c.res = new Response(null, {
      status: 204,
      headers: {
        'Access-Control-Allow-Methods': METHODS,
        'Access-Control-Allow-Headers': ACCEPTED,
        'Access-Control-Max-Age': '86400',
      },
    })
  } else await next()
  await drainSmallBody(c.req.raw)
  for (const [name, value] of Object.entries({
    ...commonHeaders(requestId),
    ...policyHeader(c.req.path, c.env),
  }))
    c.header(name, value)
  if (!c.res.headers.has('Cache-Control')) c.header('Cache-Control', 'no-store')
  logLine(c, began)
}

const OVERLOADED = new Problem('unavailable', {
  headers: { 'Retry-After': '1', 'Cache-Control': 'no-store' },
})

/** For a request that finds no room: as little work as an answer can be, and no line in the log. */
const rejectRequest = async (request: Request, env: Env): Promise<Response> => {
  await drainSmallBody(request)
  const requestId = requestIdOf(request)
  const path = new URL(request.url).pathname
  const { text, status, headers } = problemDocument(OVERLOADED, { path, requestId })
  return new Response(text, {
    status,
    headers: { ...headers, ...commonHeaders(requestId), ...policyHeader(path, env) },
  })
}

type Serve = (request: Request, env: Env, context: ExecutionContext) => Response | Promise<Response>

/** Lets in as many requests as there is room for. A preflight takes none: refused, it would hide the 503 from a browser. */
export const withLoadShedding =
  (serve: Serve): Serve =>
  async (request, env, context) => {
    if (request.method === 'OPTIONS') return serve(request, env, context)
    if (!acquire(request, Date.now())) return rejectRequest(request, env)
    try {
      return await serve(request, env, context)
    } finally {
      release(request)
    }
  }
