import {
  accountLimit,
  accountWindow,
  addExtra,
  confirmFailure,
  type FailureLimit,
  failureLimit,
  isExhausted,
  type LimitWindow,
  secondsLeft,
  tryCountExtra,
  tryCountRequest,
} from '../../auth/requestLimit.ts'
import { extraCostOfWork, workOfUnits } from '../../domain/account/requestCost.ts'
import { BoundedCache } from '../../domain/cache/boundedCache.ts'
import { networkOf } from '../../domain/text/address.ts'
import { type Env, type NumberVariable, readNumber } from '../../env.ts'
import { log } from '../../log.ts'
import type { Context } from '../context.ts'
import { Problem } from '../contract/problem.ts'
import { setHeader } from '../reply/newReply.ts'
import { sharesOf } from './pacing.ts'

/** What the limits are. The account's own follow its sign-in: before it the default is shown. */
export const ratePolicy = (env: Env, accountId = ''): string =>
  [
    `"account";q=${accountLimit(env, accountId)};w=60`,
    `"token";q=${readNumber(env, 'TOKEN_FAILURES_PER_MINUTE')};w=60`,
    `"sign-in";q=${readNumber(env, 'SIGN_INS_PER_ADDRESS')};w=60`,
  ].join(', ')

const tooMany = (policy: string, window: LimitWindow, now: number) => {
  const seconds = secondsLeft(window, now)
  return new Problem('too-many-requests', {
    headers: { 'Retry-After': String(seconds), RateLimit: `"${policy}";r=0;t=${seconds}` },
  })
}

/** Sets the RateLimit header, or throws a 429 unless the request was counted. */
const showWindow = (c: Context, accountId: string, now: number, isCounted: boolean): void => {
  const window = accountWindow(accountId, now)
  const limit = accountLimit(c.env, accountId)
  if (limit !== readNumber(c.env, 'ACCOUNT_REQUESTS_PER_MINUTE'))
    setHeader(c, 'RateLimit-Policy', ratePolicy(c.env, accountId))
  if (!isCounted) throw tooMany('account', window, now)
  const left = Math.max(0, limit - window.count)
  setHeader(c, 'RateLimit', `"account";r=${left};t=${secondsLeft(window, now)}`)
}

/** Counts the request against its account: sets the RateLimit header, or throws a 429. */
export const countRequest = (c: Context, accountId: string, now: number): void =>
  showWindow(c, accountId, now, tryCountRequest(c, accountId, now))

/**
 * Counts what the request costs beyond what it has counted so far, at first the request itself.
 * Throws a 429 when others have used this share of the limit.
 */
export const countExtraCost = (c: Context, cost: number, share = 1): void => {
  const accountId = c.get('principal')?.accountId
  if (accountId === undefined || cost <= 0) return
  const now = Date.now()
  const counted = c.get('counted') ?? 1
  showWindow(c, accountId, now, tryCountExtra(c, accountId, now, { counted, cost, share }))
  c.set('counted', counted + cost)
}

/** How much of the limit costly work may use. The rest is for reports and ordinary requests. */
export const COSTLY_SHARE = 0.8

/** Counts a further piece of costly work. It is not refused: the next work of the account is. */
export const addExtraCost = (c: Context, cost: number): void => {
  const accountId = c.get('principal')?.accountId
  if (accountId !== undefined) addExtra(c, accountId, Date.now(), { cost, share: COSTLY_SHARE })
}

interface WorkContext {
  env: Env
  accountId: string
  waitUntil: (promise: Promise<unknown>) => void
}

/** Counts work that was done for a report, which is stored by then: later requests pay for it. */
export const countWork = ({ env, accountId, waitUntil }: WorkContext, units: number): void => {
  // The report itself has counted as one.
  const cost = extraCostOfWork(workOfUnits(units)) - 1
  const context = { env, executionCtx: { waitUntil } }
  if (cost > 0) tryCountExtra(context, accountId, Date.now(), { counted: 1, cost })
}

const refuseIfExhausted = (limit: FailureLimit, now: number): void => {
  if (isExhausted(limit)) throw tooMany('token', limit.window, now)
}

/** Cloudflare sets CF-Connecting-IP itself; a client can write anything into X-Forwarded-For. */
export const networkOfCaller = (c: Context): string =>
  networkOf(c.req.header('CF-Connecting-IP') ?? 'unknown')

/**
 * Counts an attempt with a password or a password link, or throws a 429. Right and wrong ones count:
 * each costs a slow hash, which must not begin before this.
 */
export const countSignIn = (c: Context, now: number): Promise<void> =>
  countOfNetwork(c, { purpose: 'password', ...SIGN_INS }, now)

/** Counts an attempt with the password of a share, or throws a 429: apart from those of users. */
export const countSharePassword = (c: Context, now: number): Promise<void> =>
  countOfNetwork(c, { purpose: 'share-password', ...SIGN_INS }, now)

/** Counts the registration of an OAuth client, or throws a 429: each stores a row. */
export const countRegistration = (c: Context, now: number): Promise<void> =>
  countOfNetwork(c, { purpose: 'registration', ...SIGN_INS }, now)

/** Counts a request for a share, right or wrong, or throws a 429: nobody signs in for it. */
export const countShareView = (c: Context, now: number): Promise<void> =>
  countOfNetwork(c, { purpose: 'share', policy: 'share', variable: 'SHARE_VIEWS_PER_ADDRESS' }, now)

/** How much of an account's limit reading for viewers of its shares may use, in a window of its own. */
const VIEWS_SHARE = 0.2

/** Counts a read for viewers of the account's shares, or throws a 429. */
export const countSharedRead = (c: Context, accountId: string): void => {
  const owner = sharesOf(accountId)
  const now = Date.now()
  const isCounted = tryCountExtra(c, owner, now, { counted: 0, cost: 1, share: VIEWS_SHARE })
  if (!isCounted) throw tooMany('share', accountWindow(owner, now), now)
}

/** Counts what was read, which nobody knew before. */
export const addSharedRead = (c: Context, accountId: string, cost: number): void =>
  addExtra(c, sharesOf(accountId), Date.now(), { cost, share: VIEWS_SHARE })

/** Counts a request of an OAuth client, right or wrong, or throws a 429: each reads cell 0. */
export const countOauthRequest = (c: Context, now: number): Promise<void> =>
  countOfNetwork(
    c,
    { purpose: 'oauth', policy: 'oauth', variable: 'OAUTH_REQUESTS_PER_ADDRESS' },
    now,
  )

interface NetworkLimit {
  purpose: string
  policy: string
  variable: NumberVariable
}
const SIGN_INS = { policy: 'sign-in', variable: 'SIGN_INS_PER_ADDRESS' } as const

const countOfNetwork = async (
  c: Context,
  { purpose, policy, variable }: NetworkLimit,
  now: number,
): Promise<void> => {
  const limit = failureLimit(c.env, variable, `${purpose} ${networkOfCaller(c)}`, now)
  const isCounted = !isExhausted(limit)
  if (isCounted) limit.window.count++
  if (!isCounted || !(await confirmFailure(c.env, limit))) throw tooMany(policy, limit.window, now)
}

/**
 * Starts a sign-in with an API key, or throws a 429: failures are limited per network and user name,
 * and per network alone, since each costs database reads. Until it has succeeded, a sign-in counts
 * as a failure of its network, so that many at once cannot pass together.
 */
export const startSignIn = (c: Context, userNameKey: string, now: number) => {
  const network = networkOfCaller(c)
  const ofNetwork = failureLimit(c.env, 'TOKEN_FAILURES_PER_ADDRESS', network, now)
  refuseIfExhausted(ofNetwork, now)
  const ofName = failureLimit(c.env, 'TOKEN_FAILURES_PER_MINUTE', `${network} ${userNameKey}`, now)
  refuseIfExhausted(ofName, now)
  ofNetwork.window.count++
  return {
    /** Takes the count back: the sign-in succeeded, or could not be checked. */
    uncount: (): void => {
      ofNetwork.window.count--
    },
    /** Counts the failure, or throws a 429. */
    fail: async (): Promise<void> => {
      refuseIfExhausted(ofName, now)
      ofName.window.count++
      for (const limit of [ofName, ofNetwork])
        if (!(await confirmFailure(c.env, limit))) throw tooMany('token', limit.window, now)
    },
  }
}

const operatorLimit = (c: Context, now: number): FailureLimit =>
  failureLimit(c.env, 'TOKEN_FAILURES_PER_ADDRESS', `operator ${networkOfCaller(c)}`, now)

const OPERATOR_NETWORK_MS = 3_600_000
/** When a right token of the operator last came from a network. */
const operatorNetworks = new BoundedCache<number>(1000)

export const noteOperator = (c: Context, now: number): void =>
  operatorNetworks.set(networkOfCaller(c), now)

/**
 * Throws a 429, before the token is compared, to a network that has sent too many wrong ones of the
 * operator; not to one of the operator's own, where others must not keep the operator out.
 */
export const refuseOperatorGuesses = (c: Context, now: number): void => {
  const rightAt = operatorNetworks.get(networkOfCaller(c)) ?? Number.NEGATIVE_INFINITY
  if (now - rightAt >= OPERATOR_NETWORK_MS) refuseIfExhausted(operatorLimit(c, now), now)
}

/** Counts a wrong token of the operator, or throws a 429. */
export const countOperatorFailure = async (c: Context, now: number): Promise<void> => {
  const limit = operatorLimit(c, now)
  refuseIfExhausted(limit, now)
  limit.window.count++
  const isConfirmed = await confirmFailure(c.env, limit)
  // Once in a window, since nothing is counted after it.
  if (isExhausted(limit)) log('warn', { event: 'operator-token-failures', count: limit.limit })
  if (!isConfirmed) throw tooMany('token', limit.window, now)
}
