import { BoundedCache } from '../domain/cache/boundedCache.ts'
import { type Env, type NumberVariable, readNumber } from '../env.ts'

/*
 * Counts requests and failed sign-ins per minute. Each isolate counts for itself; the rate limiting
 * bindings, which see the whole location, count slices of the limit, so most requests skip them.
 * A request with many locations or a large body counts as several (domain/account/requestCost.ts).
 */

const WINDOW_MS = 60_000
/** Slices of a limit. These are also the limits of the bindings in wrangler.toml. */
const ACCOUNT_SLICES = 100
const FAILURE_SLICES = 10

export interface LimitWindow {
  startedAt: number
  /** May pass the limit by what the last request costs. */
  count: number
  /** Failed sign-ins. `count` also has those that are being checked. */
  failures: number
  /** The binding refused: nothing more is allowed until the window ends. */
  isClosed: boolean
}

const windows = new BoundedCache<LimitWindow>(10_000)

const openWindow = (key: string, now: number): LimitWindow => {
  const known = windows.get(key)
  if (known && now >= known.startedAt && now - known.startedAt < WINDOW_MS) return known
  const opened = { startedAt: now, count: 0, failures: 0, isClosed: false }
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

/** What the operator has set for accounts that this isolate has seen. */
const ownLimits = new BoundedCache<number>(10_000)

/** Notes how many requests the account may make in a minute; null for the default. */
export const noteAccountLimit = (accountId: string, perMinute: number | null): void => {
  if (perMinute === null) ownLimits.delete(accountId)
  else ownLimits.set(accountId, perMinute)
}

export const accountLimit = (env: Env, accountId: string): number =>
  ownLimits.get(accountId) ?? readNumber(env, 'ACCOUNT_REQUESTS_PER_MINUTE')

/** The answer of the binding is not awaited: it closes the window for later requests. */
const addToWindow = (
  { env, executionCtx }: CountContext,
  accountId: string,
  window: LimitWindow,
  cost: number,
): void => {
  const slice = Math.ceil(accountLimit(env, accountId) / ACCOUNT_SLICES)
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

const isFull = ({ isClosed }: LimitWindow, count: number, limit: number): boolean =>
  isClosed || count >= limit

/** Counts one request of an account; false beyond the limit. */
export const tryCountRequest = (context: CountContext, accountId: string, now: number): boolean => {
  const window = accountWindow(accountId, now)
  if (isFull(window, window.count, accountLimit(context.env, accountId))) return false
  addToWindow(context, accountId, window, 1)
  return true
}

/**
 * Counts what a request costs beyond what it has counted already. False only when others have
 * reached the limit meanwhile: a request that was counted within the limit is served.
 */
export const tryCountExtra = (
  context: CountContext,
  accountId: string,
  now: number,
  { counted, cost, share = 1 }: { counted: number; cost: number; share?: number },
): boolean => {
  const window = accountWindow(accountId, now)
  const limit = accountLimit(context.env, accountId) * share
  if (isFull(window, window.count - counted, limit)) return false
  addToWindow(context, accountId, window, cost)
  return true
}

/** Counts work that cannot be refused any more, as far as it fits into this share of the limit. */
export const addExtra = (
  context: CountContext,
  accountId: string,
  now: number,
  { cost, share }: { cost: number; share: number },
): void => {
  const window = accountWindow(accountId, now)
  const left = accountLimit(context.env, accountId) * share - window.count
  const counted = Math.min(cost, Math.floor(left))
  if (counted > 0) addToWindow(context, accountId, window, counted)
}

/** Failed sign-ins under one key, such as an address, with their limit per minute. */
export interface FailureLimit {
  key: string
  limit: number
  window: LimitWindow
}

export const failureLimit = (
  env: Env,
  variable: NumberVariable,
  key: string,
  now: number,
): FailureLimit => ({
  key,
  limit: readNumber(env, variable),
  window: openWindow(`sign-in ${key}`, now),
})

export const isExhausted = ({ limit, window }: FailureLimit): boolean =>
  window.isClosed || window.count >= limit

/** Counts a failure with the binding, in slices; false when it refuses. */
export const confirmFailure = async (
  env: Env,
  { key, limit, window }: FailureLimit,
): Promise<boolean> => {
  window.failures++
  if (window.failures % Math.ceil(limit / FAILURE_SLICES) !== 0) return true
  if (await isWithinLimit(env.TOKEN_FAILURES, key)) return true
  window.isClosed = true
  return false
}
