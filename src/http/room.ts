interface Place {
  since: number
  owner: string
}

/** Whatever takes room in this isolate, oldest first, since when and whose. */
export class Places {
  readonly #taken = new Map<object, Place>()
  readonly #forgottenAfter: number

  /** A caller who hangs up may take the end of its request along: then nobody says that it is over, until so long after. */
  constructor(forgottenAfter: number) {
    this.#forgottenAfter = forgottenAfter
  }

  /** `mostOfOne`: how many of the places one owner may have. */
  take(whoever: object, now: number, most: number, owner = '', mostOfOne = most): boolean {
    for (const [one, { since }] of this.#taken) {
      if (now - since < this.#forgottenAfter) break
      this.#taken.delete(one)
    }
    if (this.#taken.size >= most) return false
    if (mostOfOne < most && this.#countOf(owner) >= mostOfOne) return false
    this.#taken.set(whoever, { since: now, owner })
    return true
  }

  give(whoever: object): boolean {
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

const underWay = new Places(10_000)
/** Enough for a client that sends a hundred at a time. */
const ROOM = 128
/** In a flood most of the time goes into saying no. */
const FLOOD = 200
const ROOM_IN_A_FLOOD = 32

let room = ROOM
let second = { at: 0, turnedAway: 0 }

/**
 * Whoever comes on top of what one isolate can do is told so at once: without this, three times too much traffic took 850 MB and
 * 18 s an answer (npm run load), and an isolate may have 128 MB.
 */
export const enter = (request: Request, now: number): boolean => {
  if (now - second.at >= 1000) beginSecond(now)
  const entered = underWay.take(request, now, room)
  if (!entered) second.turnedAway++
  return entered
}

const beginSecond = (now: number): void => {
  const { at, turnedAway } = second
  if (turnedAway > 0) console.log(JSON.stringify({ level: 'warn', turnedAway }))
  room = turnedAway >= FLOOD && now - at < 2000 ? ROOM_IN_A_FLOOD : ROOM
  second = { at: now, turnedAway: 0 }
}

export const leave = (request: Request): void => {
  underWay.give(request)
}

/** While its body is on its way a request takes no room, or a few slow senders would keep everyone else out. */
export const stepAside = async <T>(request: Request, wait: () => Promise<T>): Promise<T> => {
  if (!underWay.give(request)) return wait()
  try {
    return await wait()
  } finally {
    underWay.take(request, Date.now(), Number.POSITIVE_INFINITY)
  }
}

/** How long a body may be on its way; whoever is slower is not read to the end. */
export const BODY_PATIENCE = 60_000
const largeBodies = new Places(BODY_PATIENCE)
const MOST_LARGE = 48
/** One account cannot keep the others' out. */
const MOST_LARGE_OF_ONE = 24

/** So many bodies of up to a mebibyte fit into an isolate beside what is done with them. */
export const beginLargeBody = (request: Request, owner: string): boolean =>
  largeBodies.take(request, Date.now(), MOST_LARGE, owner, MOST_LARGE_OF_ONE)

export const endLargeBody = (request: Request): void => {
  largeBodies.give(request)
}
