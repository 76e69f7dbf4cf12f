import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Notation, notationsOf } from '../../../../console/format/notations.ts'

const write = (latitude: number, longitude: number) =>
  Object.fromEntries(
    notationsOf({ latitude, longitude }).map(({ kind, value }) => [kind, value]),
  ) as Record<Notation['kind'], string | null>

/** The CN Tower, whose coordinates are published in each notation. */
const TOWER = [43 + 38 / 60 + 33.24 / 3600, -(79 + 23 / 60 + 13.7 / 3600)] as const

describe('a place in the notations of rescue teams', () => {
  test('is that of the published example', () => {
    expect(write(...TOWER)).toEqual({
      decimal: '43.64257, -79.38714',
      dms: '43° 38′ 33.2″ N, 079° 23′ 13.7″ W',
      ddm: '43° 38.554′ N, 079° 23.228′ W',
      utm: '17T 630084mE 4833438mN',
      mgrs: '17T PJ 30084 33438',
    })
  })

  test('never has 60 minutes or 60 seconds', () => {
    const { dms, ddm } = write(9.9999999, -0.9999999)
    expect(dms).toBe('10° 00′ 00.0″ N, 001° 00′ 00.0″ W')
    expect(ddm).toBe('10° 00.000′ N, 001° 00.000′ W')
  })

  test('begins the southern hemisphere only below the equator', () => {
    expect(write(0, 0).utm).toBe('31N 166021mE 0mN')
    expect(write(-1e-12, 0).utm).toBe('31N 166021mE 0mN')
    expect(write(-1e-12, 0).decimal).toBe('0.00000, 0.00000')
    expect(write(-0.00001, 0).utm).toBe('31M 166021mE 9999998mN')
  })

  test.each([
    ['Bergen, in the wider zone of Norway', 60.39, 5.32, '32V'],
    ['south of that zone', 55.99, 5.32, '31U'],
    ['north of that zone', 64, 5.32, '31W'],
    ['Svalbard, west', 78, 8.9, '31X'],
    ['Longyearbyen', 78.22, 15.65, '33X'],
    ['Svalbard, 9° E', 78, 9, '33X'],
    ['Svalbard, 21° E', 80, 21, '35X'],
    ['Svalbard, 33° E', 83.9999, 33, '37X'],
    ['south of the zones of Svalbard', 71.9, 8.9, '32W'],
    ['the antimeridian, west of it', -17, 179.9999, '60K'],
    ['the antimeridian, east of it', -17, -179.9999, '1K'],
    ['the southernmost band', -80, 3, '31C'],
  ])('has the right zone: %s', (_, latitude, longitude, zone) => {
    const { utm, mgrs } = write(latitude, longitude)
    expect(utm?.split(' ')[0]).toBe(zone)
    expect(mgrs?.split(' ')[0]).toBe(zone)
  })

  test.each([84, 89.9, 90, -80.0001, -90])('has no UTM and no MGRS at latitude %d', (latitude) => {
    const { utm, mgrs, dms } = write(latitude, 20)
    expect([utm, mgrs]).toEqual([null, null])
    expect(dms).toContain('020°')
  })

  test('has the same metres in UTM as in MGRS', () => {
    const latitude = fc.double({ min: -80, max: 83.999, noNaN: true })
    const longitude = fc.double({ min: -180, max: 180, noNaN: true })
    fc.assert(
      fc.property(latitude, longitude, (at, along) => {
        const { utm, mgrs } = write(at, along)
        const [, east = 0, north = 0] = (utm ?? '').match(/\d+/g)?.map(Number) ?? []
        const [squareEast = NaN, squareNorth = NaN] = mgrs?.split(' ').slice(2).map(Number) ?? []
        for (const [a, b] of [
          [east, squareEast],
          [north, squareNorth],
        ] as const) {
          const apart = Math.abs((a % 100_000) - b)
          expect(Math.min(apart, 100_000 - apart)).toBeLessThanOrEqual(1)
        }
      }),
      { numRuns: 500 },
    )
  })
})
