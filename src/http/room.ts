/** Requests that this isolate is working on, oldest first, and since when. */
const underWay = new Map<Request, number>()
/** Enough for a client that sends a hundred at a time. */
const ROOM = 128
/** In a flood most of the time goes into saying no. */
const FLOOD = 200
const ROOM_IN_A_FLOOD = 32
/** A caller who hangs up may take the end of its request along: then nobody says that it is over. */
const FORGOTTEN = 10_000

let room = ROOM
let second = { at: 0, turnedAway: 0 }

/**
 * Whoever comes on top of what one isolate can do is told so at once: without this, three times too much traffic took 850 MB and
 * 18 s an answer (npm run load), and an isolate may have 128 MB.
 */
export const enter = (request: Request, now: number): boolean => {
  if (now - second.at >= 1000) beginSecond(now)
  for (const [one, since] of underWay) {
    if (now - since < FORGOTTEN) break
    underWay.delete(one)
  }
  if (underWay.size >= room) {
    second.turnedAway++
    return false
  }
  underWay.set(request, now)
  return true
}

const beginSecond = (now: number): void => {
  const { at, turnedAway } = second
  if (turnedAway > 0) console.log(JSON.stringify({ level: 'warn', turnedAway }))
  room = turnedAway >= FLOOD && now - at < 2000 ? ROOM_IN_A_FLOOD : ROOM
  second = { at: now, turnedAway: 0 }
}

export const leave = (request: Request): void => {
  underWay.delete(request)
}

/** While its body is on its way a request takes no room, or a few slow senders would keep everyone else out. */
export const stepAside = async <T>(request: Request, wait: () => Promise<T>): Promise<T> => {
  if (!underWay.delete(request)) return wait()
  try {
    return await wait()
  } finally {
    underWay.set(request, Date.now())
  }
}
