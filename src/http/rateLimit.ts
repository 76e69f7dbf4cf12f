import {
  accountWindow,
  countFailure,
  failureWindow,
  isExhausted,
  type LimitWindow,
  secondsLeft,
  tryCountExtra,
  tryCountRequest,
} from '../auth/requestLimit.ts'
import { networkOf } from '../domain/address.ts'
import { accountRequestsPerMinute, type Env, tokenFailuresPerMinute } from '../env.ts'
import type { Context } from './context.ts'
import { Problem } from './problem.ts'

const tooMany = (policy: string, window: LimitWindow, now: number) => {
  const seconds = secondsLeft(window, now)
  return new Problem('too-many-requests', {
    headers: { 'Retry-After': String(seconds), RateLimit: `"${policy}";r=0;t=${seconds}` },
  })
}

/** Sets the RateLimit header, or throws a 429 unless the request was counted. */
const showWindow = (c: Context, accountId: string, now: number, isCounted: boolean): void => {
  const window = accountWindow(accountId, now)
  if (!isCounted) throw tooMany('account', window, now)
  const left = Math.max(0, accountRequestsPerMinute(c.env) - window.count)
  c.header('RateLimit', `"account";r=${left};t=${secondsLeft(window, now)}`)
}

/** Counts the request against its account: sets the RateLimit header, or throws a 429. */
export const countRequest = (c: Context, accountId: string, now: number): void =>
  showWindow(c, accountId, now, tryCountRequest(c, accountId, now))

/** Counts what the request costs beyond the one that `countRequest` has counted. */
export const countExtraCost = (c: Context, cost: number): void => {
  const accountId = c.get('principal')?.accountId
  if (accountId === undefined || cost <= 0) return
  const now = Date.now()
  showWindow(c, accountId, now, tryCountExtra(c, accountId, now, cost))
}

/** Failed sign-ins from the caller's network with one user name; successes are not counted. */
export const signInFailures = (c: Context, userNameKey: string, now: number) => {
  // Cloudflare sets CF-Connecting-IP itself; a client can write anything into X-Forwarded-For.
  const key = `${networkOf(c.req.header('CF-Connecting-IP') ?? 'unknown')} ${userNameKey}`
  const window = failureWindow(key, now)
  const refuseIfClosed = () => {
    if (isExhausted(c.env, window)) throw tooMany('token', window, now)
  }
  const count = async () => {
    refuseIfClosed()
    if (!(await countFailure(c.env, key, window))) throw tooMany('token', window, now)
  }
  return { refuseIfClosed, count }
}

export const ratePolicy = (env: Env): string =>
  `"account";q=${accountRequestsPerMinute(env)};w=60, "token";q=${tokenFailuresPerMinute(env)};w=60`
