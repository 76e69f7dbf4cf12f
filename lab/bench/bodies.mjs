/* Bodies are made before a round is timed. Each has its own times, one second apart. */

/** Within the retention of an account, or the locations would not be stored. */
const FIRST_TIME = Date.now() - 360 * 86_400_000

/**
 * Returns a function that gives the next body; its `prepare` makes as many as a round may take.
 * Bodies come in order of time only if asked for: a round begins with its latest. Rows that report
 * for the same devices begin on different days.
 */
export function reportBodies(format, count, { inOrder = false, afterDays = 0 } = {}) {
  let time = FIRST_TIME + count + afterDays * 86_400_000
  const prepared = []
  const make = () => format(Array.from({ length: count }, () => (time += 1000)))
  let [taken, maxTaken] = [0, 20]
  const next = () => {
    taken++
    return (inOrder ? prepared.shift() : prepared.pop()) ?? make()
  }
  const prepare = () => {
    maxTaken = Math.max(maxTaken, taken)
    taken = 0
    while (prepared.length < maxTaken * 1.5) prepared.push(make())
  }
  return Object.assign(next, { prepare })
}

/** Seven decimals, as receivers give them: a finer number would be stored twice, as sent too. */
const latitudeAt = (time) => Number((38.72 + (time % 10_000_000) / 1e8).toFixed(7))

/** Locations as a client sends them. */
export const formatForApi = (times) =>
  JSON.stringify({
    locations: times.map((time) => ({
      dateTime: new Date(time).toISOString(),
      latitude: latitudeAt(time),
      longitude: -9.14,
      altitude: 12.5,
      speed: 31.4,
      course: 271,
      accuracy: 5,
      battery: 87,
      source: 'gnss',
    })),
  })

/** Locations as the INSERT statement takes them. */
export const formatForStatement = (times) =>
  JSON.stringify(
    times.map((time) => [
      time,
      Math.round(latitudeAt(time) * 1e7),
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
