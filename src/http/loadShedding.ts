import { log } from '../log.ts'

interface Slot {
  acquiredAt: number
  owner: string | undefined
}

interface OwnerLimit {
  owner: string
  max: number
}

/** Slots that work in this isolate holds, oldest first. */
export class Slots {
  readonly #held = new Map<object, Slot>()
  readonly #maxHeldMs: number

  /** After a disconnect `finally` may never run: slots older than `maxHeldMs` are evicted. */
  constructor(maxHeldMs: number) {
    this.#maxHeldMs = maxHeldMs
  }

  /** False while `max` slots are held, or `ownerLimit.max` by this owner. */
  acquire(holder: object, now: number, max: number, ownerLimit?: OwnerLimit): boolean {
    this.#evict(now)
    if (this.#held.size >= max) return false
    if (ownerLimit && this.#countOf(ownerLimit.owner) >= ownerLimit.max) return false
    this.#held.set(holder, { acquiredAt: now, owner: ownerLimit?.owner })
    return true
  }

  release(holder: object): boolean {
    return this.#held.delete(holder)
  }

  /** Starts the time until eviction again. */
  renew(holder: object, now: number): void {
    const slot = this.#held.get(holder)
    if (slot && this.#held.delete(holder)) this.#held.set(holder, { ...slot, acquiredAt: now })
  }

  #evict(now: number): void {
    for (const [holder, { acquiredAt }] of this.#held) {
      if (now - acquiredAt < this.#maxHeldMs) break
      this.#held.delete(holder)
    }
  }

  #countOf(owner: string): number {
    let count = 0
    for (const slot of this.#held.values()) if (slot.owner === owner) count++
    return count
  }
}

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

export const release = (request: Request): void => {
  activeRequests.release(request)
}

/** Gives up the request's slot during `wait`, so that slow senders do not block others. */
export const releaseWhile = async <T>(request: Request, wait: () => Promise<T>): Promise<T> => {
  if (!activeRequests.release(request)) return wait()
  try {
    return await wait()
  } finally {
    activeRequests.acquire(request, Date.now(), Number.POSITIVE_INFINITY)
  }
}

/** The longest time that a large body may take to arrive. */
export const BODY_TIMEOUT_MS = 60_000
const largeBodies = new Slots(BODY_TIMEOUT_MS)
/** As many bodies of 1 MiB as fit into an isolate's memory with the work on them. */
const MAX_LARGE_BODIES = 48
/** Half, so that one account cannot block the others. */
const MAX_LARGE_BODIES_PER_OWNER = 24

export const acquireLargeBody = (request: Request, owner: string): boolean =>
  largeBodies.acquire(request, Date.now(), MAX_LARGE_BODIES, {
    owner,
    max: MAX_LARGE_BODIES_PER_OWNER,
  })

export const releaseLargeBody = (request: Request): void => {
  largeBodies.release(request)
}
