import { log } from '../../log.ts'
import { endSlowBody, noteRequest, reserveStart, tryStartSlowBody } from '../body/slowBodies.ts'
import { Slots } from './slots.ts'

const activeRequests = new Slots(10_000)
/** Above 100, so that a client may send a hundred requests at once. */
const MAX_CONCURRENT = 128
/** During a flood most time goes into rejections, so fewer requests are served at once. */
const FLOOD_REJECTIONS_PER_SECOND = 200
const MAX_CONCURRENT_IN_FLOOD = 32

let maxConcurrent = MAX_CONCURRENT
/** Rejections of the current second. */
let rejections = { since: 0, count: 0 }

/**
 * False when the isolate is busy. Without this limit, three times too much traffic took 850 MB and
 * 18 s a reply (npm run load); an isolate may use 128 MB.
 */
export const acquire = (request: Request, now: number): boolean => {
  if (now - rejections.since >= 1000) startSecond(now)
  const isAcquired = activeRequests.acquire(request, now, maxConcurrent)
  if (!isAcquired) rejections.count++
  return isAcquired
}

/** Logs the rejections of the last second and sets the limit for the next one. */
const startSecond = (now: number): void => {
  const { since, count } = rejections
  if (count > 0) log('warn', { event: 'requests-rejected', count })
  const isFlood = count >= FLOOD_REJECTIONS_PER_SECOND && now - since < 2000
  maxConcurrent = isFlood ? MAX_CONCURRENT_IN_FLOOD : MAX_CONCURRENT
  rejections = { since: now, count: 0 }
}

/** Requests that wait for a slot of their account. With its slots, a client may send a hundred. */
const waitingRequests = new Slots(60_000)
const MAX_WAITING = 192
const MAX_WAITING_PER_ACCOUNT = 96
const MAX_WAIT_MS = 10_000
const RETRY_INTERVAL_MS = 20

const delay = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Retries until it succeeds, or until `MAX_WAIT_MS` have passed. */
const retry = async (tryOnce: () => boolean, delayMs: () => number): Promise<boolean> => {
  for (const deadline = Date.now() + MAX_WAIT_MS; Date.now() < deadline; ) {
    await delay(delayMs())
    if (tryOnce()) return true
  }
  return false
}

const tryWait = (request: Request, accountId: string): boolean =>
  waitingRequests.acquire(request, Date.now(), MAX_WAITING, {
    owner: accountId,
    max: MAX_WAITING_PER_ACCOUNT,
  })

/** Requests that wait without a slot for a receiver that a tenant chose. */
const outsideRequests = new Slots(60_000)
const MAX_OUTSIDE = 512
const MAX_OUTSIDE_PER_ACCOUNT = 128

/** False when the account has too many requests that wait for a receiver. */
export const tryWaitOutside = (request: Request, accountId: string): boolean =>
  outsideRequests.acquire(request, Date.now(), MAX_OUTSIDE, {
    owner: accountId,
    max: MAX_OUTSIDE_PER_ACCOUNT,
  })

export const endWaitOutside = (request: Request): void => {
  outsideRequests.release(request)
}

/** An account has a quarter: three others find a slot while one uses all of its own. */
const tryAssign = (request: Request, accountId: string, max: number): boolean =>
  activeRequests.acquire(request, Date.now(), max, { owner: accountId, max: max / 4 })

/**
 * The time until the next try, which is longer while more requests of the account wait: hundreds
 * of short timers would take the time that the requests need. Requests cannot wake each other,
 * because the runtime keeps their promises apart.
 */
const retryDelayMs = (accountId: string): number =>
  RETRY_INTERVAL_MS * (1 + waitingRequests.countOf(accountId) / 8)

/**
 * Makes the slot of a request one of its account. While the account uses its share, the request
 * waits without a slot. False when too many of the account wait, or for too long. In a flood nobody
 * waits: a rejection costs less.
 */
export const assign = async (
  request: Request,
  accountId: string,
  max = maxConcurrent,
): Promise<boolean> => {
  noteRequest(accountId, Date.now())
  const hasNoSlot = !activeRequests.release(request)
  if (hasNoSlot || tryAssign(request, accountId, max)) return true
  const isFlood = maxConcurrent < MAX_CONCURRENT
  if (isFlood || !tryWait(request, accountId)) {
    rejections.count++
    return false
  }
  const isAssigned = await retry(
    () => tryAssign(request, accountId, maxConcurrent),
    () => retryDelayMs(accountId),
  )
  if (isAssigned) waitingRequests.release(request)
  return isAssigned
}

/**
 * Assigns a slot again after the body has arrived. The lower limit of a flood is for new requests:
 * to refuse one that was let in would waste what was done for it.
 */
export const assignAgain = (request: Request, accountId: string): Promise<boolean> =>
  assign(request, accountId, MAX_CONCURRENT)

/** Gives up the request's slot during `wait`, so that slow senders do not block others. */
export const releaseWhile = async <T>(request: Request, wait: () => Promise<T>): Promise<T> => {
  const slot = activeRequests.release(request)
  if (!slot) return wait()
  try {
    return await wait()
  } finally {
    activeRequests.hold(request, Date.now(), slot.owner)
  }
}

/** The longest time that a large body may take to arrive. */
export const BODY_TIMEOUT_MS = 60_000
const largeBodies = new Slots(BODY_TIMEOUT_MS)
/** As many bodies of 1 MiB as fit into an isolate's memory with the work on them. */
const MAX_LARGE_BODIES = 24
/** Half, so that one account cannot block the others. */
const MAX_LARGE_BODIES_PER_OWNER = 12

/** The slot is held until the request ends: what was parsed lives as long. */
export const acquireLargeBody = (request: Request, owner: string): boolean =>
  largeBodies.acquire(request, Date.now(), MAX_LARGE_BODIES, {
    owner,
    max: MAX_LARGE_BODIES_PER_OWNER,
  })

/** A large body has arrived: the time until eviction starts again, for the work on it. */
export const renewLargeBody = (request: Request): void => largeBodies.renew(request, Date.now())

export const releaseLargeBody = (request: Request): void => {
  largeBodies.release(request)
}

const SLOW_RETRY_INTERVAL_MS = 5

/**
 * Waits without a slot until the work on a slow body may start. False when it would take too long.
 * The turn is held until the request ends.
 */
export const awaitSlowBody = async (
  request: Request,
  owner: string,
  bytes: number,
): Promise<boolean> => {
  const waitMs = reserveStart(owner, bytes, Date.now())
  if (waitMs === null) return false
  const tryStart = () => tryStartSlowBody(request, owner, Date.now())
  if (waitMs === 0 && tryStart()) return true
  return releaseWhile(request, async () => {
    await delay(waitMs)
    return tryStart() || retry(tryStart, () => SLOW_RETRY_INTERVAL_MS)
  })
}

/** Gives back everything that the request holds. */
export const release = (request: Request): void => {
  activeRequests.release(request)
  waitingRequests.release(request)
  endWaitOutside(request)
  releaseLargeBody(request)
  endSlowBody(request)
}
