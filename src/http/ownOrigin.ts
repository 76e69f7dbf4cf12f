import type { Context } from './context.ts'
import { Problem } from './contract/problem.ts'

/* Requests that carry the session cookie. Only pages of this service may send them. */

/** Their replies have no CORS headers, not even a refused or unrouted one's. */
export const isForOwnPages = (path: string): boolean =>
  /^\/api\/Auth\/(Refresh|SignOut)$/.test(path)

const isOwnOrigin = (c: Context, origin: string): boolean => {
  const { PUBLIC_URL = '' } = c.env
  const addresses = [c.req.url, ...(URL.canParse(PUBLIC_URL) ? [PUBLIC_URL] : [])]
  return addresses.some((address) => new URL(address).origin === origin)
}

/** 403 unless the page that sends the request is ours. Browsers set `Origin` on every POST. */
export const requireOwnOrigin = (c: Context): void => {
  const origin = c.req.header('Origin')
  if (origin === undefined || !isOwnOrigin(c, origin)) throw new Problem('wrong-origin')
}
