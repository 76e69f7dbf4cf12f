import type { MiddlewareHandler } from 'hono'
import { routePath } from 'hono/route'
import type { AppEnv, Context } from './context.ts'
import { Problem, problemResponse } from './problem.ts'
import { ratePolicy } from './rateLimit.ts'

const EXPOSED = 'ETag, Link, Location, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id'
const ACCEPTED = 'Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, X-Request-Id'
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'

const requestIdOf = (c: Context): string => {
  const given = c.req.header('X-Request-Id')
  return given !== undefined && /^[A-Za-z0-9._-]{1,64}$/.test(given) ? given : crypto.randomUUID()
}

/** Nothing personal: the pattern of the route, not the path; the account, not the caller's address. */
const logLine = (c: Context, began: number) => {
  console.log(
    JSON.stringify({
      level: c.res.status >= 500 ? 'error' : 'info',
      requestId: c.get('requestId'),
      account: c.get('principal')?.accountId ?? null,
      method: c.req.method,
      route: routePath(c),
      status: c.res.status,
      durationMs: Date.now() - began,
      ...(c.error && c.res.status >= 500 && { error: c.error.name }),
    }),
  )
}

/** Requests that this isolate has under way, oldest first. */
const underWay = new Set<{ since: number }>()
const FEW = 32
const MANY = 1000
const TOO_LONG = 3000

/**
 * A burst is taken on; a jam is not. Whoever comes on top of one is told at once to come back: without this, three times too
 * much traffic took 850 MB and 18 s an answer (npm run load), and an isolate may have 128 MB.
 */
const isJammed = (now: number): boolean => {
  if (underWay.size < FEW) return false
  const [oldest] = underWay
  return underWay.size >= MANY || now - (oldest?.since ?? now) > TOO_LONG
}

const SMALL_BODY = 65_536

/**
 * A refusal may come before the body was read; the runtime then closes the connection, and a client that keeps its connections
 * loses the request that it sends next. A small body is here already, so it is taken and dropped.
 */
const takeSmallBody = async ({ body, bodyUsed, headers }: Request): Promise<void> => {
  if (!body || bodyUsed || !(Number(headers.get('Content-Length')) <= SMALL_BODY)) return
  for await (const _ of body as ReadableStream<Uint8Array>);
}

const turnedAway = (c: Context): Response => problemResponse(c, new Problem('unavailable', { headers: { 'Retry-After': '1' } }))

/** What every reply carries, and the one line that is logged of it. */
export const edge: MiddlewareHandler<AppEnv> = async (c, next) => {
  const began = Date.now()
  c.set('requestId', requestIdOf(c))
  if (c.req.method === 'OPTIONS') {
    c.res = new Response(null, {
      status: 204,
      headers: { 'Access-Control-Allow-Methods': METHODS, 'Access-Control-Allow-Headers': ACCEPTED, 'Access-Control-Max-Age': '86400' },
    })
  } else if (isJammed(began)) {
    c.res = turnedAway(c)
  } else {
    const own = { since: began }
    underWay.add(own)
    await next()
    underWay.delete(own)
  }
  await takeSmallBody(c.req.raw).catch(() => {})
  c.header('X-Request-Id', c.get('requestId'))
  c.header('Access-Control-Allow-Origin', '*')
  c.header('Access-Control-Expose-Headers', EXPOSED)
  if (c.req.path.startsWith('/api/')) c.header('RateLimit-Policy', ratePolicy(c.env))
  if (!c.res.headers.has('Cache-Control')) c.header('Cache-Control', 'no-store')
  c.header('X-Content-Type-Options', 'nosniff')
  logLine(c, began)
}
