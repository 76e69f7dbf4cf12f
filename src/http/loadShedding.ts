import { log } from '../log.ts'

interface Slot {
  since: number
  owner: string
}

/** Whatever takes room in this isolate, oldest first, since when and whose. */
export class Slots {
  readonly #taken = new Map<object, Slot>()
  readonly #forgottenAfter: number

  /** A caller who hangs up may take the end of its request along: then nobody says that it is over, until so long after. */
  constructor(forgottenAfter: number) {
    this.#forgottenAfter = forgottenAfter
  }

  /** `mostOfOne`: how many of the places one owner may have. */
  acquire(whoever: object, now: number, most: number, owner = '', mostOfOne = most): boolean {
    for (const [one, { since }] of this.#taken) {
      if (now - since < this.#forgottenAfter) break
      this.#taken.delete(one)
    }
    if (this.#taken.size >= most) return false
    if (mostOfOne < most && this.#countOf(owner) >= mostOfOne) return false
    this.#taken.set(whoever, { since: now, owner })
    return true
  }

  release(whoever: object): boolean {
    return this.#taken.delete(whoever)
  }

  /** Still there: to be forgotten so much later. */
  renew(whoever: object, now: number): void {
    const place = this.#taken.get(whoever)
    if (place && this.#taken.delete(whoever)) this.#taken.set(whoever, { ...place, since: now })
  }

  #countOf(owner: string): number {
    let count = 0
    for (const place of this.#taken.values()) if (place.owner === owner) count++
    return count
  }
}

const activeRequests = new Slots(10_000)
/** Enough for a client that sends a hundred at a time. */
const MAX_CONCURRENT = 128
/** In a flood most of the time goes into saying no. */
const FLOOD_REJECTIONS_PER_SECOND = 200
const MAX_CONCURRENT_IN_FLOOD = 32

let maxConcurrent = MAX_CONCURRENT
let second = { at: 0, turnedAway: 0 }

/**
 * Whoever comes on top of what one isolate can do is told so at once: without this, three times too much traffic took 850 MB and
 * 18 s an answer (npm run load), and an isolate may have 128 MB.
 */
export const acquire = (request: Request, now: number): boolean => {
  if (now - second.at >= 1000) beginSecond(now)
  const entered = activeRequests.acquire(request, now, maxConcurrent)
  if (!entered) second.turnedAway++
  return entered
}

const beginSecond = (now: number): void => {
  const { at, turnedAway } = second
  if (turnedAway > 0) log('warn', { event: 'requests-rejected', count: turnedAway })
  maxConcurrent =
    turnedAway >= FLOOD_REJECTIONS_PER_SECOND && now - at < 2000
      ? MAX_CONCURRENT_IN_FLOOD
      : MAX_CONCURRENT
  second = { at: now, turnedAway: 0 }
}

export const release = (request: Request): void => {
  activeRequests.release(request)
}

/** While its body is on its way a request takes no room, or a few slow senders would keep everyone else out. */
export const releaseWhile = async <T>(request: Request, wait: () => Promise<T>): Promise<T> => {
  if (!activeRequests.release(request)) return wait()
  try {
    return await wait()
  } finally {
    activeRequests.acquire(request, Date.now(), Number.POSITIVE_INFINITY)
  }
}

/** How long a body may be on its way; whoever is slower is not read to the end. */
export const BODY_TIMEOUT_MS = 60_000
const largeBodies = new Slots(BODY_TIMEOUT_MS)
const MAX_LARGE_BODIES = 48
/** One account cannot keep the others' out. */
const MAX_LARGE_BODIES_PER_OWNER = 24

/** So many bodies of up to a mebibyte fit into an isolate beside what is done with them. */
export const acquireLargeBody = (request: Request, owner: string): boolean =>
  largeBodies.acquire(request, Date.now(), MAX_LARGE_BODIES, owner, MAX_LARGE_BODIES_PER_OWNER)

export const releaseLargeBody = (request: Request): void => {
  largeBodies.release(request)
}
