/* Bodies are made before they are timed; each has times of its own, a second apart. */

/** Within the year that locations are kept. */
export const daysAgo = (days) => Math.floor(Date.now() / 1000) * 1000 - days * 86_400_000

/** Gives a body at each call. `prepare` makes as many as the busiest round so far has taken, and more. */
export function reports(write, count) {
  let at = daysAgo(300) + count
  const ready = []
  const make = () => write(Array.from({ length: count }, () => (at += 1000)))
  let [taken, most] = [0, 20]
  const next = () => {
    taken++
    return ready.pop() ?? make()
  }
  const prepare = () => {
    most = Math.max(most, taken)
    taken = 0
    while (ready.length < most * 1.5) ready.push(make())
  }
  return Object.assign(next, { prepare })
}

const latitude = (at) => 38.72 + (at % 10_000_000) / 1e8

/** As a client sends them. */
export const onTheWire = (times) =>
  JSON.stringify({
    locations: times.map((at) => ({
      dateTime: new Date(at).toISOString(),
      latitude: latitude(at),
      longitude: -9.14,
      altitude: 12.5,
      speed: 31.4,
      course: 271,
      accuracy: 5,
      battery: 87,
      source: 'gnss',
    })),
  })

/** As the statement wants them. */
export const packed = (times) =>
  JSON.stringify(
    times.map((at) => [
      at,
      Math.round(latitude(at) * 1e7),
      -91400000,
      1250,
      3140,
      27100,
      500,
      8700,
      'gnss',
      null,
    ]),
  )
