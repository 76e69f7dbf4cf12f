/* Bodies are made before they are timed; each has times of its own, a second apart. */

/** Within the retention of the account that the bench opens, with room for all that is reported. */
export const REPORTS_START = Date.now() - 3000 * 86_400_000

export function reports(write, count) {
  let at = REPORTS_START + count
  let ready = []
  return () => {
    if (ready.length === 0)
      ready = Array.from({ length: Math.max(10, 500 / count) }, () =>
        write(Array.from({ length: count }, () => (at += 1000))),
      )
    return ready.pop()
  }
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
