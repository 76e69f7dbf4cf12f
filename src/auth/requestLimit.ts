import { BoundedCache } from '../domain/boundedCache.ts'
import { accountRequestsPerMinute, type Env, tokenFailuresPerMinute } from '../env.ts'

/*
 * Counts requests and failed sign-ins per minute. Each isolate counts for itself; the rate limiting
 * bindings, which see the whole location, count slices of the limit, so most requests skip them.
 * A request with many locations or a large body counts as several (domain/requestCost.ts).
 */

const WINDOW_MS = 60_000
/** Slices of a limit. These are also the limits of the bindings in wrangler.toml. */
const ACCOUNT_SLICES = 100
const FAILURE_SLICES = 10

export interface LimitWindow {
  startedAt: number
  /** May pass the limit by what the last request costs. */
  count: number
  /** The binding refused: nothing more is allowed until the window ends. */
  isClosed: boolean
}

const windows = new BoundedCache<LimitWindow>(10_000)

const openWindow = (key: string, now: number): LimitWindow => {
  const known = windows.get(key)
  if (known && now >= known.startedAt && now - known.startedAt < WINDOW_MS) return known
  const opened = { startedAt: now, count: 0, isClosed: false }
  windows.set(key, opened)
  return opened
}

export const secondsLeft = ({ startedAt }: LimitWindow, now: number): number =>
  Math.max(1, Math.ceil((startedAt + WINDOW_MS - now) / 1000))

/** When the binding fails, the isolate's own count decides. */
const isWithinLimit = (binding: RateLimit, key: string): Promise<boolean> =>
  binding.limit({ key }).then(
    ({ success }) => success,
    () => true,
  )

export const accountWindow = (accountId: string, now: number): LimitWindow =>
  openWindow(`account ${accountId}`, now)

interface CountContext {
  env: Env
  executionCtx: Pick<ExecutionContext, 'waitUntil'>
}

/** The answer of the binding is not awaited: it closes the window for later requests. */
const addToWindow = (
  { env, executionCtx }: CountContext,
  accountId: string,
  window: LimitWindow,
  cost: number,
): void => {
  const slice = Math.ceil(accountRequestsPerMinute(env) / ACCOUNT_SLICES)
  const slicesBefore = Math.floor(window.count / slice)
  window.count += cost
  const slices = Math.floor(window.count / slice)
  for (let asked = slicesBefore; asked < slices; asked++) {
    const checked = isWithinLimit(env.ACCOUNT_SLICES, accountId).then((isOpen) => {
      if (!isOpen) window.isClosed = true
    })
    executionCtx.waitUntil(checked)
  }
}

/** Counts one request of an account; false beyond the limit. */
export const tryCountRequest = (context: CountContext, accountId: string, now: number): boolean => {
  const window = accountWindow(accountId, now)
  if (window.isClosed || window.count >= accountRequestsPerMinute(context.env)) return false
  addToWindow(context, accountId, window, 1)
  return true
}

/**
 * Counts what a request costs beyond the one that it was counted as. False only when others have
 * passed the limit meanwhile: a request that was counted within the limit is served.
 */
export const tryCountExtra = (
  context: CountContext,
  accountId: string,
  now: number,
  cost: number,
): boolean => {
  const window = accountWindow(accountId, now)
  if (window.isClosed || window.count > accountRequestsPerMinute(context.env)) return false
  addToWindow(context, accountId, window, cost)
  return true
}

/** Failed sign-ins from one network with one user name. */
export const failureWindow = (key: string, now: number): LimitWindow =>
  openWindow(`sign-in ${key}`, now)

export const isExhausted = (env: Env, { isClosed, count }: LimitWindow): boolean =>
  isClosed || count >= tokenFailuresPerMinute(env)

/** Counts one failed sign-in; false when the binding refuses it. */
export const countFailure = async (
  env: Env,
  key: string,
  window: LimitWindow,
): Promise<boolean> => {
  window.count++
  if (window.count % Math.ceil(tokenFailuresPerMinute(env) / FAILURE_SLICES) !== 0) return true
  if (await isWithinLimit(env.TOKEN_FAILURES, key)) return true
  window.isClosed = true
  return false
}
