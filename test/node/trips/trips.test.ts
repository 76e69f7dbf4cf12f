import fc from 'fast-check'
import geodesic from 'geographiclib-geodesic'
import { describe, expect, test } from 'vitest'
import { localDay } from '../../../src/domain/time/day.ts'
import { Slices } from '../../../src/http/admission/slices.ts'
import { summarizeDays } from '../../../src/trips/tripSummary.ts'
import {
  findStops,
  findTrips,
  findWay,
  type Stop,
  type Trip,
  type TripFix,
} from '../../../src/trips/trips.ts'

const stopsIn = (fixes: TripFix[]) => findStops(fixes, new Slices())
const tripsIn = (fixes: TripFix[], stops: Stop[]) => findTrips(fixes, stops, new Slices())
const wayOf = (fixes: TripFix[]) => findWay(fixes, new Slices())
const daysIn = (fixes: TripFix[], trips: Trip[], timeZone: string) =>
  summarizeDays(fixes, trips, timeZone, new Slices())

const MINUTE = 60_000
const START = Date.UTC(2026, 10, 14, 8)
const METRES_PER_DEGREE = 111_319.49

const at = (minute: number, east: number, more: Partial<TripFix> = {}): TripFix => ({
  time: START + minute * MINUTE,
  latitude: 0,
  longitude: east / METRES_PER_DEGREE,
  speed: null,
  accuracy: null,
  ...more,
})

/** Fixes after steps of minutes and metres. */
const walk = (steps: [number, number][]): TripFix[] => {
  let [minute, east] = [0, 0]
  return steps.map(([wait, way]) => {
    minute += wait
    east += way
    return at(minute, east)
  })
}

const minuteOf = (fix: TripFix | undefined) => ((fix?.time ?? 0) - START) / MINUTE

const spans = (fixes: TripFix[], list: { first: number; last: number }[]) =>
  list.map(({ first, last }) => [minuteOf(fixes[first]), minuteOf(fixes[last])])

describe('trips and stops', async () => {
  const fixes = [
    at(0, 0),
    at(10, 20),
    at(20, 5),
    at(25, 3000, { speed: 60 }),
    at(30, 8000, { speed: 72.5 }),
    at(35, 12_000),
    at(38, 12_050),
    at(60, 12_030),
    at(70, 20_000),
  ]
  const stops = await stopsIn(fixes)
  const trips = await tripsIn(fixes, stops)

  test('are the parts of the track where it stands and where it moves', async () => {
    expect(spans(fixes, stops)).toEqual([
      [0, 20],
      [35, 60],
    ])
    expect(spans(fixes, trips)).toEqual([
      [20, 35],
      [60, 70],
    ])
  })

  test('have the length of the geodesic and the top speed that was reported, or else measured', async () => {
    expect(trips[0]?.distance).toBeCloseTo(11_995, -1)
    expect(trips[0]?.topSpeed).toBe(72.5)
    expect(trips[1]?.topSpeed).toBeCloseTo(47.8, 1)
  })

  test('of a device that never moves are one stop and no trip', async () => {
    const still = Array.from({ length: 50 }, (_, index) => at(index * 10, (index % 3) * 30))
    expect(await stopsIn(still)).toEqual([{ first: 0, last: 49 }])
    expect(await tripsIn(still, await stopsIn(still))).toEqual([])
  })

  test('of nothing are nothing', async () => {
    expect(await stopsIn([])).toEqual([])
    expect(await tripsIn([], [])).toEqual([])
    expect(await tripsIn([at(0, 0)], await stopsIn([at(0, 0)]))).toEqual([])
  })

  test('across the antimeridian are as short as they are', async () => {
    const way = [
      { ...at(0, 0), longitude: 179.9 },
      { ...at(30, 0), longitude: -179.9 },
    ]
    const expected = geodesic.Geodesic.WGS84.Inverse(0, 179.9, 0, -179.9).s12 ?? 0
    expect((await tripsIn(way, []))[0]?.distance).toBeCloseTo(expected, 0)
  })
})

describe('an imprecise fix', () => {
  /** At 9 km/h, every 20 s for two hours; every twentieth is imprecise and off its way. */
  const voyage = (north: number) =>
    Array.from({ length: 361 }, (_, index) =>
      index % 20 === 10
        ? at(index / 3, index * 50, { latitude: north / METRES_PER_DEGREE, accuracy: 900 })
        : at(index / 3, index * 50),
    )

  test.each([0, 300, 900])('%i m off the way of a boat is no stop and no way', async (north) => {
    expect(await stopsIn(voyage(north))).toEqual([])
    const way = await wayOf(voyage(north))
    expect(await stopsIn(way)).toEqual([])
    const trips = await tripsIn(way, [])
    expect(trips).toHaveLength(1)
    expect(trips[0]?.distance).toBeCloseTo(18_000, -1)
    expect(trips[0]?.topSpeed).toBeCloseTo(9, 1)
    const [day] = await daysIn(way, trips, 'UTC')
    expect(day?.distance).toBeCloseTo(18_000, -1)
    expect(day?.movingMs).toBe(120 * MINUTE)
  })

  test('neither ends nor prolongs a stop', async () => {
    const fixes = [
      at(0, 0),
      at(4, 500, { accuracy: 900 }),
      at(10, 0),
      at(14, 60, { accuracy: 900 }),
      at(20, 9000),
    ]
    expect(spans(fixes, await stopsIn(fixes))).toEqual([[0, 10]])
    const way = await wayOf(fixes)
    expect(spans(way, await stopsIn(way))).toEqual([[0, 10]])
    expect((await tripsIn(way, await stopsIn(way)))[0]?.distance).toBeCloseTo(9000, -1)
  })

  test('far from the others belongs to the way', async () => {
    const far = [at(0, 0), at(30, 20_000, { accuracy: 900 }), at(60, 0)]
    expect((await tripsIn(await wayOf(far), []))[0]?.distance).toBeCloseTo(40_000, -1)
    const none = Array.from({ length: 21 }, (_, index) => at(index, index * 500, { accuracy: 600 }))
    expect((await tripsIn(await wayOf(none), []))[0]?.distance).toBeCloseTo(10_000, -1)
    expect(await stopsIn(none)).toEqual([])
    expect(await wayOf([at(0, 0, { accuracy: 1001 })])).toEqual([])
  })
})

test('trips and stops cover the track: they do not overlap and come in order', async () => {
  const steps = fc.array(
    fc.tuple(fc.integer({ min: 1, max: 20 }), fc.integer({ min: -300, max: 3000 })),
    { maxLength: 60 },
  )
  await fc.assert(
    fc.asyncProperty(steps, async (list) => {
      const fixes = walk(list)
      const stops = await stopsIn(fixes)
      const trips = await tripsIn(fixes, stops)
      const all = [...stops, ...trips].sort((a, b) => a.first - b.first || a.last - b.last)
      for (const [index, part] of all.entries()) {
        const next = all[index + 1]
        if (next) expect(next.first).toBeGreaterThanOrEqual(part.last)
      }
      for (const { first, last } of stops) {
        const [start, end] = [fixes[first] as TripFix, fixes[last] as TripFix]
        expect(end.time - start.time).toBeGreaterThanOrEqual(5 * MINUTE)
      }
    }),
  )
})

describe('a summary', () => {
  test('splits a leg at midnight of the zone', async () => {
    const fixes = [
      { ...at(0, 0), time: Date.parse('2026-11-14T22:00:00Z') },
      { ...at(0, 40_000), time: Date.parse('2026-11-15T02:00:00Z') },
    ]
    const trips = await tripsIn(fixes, [])
    const days = await daysIn(fixes, trips, 'Europe/Berlin')
    expect(
      days.map(({ date, movingMs, trips: count }) => [date, movingMs / MINUTE, count]),
    ).toEqual([
      ['2026-11-14', 60, 1],
      ['2026-11-15', 180, 0],
    ])
    expect(days[0]?.distance).toBeCloseTo(10_000, -1)
    expect(days[1]?.distance).toBeCloseTo(30_000, -1)
  })

  test('has a day of 25 hours where clocks go back', async () => {
    const fixes = [
      { ...at(0, 0), time: Date.parse('2026-10-24T22:00:00Z') },
      { ...at(0, 90_000), time: Date.parse('2026-10-25T23:00:00Z') },
    ]
    const days = await daysIn(fixes, await tripsIn(fixes, []), 'Europe/Berlin')
    expect(days.map(({ date, movingMs }) => [date, movingMs / MINUTE])).toEqual([
      ['2026-10-25', 25 * 60],
      ['2026-10-26', 0],
    ])
  })

  test('finds the days as the zone has them, also where one begins twice', async () => {
    const start = Date.parse('2010-11-06T00:00:00Z')
    const fixes = Array.from({ length: 3000 }, (_, n) => ({
      ...at(0, 0),
      time: start + n * MINUTE,
    }))
    const counts = new Map<string, number>()
    for (const { time } of fixes) {
      const day = localDay(time, 'America/St_Johns')
      counts.set(day, (counts.get(day) ?? 0) + 1)
    }
    const days = await daysIn(fixes, [], 'America/St_Johns')
    expect(days.map(({ date, locations }) => [date, locations])).toEqual([...counts])
  })

  test('of a long track gives others their turn', async () => {
    const fixes = Array.from({ length: 20_000 }, (_, n) => at(n, n * 1000))
    const slices = new Slices()
    let turns = 0
    const spend = slices.spend.bind(slices)
    slices.spend = (units) => {
      const turn = spend(units)
      if (turn) turns++
      return turn
    }
    const trips = await findTrips(fixes, await findStops(fixes, slices), slices)
    await summarizeDays(fixes, trips, 'Europe/Berlin', slices)
    expect(turns).toBeGreaterThan(15)
  })

  test('adds up to the trips', async () => {
    const steps = fc.array(
      fc.tuple(fc.integer({ min: 1, max: 900 }), fc.integer({ min: 0, max: 30_000 })),
      { maxLength: 40 },
    )
    await fc.assert(
      fc.asyncProperty(steps, async (list) => {
        const fixes = walk(list)
        const trips = await tripsIn(fixes, await stopsIn(fixes))
        const days = await daysIn(fixes, trips, 'America/St_Johns')
        const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)
        const total = sum(trips.map(({ distance }) => distance))
        expect(sum(days.map(({ distance }) => distance))).toBeCloseTo(total, 3)
        expect(sum(days.map(({ locations }) => locations))).toBe(fixes.length)
        expect(sum(days.map((day) => day.trips))).toBe(trips.length)
      }),
    )
  })
})
