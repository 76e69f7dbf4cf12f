import type { MiddlewareHandler } from 'hono'
import { routePath } from 'hono/route'
import type { AppEnv, Context } from './context.ts'
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

/** What every reply carries, and the one line that is logged of it. */
export const edge: MiddlewareHandler<AppEnv> = async (c, next) => {
  const began = Date.now()
  c.set('requestId', requestIdOf(c))
  if (c.req.method === 'OPTIONS') {
    c.res = new Response(null, {
      status: 204,
      headers: { 'Access-Control-Allow-Methods': METHODS, 'Access-Control-Allow-Headers': ACCEPTED, 'Access-Control-Max-Age': '86400' },
    })
  } else {
    await next()
  }
  c.header('X-Request-Id', c.get('requestId'))
  c.header('Access-Control-Allow-Origin', '*')
  c.header('Access-Control-Expose-Headers', EXPOSED)
  if (c.req.path.startsWith('/api/')) c.header('RateLimit-Policy', ratePolicy(c.env))
  if (!c.res.headers.has('Cache-Control')) c.header('Cache-Control', 'no-store')
  c.header('X-Content-Type-Options', 'nosniff')
  logLine(c, began)
}
