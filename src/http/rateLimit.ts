import { networkOf } from '../domain/address.ts'
import { BoundedCache } from '../domain/boundedCache.ts'
import { accountRequestsPerMinute, type Env, tokenFailuresPerMinute } from '../env.ts'
import type { Context } from './context.ts'
import { Problem } from './problem.ts'

const MINUTE = 60_000
/** The bindings count slices, this many of them a minute (wrangler.toml), so most requests do not ask one. */
const SLICES = 100
const FAILURE_SLICES = 10

interface Window {
  began: number
  count: number
  /** The binding said no: closed until the window ends. */
  closed: boolean
}

const windows = new BoundedCache<Window>(10_000)

const windowOf = (key: string, now: number): Window => {
  const known = windows.get(key)
  if (known && now >= known.began && now - known.began < MINUTE) return known
  const opened = { began: now, count: 0, closed: false }
  windows.set(key, opened)
  return opened
}

const secondsLeft = (window: Window, now: number): number =>
  Math.max(1, Math.ceil((window.began + MINUTE - now) / 1000))

const tooMany = (policy: string, window: Window, now: number) => {
  const seconds = secondsLeft(window, now)
  return new Problem('too-many-requests', {
    headers: { 'Retry-After': String(seconds), RateLimit: `"${policy}";r=0;t=${seconds}` },
  })
}

/** A binding that does not answer decides nothing: this isolate's own count still stands. */
const isWithinLimit = (binding: RateLimit, key: string): Promise<boolean> =>
  binding.limit({ key }).then(
    ({ success }) => success,
    () => true,
  )

const accountWindow = (accountId: string, now: number): Window =>
  windowOf(`account ${accountId}`, now)

/** What counting needs: a request has it, and so has an object that is spoken to on an open stream. */
interface Counting {
  env: Env
  executionCtx: Pick<ExecutionContext, 'waitUntil'>
}

/**
 * Counts one request of an account, or says that it has had its share. This isolate decides by its own count; the binding, which sees the whole place,
 * is asked after each slice and its answer awaited by nobody: it closes the window for the requests that follow.
 */
export const tryCountRequest = (
  { env, executionCtx }: Counting,
  accountId: string,
  now: number,
): boolean => {
  const limit = accountRequestsPerMinute(env)
  const window = accountWindow(accountId, now)
  if (window.closed || window.count >= limit) return false
  window.count++
  if (window.count % Math.ceil(limit / SLICES) === 0) {
    const asked = isWithinLimit(env.ACCOUNT_SLICES, accountId).then((open) => {
      if (!open) window.closed = true
    })
    executionCtx.waitUntil(asked)
  }
  return true
}

/** The same for a request that is still to be answered: the answer tells what is left. */
export const countRequest = (c: Context, accountId: string, now: number): void => {
  const taken = tryCountRequest(c, accountId, now)
  const window = accountWindow(accountId, now)
  if (!taken) throw tooMany('account', window, now)
  c.header(
    'RateLimit',
    `"account";r=${accountRequestsPerMinute(c.env) - window.count};t=${secondsLeft(window, now)}`,
  )
}

/** Failed sign-ins of one address (of IPv6, one network) with one user name. Successes are not counted, and other addresses not affected. */
export const signInFailures = (c: Context, userNameKey: string, now: number) => {
  const limit = tokenFailuresPerMinute(c.env)
  // Cloudflare sets this header itself; what a client writes into X-Forwarded-For is not looked at.
  const key = `${networkOf(c.req.header('CF-Connecting-IP') ?? 'unknown')} ${userNameKey}`
  const window = windowOf(`sign-in ${key}`, now)
  const refuseIfClosed = () => {
    if (window.closed || window.count >= limit) throw tooMany('token', window, now)
  }
  const count = async () => {
    refuseIfClosed()
    window.count++
    if (window.count % Math.ceil(limit / FAILURE_SLICES) !== 0) return
    if (await isWithinLimit(c.env.TOKEN_FAILURES, key)) return
    window.closed = true
    refuseIfClosed()
  }
  return { refuseIfClosed, count }
}

export const ratePolicy = (env: Env): string =>
  `"account";q=${accountRequestsPerMinute(env)};w=60, "token";q=${tokenFailuresPerMinute(env)};w=60`
