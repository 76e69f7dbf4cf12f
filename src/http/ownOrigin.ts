import { publicOrigin } from '../env.ts'
import type { Context } from './context.ts'
import { Problem } from './contract/problem.ts'

/* Requests that carry the session cookie, and those of agents. No page of others may send them. */

/** Their replies have no CORS headers, not even a refused or unrouted one's. */
export const isForOwnPages = (path: string): boolean =>
  /^\/(mcp|api\/Auth\/(Refresh|SignOut))$/.test(path)

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/

/**
 * 403 unless the page that sends the request is ours. Browsers set `Origin` on every POST. The cookie
 * belongs to the name that the request has: pages of any other name of the service are ours, too.
 */
export const requireOwnOrigin = (c: Context): void => {
  const origin = c.req.header('Origin')
  const own = [publicOrigin(c.env), new URL(c.req.url).origin]
  if (origin === undefined || !own.includes(origin)) throw new Problem('wrong-origin')
}

/**
 * The same for requests without the cookie, if a page sends them. Their name is proof only where it
 * cannot be a stranger's for this machine (DNS rebinding): without PUBLIC_URL there is nothing better.
 */
export const refuseOtherPages = (c: Context): void => {
  const origin = c.req.header('Origin')
  if (origin === undefined) return
  requireOwnOrigin(c)
  const own = publicOrigin(c.env)
  if (own !== null && origin !== own && !LOOPBACK.test(new URL(origin).hostname))
    throw new Problem('wrong-origin')
}
