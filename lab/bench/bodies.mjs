/**
 * Returns a function that gives the body of the next report. Bodies are prepared in stock, so that
 * making them is hardly measured.
 */
export function reportBodies(format, count) {
  let time = Date.UTC(2001, 0, 1) + count
  let prepared = []
  return () => {
    if (prepared.length === 0)
      prepared = Array.from({ length: Math.max(10, 500 / count) }, () =>
        format(Array.from({ length: count }, () => (time += 1000))),
      )
    return prepared.pop()
  }
}

const latitudeAt = (time) => 38.72 + (time % 10_000_000) / 1e8

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
