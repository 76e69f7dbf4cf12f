import fc from 'fast-check'
import geodesic from 'geographiclib-geodesic'
import { describe, expect, test } from 'vitest'
import { distanceMetres, isFartherThan } from '../../../src/domain/geo/geodesy.ts'
import type { LinearRing, Position, ZoneShape } from '../../../src/domain/geo/zone.ts'
import {
  borderDistance,
  type CompiledShape,
  compileShape,
  isInside,
} from '../../../src/domain/geo/zoneGeometry.ts'
import { findShapeFault } from '../../../src/domain/geo/zoneValidity.ts'

/** As signals do: null where the border is nearer than the place is precise. */
const evaluatePlace = (
  shape: CompiledShape,
  latitude: number,
  longitude: number,
  metres: number,
) =>
  borderDistance(shape, latitude, longitude, metres) < metres
    ? null
    : isInside(shape, latitude, longitude)

const { WGS84 } = geodesic.Geodesic

const geodesicDistance = (lat1: number, lon1: number, lat2: number, lon2: number): number =>
  WGS84.Inverse(lat1, lon1, lat2, lon2).s12 ?? Number.NaN

const polygon = (...rings: LinearRing[]): ZoneShape => ({ type: 'Polygon', coordinates: rings })
const box = (west: number, south: number, east: number, north: number): LinearRing => [
  [west, south],
  [east, south],
  [east, north],
  [west, north],
  [west, south],
]
const inside = (shape: ZoneShape, longitude: number, latitude: number) =>
  isInside(compileShape(shape), latitude, longitude)
const border = (shape: ZoneShape, longitude: number, latitude: number) =>
  borderDistance(compileShape(shape), latitude, longitude, Number.POSITIVE_INFINITY)

const latitudes = fc.double({ min: -90, max: 90, noNaN: true })
const longitudes = fc.double({ min: -180, max: 180, noNaN: true })

describe('distanceMetres', () => {
  test('agrees with the geodesic within 0.02 %, but for nearly antipodal places', () => {
    fc.assert(
      fc.property(latitudes, longitudes, latitudes, longitudes, (lat1, lon1, lat2, lon2) => {
        const expected = geodesicDistance(lat1, lon1, lat2, lon2)
        fc.pre(expected < 15_000_000)
        const found = distanceMetres(lat1, lon1, lat2, lon2)
        expect(Math.abs(found - expected)).toBeLessThanOrEqual(0.0002 * expected + 0.001)
      }),
      { numRuns: 3000 },
    )
  })

  test('is 0 for one place, also with another turn of its longitude', () => {
    expect(distanceMetres(12.5, 180, 12.5, -180)).toBeLessThan(1e-6)
    expect(distanceMetres(90, 20, 90, -130)).toBeLessThan(1e-6)
    expect(distanceMetres(5, 7, 5, 7)).toBe(0)
  })
})

test('a box that counts as farther away is', () => {
  fc.assert(
    fc.property(
      latitudes,
      longitudes,
      latitudes,
      longitudes,
      fc.double({ min: 1, max: 9_000_000, noNaN: true }),
      (lat1, lon1, lat2, lon2, metres) => {
        const point = { south: lat2, north: lat2, west: lon2, width: 0 }
        if (isFartherThan(point, lat1, lon1, metres))
          expect(geodesicDistance(lat1, lon1, lat2, lon2)).toBeGreaterThan(metres)
      },
    ),
    { numRuns: 5000 },
  )
})

describe('a circle', () => {
  test('contains what is nearer than its radius, anywhere', () => {
    const radius = fc.double({ min: 1, max: 3_000_000, noNaN: true })
    const part = fc.double({ min: 0, max: 2, noNaN: true })
    const azimuth = fc.double({ min: 0, max: 360, noNaN: true })
    fc.assert(
      fc.property(latitudes, longitudes, radius, part, azimuth, (lat, lon, metres, away, to) => {
        fc.pre(Math.abs(away - 1) > 0.0005)
        const place = WGS84.Direct(lat, lon, to, metres * away)
        const circle = compileShape({ type: 'Circle', center: [lon, lat], radius: metres })
        const [lat2, lon2] = [place.lat2 ?? 0, place.lon2 ?? 0]
        expect(isInside(circle, lat2, lon2)).toBe(away < 1)
        const distance = borderDistance(circle, lat2, lon2, Number.POSITIVE_INFINITY)
        expect(Math.abs(distance - metres * Math.abs(away - 1))).toBeLessThan(0.0005 * metres + 0.1)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('a polygon', () => {
  test('has holes', () => {
    const shape = polygon(box(0, 0, 10, 10), box(4, 4, 6, 6))
    expect(inside(shape, 1, 1)).toBe(true)
    expect(inside(shape, 5, 5)).toBe(false)
    expect(inside(shape, 11, 5)).toBe(false)
    expect(border(shape, 5, 5)).toBeCloseTo(geodesicDistance(5, 5, 4, 5), -1)
  })

  test('crosses the antimeridian in each way of writing it', () => {
    const ways: ZoneShape[] = [
      polygon(box(170, -10, -170, 10)),
      polygon(box(170, -10, 190, 10)),
      polygon(box(-190, -10, -170, 10)),
      {
        type: 'MultiPolygon',
        coordinates: [[box(170, -10, 180, 10)], [box(-180, -10, -170, 10)]],
      },
      polygon([
        [170, -10],
        [180, -10],
        [-180, -10],
        [-170, -10],
        [-170, 10],
        [-180, 10],
        [180, 10],
        [170, 10],
        [170, -10],
      ]),
    ]
    for (const shape of ways) {
      expect(findShapeFault(shape)).toBeNull()
      for (const longitude of [171, 179.9, 180, -180, -179.9, -171])
        expect(inside(shape, longitude, 5)).toBe(true)
      for (const longitude of [169, -169, 0, 10, -10])
        expect(inside(shape, longitude, 5)).toBe(false)
      // The cut along the antimeridian is no border.
      expect(border(shape, 180, 0)).toBeGreaterThan(1_000_000)
      expect(evaluatePlace(compileShape(shape), 0, -179.999, 10_000)).toBe(true)
      expect(evaluatePlace(compileShape(shape), 0, 170.01, 10_000)).toBeNull()
    }
  })

  test('goes around a pole', () => {
    const arctic: Position[] = [
      [0, 66],
      [90, 66],
      [180, 66],
      [-90, 66],
      [0, 66],
    ]
    const ways: ZoneShape[] = [
      polygon(arctic),
      polygon([...arctic].reverse()),
      polygon(box(-180, 66, 180, 90)),
      polygon([
        [-180, 66],
        [0, 66],
        [180, 66],
        [180, 90],
        [0, 90],
        [-180, 90],
        [-180, 66],
      ]),
    ]
    for (const shape of ways) {
      expect(findShapeFault(shape)).toBeNull()
      for (const longitude of [-180, -91, 0, 33, 179.99, 180]) {
        expect(inside(shape, longitude, 67)).toBe(true)
        expect(inside(shape, longitude, 90)).toBe(true)
        expect(inside(shape, longitude, 65)).toBe(false)
        expect(inside(shape, longitude, -90)).toBe(false)
        const expected = geodesicDistance(67, longitude, 66, longitude)
        expect(Math.abs(border(shape, longitude, 67) - expected)).toBeLessThan(0.006 * expected)
      }
    }
    const south = polygon(arctic.map(([x, y]) => [x, -y] as Position))
    expect(inside(south, 12, -89)).toBe(true)
    expect(inside(south, 12, -90)).toBe(true)
    expect(inside(south, 12, -65)).toBe(false)
    expect(inside(south, 12, 90)).toBe(false)
    expect(border(south, 12, -90)).toBeCloseTo(geodesicDistance(-90, 0, -66, 0), -3)
  })

  test('may have a hole around the pole', () => {
    const ring = (latitude: number): LinearRing => box(-180, latitude, 180, 90)
    const belt = polygon(ring(60), [
      [0, 80],
      [120, 80],
      [-120, 80],
      [0, 80],
    ])
    expect(findShapeFault(belt)).toBeNull()
    expect(inside(belt, 50, 70)).toBe(true)
    expect(inside(belt, 50, 85)).toBe(false)
    expect(inside(belt, 50, 50)).toBe(false)
  })

  /** A star around a center, so that it never crosses itself. */
  const star = fc
    .record({
      latitude: fc.double({ min: -84, max: 84, noNaN: true }),
      longitude: longitudes,
      radii: fc.array(fc.double({ min: 0.2, max: 1, noNaN: true }), {
        minLength: 3,
        maxLength: 40,
      }),
      size: fc.double({ min: 0.001, max: 0.9, noNaN: true }),
    })
    .map(({ latitude, longitude, radii, size }) => {
      const ring = radii.map((radius, index): Position => {
        const angle = (2 * Math.PI * index) / radii.length
        const x = longitude + 3 * size * radius * Math.cos(angle)
        return [((((x + 180) % 360) + 360) % 360) - 180, latitude + size * radius * Math.sin(angle)]
      })
      return { latitude, longitude, size, ring: [...ring, ring[0] as Position] }
    })

  /** Ray casting in a plane that is centred on the ring. */
  const isInPlane = (ring: LinearRing, center: number, x: number, y: number): boolean => {
    const near = (value: number) => value - 360 * Math.round((value - center) / 360)
    let odd = false
    for (let i = 1; i < ring.length; i++) {
      const [[x1, y1], [x2, y2]] = [ring[i - 1] as Position, ring[i] as Position]
      if (y1 > y === y2 > y) continue
      const crossing = near(x1) + ((near(x2) - near(x1)) * (y - y1)) / (y2 - y1)
      if (near(x) < crossing) odd = !odd
    }
    return odd
  }

  test('contains what a plane around it says', () => {
    const offset = fc.double({ min: -1.2, max: 1.2, noNaN: true })
    fc.assert(
      fc.property(star, offset, offset, ({ latitude, longitude, size, ring }, east, north) => {
        const x = longitude + 3 * size * east
        const y = Math.max(-90, Math.min(90, latitude + size * north))
        const wrapped = ((((x + 180) % 360) + 360) % 360) - 180
        expect(inside(polygon(ring), wrapped, y)).toBe(isInPlane(ring, longitude, wrapped, y))
        expect(findShapeFault(polygon(ring))).toBeNull()
      }),
      { numRuns: 5000 },
    )
  })

  test('is as far from a place as the nearest point of its edges, within 0.6 %', () => {
    const offset = fc.double({ min: -2, max: 2, noNaN: true })
    fc.assert(
      fc.property(star, offset, offset, ({ latitude, longitude, size, ring }, east, north) => {
        const x = longitude + 3 * size * east
        const y = Math.max(-85, Math.min(85, latitude + size * north))
        let expected = Number.POSITIVE_INFINITY
        for (let i = 1; i < ring.length; i++) {
          const [[x1, y1], [x2, y2]] = [ring[i - 1] as Position, ring[i] as Position]
          const width = x2 - x1 - 360 * Math.round((x2 - x1) / 360)
          let [from, to] = [0, 1]
          // Narrows the nearest of a hundred points down.
          for (let round = 0; round < 3; round++) {
            let best = { part: 0, distance: Number.POSITIVE_INFINITY }
            for (let k = 0; k <= 60; k++) {
              const part = from + ((to - from) * k) / 60
              const distance = geodesicDistance(y, x, y1 + (y2 - y1) * part, x1 + width * part)
              if (distance < best.distance) best = { part, distance }
            }
            expected = Math.min(expected, best.distance)
            const step = (to - from) / 60
            ;[from, to] = [Math.max(0, best.part - step), Math.min(1, best.part + step)]
          }
        }
        const found = border(polygon(ring), x, y)
        expect(Math.abs(found - expected)).toBeLessThanOrEqual(0.006 * expected + 0.05)
        const compiled = compileShape(polygon(ring))
        expect(borderDistance(compiled, y, x, expected * 1.01 + 1)).toBeCloseTo(found, 6)
        expect(borderDistance(compiled, y, x, expected * 0.99 - 1)).toBe(Number.POSITIVE_INFINITY)
      }),
      { numRuns: 60 },
    )
  })
})

test('a place that is less precise than its distance to the border decides nothing', () => {
  const harbour = compileShape({ type: 'Circle', center: [-9.1, 38.7], radius: 500 })
  expect(evaluatePlace(harbour, 38.7, -9.1, 10_000)).toBeNull()
  expect(evaluatePlace(harbour, 38.7, -9.1, 400)).toBe(true)
  expect(evaluatePlace(harbour, 38.8, -9.1, 10_000)).toBe(false)
  expect(evaluatePlace(harbour, 38.8, -9.1, 11_000)).toBeNull()
})

describe('a shape is refused', () => {
  const faultOf = (...rings: LinearRing[]) => findShapeFault(polygon(...rings))

  test.each<[string, LinearRing[], (string | number)[], RegExp]>([
    ['that is open', [box(0, 0, 1, 1).slice(0, 4)], ['coordinates', 0], /closed/],
    ['with too few positions', [box(0, 0, 1, 1).slice(0, 3)], ['coordinates', 0], /4 positions/],
    [
      'that crosses itself',
      [
        [
          [0, 0],
          [1, 1],
          [1, 0],
          [0, 1],
          [0, 0],
        ],
      ],
      ['coordinates', 0],
      /cross or touch/,
    ],
    [
      'that crosses itself beyond the antimeridian',
      [
        [
          [179.5, 0],
          [-179.5, 1],
          [-179.5, 0],
          [179.5, 1],
          [179.5, 0],
        ],
      ],
      ['coordinates', 0],
      /cross or touch/,
    ],
    [
      'with a spike',
      [
        [
          [0, 0],
          [2, 0],
          [1, 0],
          [1, 1],
          [0, 0],
        ],
      ],
      ['coordinates', 0],
      /cross or touch/,
    ],
    [
      'that encloses nothing',
      [
        [
          [0, 0],
          [1, 1],
          [2, 2],
          [0, 0],
        ],
      ],
      ['coordinates', 0],
      /area|cross/,
    ],
    [
      'with a hole across its border',
      [box(0, 0, 4, 4), box(3, 3, 5, 5)],
      ['coordinates', 1],
      /cross/,
    ],
    ['with a hole outside', [box(0, 0, 4, 4), box(6, 6, 7, 7)], ['coordinates', 1], /inside/],
  ])('%s', (_, rings, path, detail) => {
    expect(faultOf(...rings)).toEqual({ path, detail: expect.stringMatching(detail) })
  })

  test('whose polygons cross each other', () => {
    const coordinates = [[box(0, 0, 4, 4)], [box(3, 3, 5, 5)]]
    expect(findShapeFault({ type: 'MultiPolygon', coordinates })?.path).toEqual(['coordinates', 1])
    const apart = [[box(0, 0, 4, 4)], [box(4, 4, 5, 5)]]
    expect(findShapeFault({ type: 'MultiPolygon', coordinates: apart })).toBeNull()
  })
})
