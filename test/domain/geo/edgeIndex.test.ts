import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { edgeDistance, edgeWork } from '../../../src/domain/geo/edgeDistance.ts'
import { EdgeIndex } from '../../../src/domain/geo/edgeIndex.ts'
import { distanceMetres } from '../../../src/domain/geo/geodesy.ts'
import {
  type LinearRing,
  type Position,
  polygonsOf,
  type ZoneShape,
} from '../../../src/domain/geo/zone.ts'
import { type Edge, edgesOf, findBorder } from '../../../src/domain/geo/zoneBorder.ts'
import {
  borderDistance,
  compiledBytes,
  compileShape,
  isInside,
} from '../../../src/domain/geo/zoneGeometry.ts'
import {
  enclosesNorthPole,
  type UnwrappedRing,
  unwrapRing,
} from '../../../src/domain/geo/zoneRing.ts'
import { findShapeFault } from '../../../src/domain/geo/zoneValidity.ts'
import { cpuTimeMs } from '../../support/cpuTime.ts'

const degrees = (min: number, max: number) => fc.double({ min, max, noNaN: true })
const close = (positions: Position[]): LinearRing => [...positions, positions[0] as Position]
const wrap = (x: number): number => ((((x + 180) % 360) + 360) % 360) - 180

/** Any positions near a middle, which often is on the antimeridian. The ring may cross itself. */
const tangle = fc
  .record({
    middle: fc.tuple(fc.oneof(fc.constant(180), degrees(-180, 180)), degrees(-88, 88)),
    size: fc.constantFrom(0.001, 0.3, 20, 170),
    offsets: fc.array(fc.tuple(degrees(-1, 1), degrees(-1, 1)), { minLength: 3, maxLength: 70 }),
  })
  .map(({ middle: [x, y], size, offsets }) =>
    close(
      offsets.map(
        ([east, north]): Position => [
          wrap(x + size * east),
          Math.max(-90, Math.min(90, y + size * north)),
        ],
      ),
    ),
  )

/** Once around a pole, which side its mean latitude says. */
const aroundPole = fc
  .record({
    latitudes: fc.array(degrees(20, 90), { minLength: 4, maxLength: 60 }),
    isSouth: fc.boolean(),
  })
  .map(({ latitudes, isSouth }) =>
    close(
      latitudes.map(
        (latitude, at): Position => [
          wrap(-180 + (360 * at) / latitudes.length),
          isSouth ? -latitude : latitude,
        ],
      ),
    ),
  )

const aroundWorld = fc.constantFrom<LinearRing>(
  close([
    [-180, 66],
    [180, 66],
    [180, 90],
    [-180, 90],
  ]),
  close([
    [-180, -90],
    [180, -90],
    [180, 90],
    [-180, 90],
  ]),
)
const ring = fc.oneof(tangle, aroundPole, aroundWorld)
const rings = fc.array(ring, { minLength: 1, maxLength: 4 })

/** The ring nearer to its first position, or to its pole. */
const shrink = (exterior: LinearRing, factor: number): LinearRing => {
  const unwrapped = unwrapRing(exterior)
  const [x, y] = exterior[0] as Position
  const pole = enclosesNorthPole(unwrapped) ? 90 : -90
  return exterior.map((_, at): Position => {
    const [ownX, ownY] = [unwrapped.longitudes[at] ?? x, unwrapped.latitudes[at] ?? y]
    return unwrapped.turns === 0
      ? [x + factor * (ownX - x), y + factor * (ownY - y)]
      : [ownX, pole + factor * (ownY - pole)]
  })
}
const polygons = fc
  .tuple(ring, fc.array(degrees(0.1, 0.9), { maxLength: 3 }))
  .map(([exterior, factors]) => [exterior, ...factors.map((factor) => shrink(exterior, factor))])
const shapes: fc.Arbitrary<ZoneShape> = fc.oneof(
  polygons.map((coordinates) => ({ type: 'Polygon' as const, coordinates })),
  fc.array(polygons, { minLength: 1, maxLength: 3 }).map((coordinates) => ({
    type: 'MultiPolygon' as const,
    coordinates,
  })),
  fc.tuple(degrees(-180, 180), degrees(-90, 90), degrees(1, 3_000_000)).map(([x, y, radius]) => ({
    type: 'Circle' as const,
    center: [x, y] as Position,
    radius,
  })),
)

const isInPlainRing = (ring: UnwrappedRing, latitude: number, longitude: number): boolean => {
  const { longitudes, latitudes } = ring
  let inside = enclosesNorthPole(ring)
  for (let i = 1; i < longitudes.length; i++) {
    const [from, to] = [longitudes[i - 1] as number, longitudes[i] as number]
    if (from === to) continue
    const [west, width] = from < to ? [from, to - from] : [to, from - to]
    let east = (longitude - west) % 360
    if (east < 0) east += 360
    if (east >= width) continue
    const [y1, y2] = [latitudes[i - 1] as number, latitudes[i] as number]
    const [start, end] = from < to ? [y1, y2] : [y2, y1]
    const crossing = start + ((end - start) * east) / width
    if (crossing > latitude || crossing >= 90) inside = !inside
  }
  return inside
}

/** Without indexes and boxes: all rings and edges, one by one. */
const evaluatePlainly = (shape: ZoneShape, latitude: number, longitude: number) => {
  if (shape.type === 'Circle') {
    const [x, y] = shape.center
    const away = distanceMetres(y, x, latitude, longitude)
    return { isInside: away <= shape.radius, distance: Math.abs(away - shape.radius) }
  }
  const unwrapped = polygonsOf(shape).map((own) => own.map(unwrapRing))
  const edges = findBorder(unwrapped).flat()
  const distances = edges.map((edge) =>
    edgeDistance(edge, latitude, longitude, Number.POSITIVE_INFINITY),
  )
  return {
    isInside: unwrapped.some(
      ([exterior, ...holes]) =>
        exterior !== undefined &&
        isInPlainRing(exterior, latitude, longitude) &&
        !holes.some((hole) => isInPlainRing(hole, latitude, longitude)),
    ),
    distance: Math.min(...distances),
  }
}

/** Anywhere, or on or beside a position of the shape. */
const placeOf = (shape: ZoneShape, pick: number, offset: Position): Position => {
  const positions = shape.type === 'Circle' ? [shape.center] : polygonsOf(shape).flat(2)
  const [x, y] = positions[pick % positions.length] as Position
  return [wrap(x + offset[0]), Math.max(-90, Math.min(90, y + offset[1]))]
}
const offsets = fc.tuple(
  fc.oneof(fc.constant(0), degrees(-0.001, 0.001), degrees(-180, 180)),
  fc.oneof(fc.constant(0), degrees(-0.001, 0.001), degrees(-90, 90)),
)

describe('with the index of its edges', () => {
  test('a shape contains the same places and is as far from them as without', () => {
    fc.assert(
      fc.property(
        shapes,
        fc.array(fc.tuple(fc.nat(), offsets), { minLength: 1, maxLength: 8 }),
        fc.constantFrom(5, 10_000, 100_000, 1e6, Number.POSITIVE_INFINITY),
        (shape, places, limit) => {
          const compiled = compileShape(shape)
          for (const [pick, offset] of places) {
            const [longitude, latitude] = placeOf(shape, pick, offset)
            const expected = evaluatePlainly(shape, latitude, longitude)
            expect(isInside(compiled, latitude, longitude)).toBe(expected.isInside)
            const distance = borderDistance(compiled, latitude, longitude, limit)
            if (expected.distance > limit) expect(distance).toBe(Number.POSITIVE_INFINITY)
            // Micrometres may be rounded away.
            else if (distance !== expected.distance)
              expect(distance).toBeCloseTo(expected.distance, 5)
          }
        },
      ),
      { numRuns: 800 },
    )
  })

  test('every edge is found that overlaps another in latitude and, in some turn, longitude', () => {
    const overlaps = (a: Edge, b: Edge) => {
      if (Math.max(a.y1, a.y2) < Math.min(b.y1, b.y2)) return false
      if (Math.min(a.y1, a.y2) > Math.max(b.y1, b.y2)) return false
      return [-720, -360, 0, 360, 720].some(
        (turn) =>
          Math.max(a.x1, a.x2) >= Math.min(b.x1, b.x2) + turn &&
          Math.min(a.x1, a.x2) <= Math.max(b.x1, b.x2) + turn,
      )
    }
    fc.assert(
      fc.property(rings, fc.nat({ max: 20 }), (given, first) => {
        const edges = given.flatMap((ring) => edgesOf(unwrapRing(ring)))
        const index = new EdgeIndex(edges)
        for (const edge of edges) {
          const found = new Set<number>()
          index.someNear(edge, first, (other, at) => {
            expect(other).toEqual(edges[at])
            found.add(at)
            return false
          })
          for (const [at, other] of edges.entries())
            if (at >= first && overlaps(edge, other)) expect(found).toContain(at)
          expect(Math.min(first, ...found)).toBe(first)
        }
      }),
      { numRuns: 60 },
    )
  })

  test('an evaluation looks at few of the edges of a large zone', () => {
    const positions = Array.from({ length: 1000 }, (_, at): Position => {
      const angle = (2 * Math.PI * at) / 1000
      const radius = at % 2 ? 0.05 : 0.06
      return [radius * Math.cos(angle), radius * Math.sin(angle)]
    })
    const index = new EdgeIndex(edgesOf(unwrapRing(close(positions))))
    const before = edgeWork.units
    expect(index.isOddNorthOf(0.02, 0.03)).toBe(true)
    expect(index.distanceTo(0.02, 0.03, 100_000)).toBeLessThan(3000)
    // A walk over all edges would cost 200.
    expect(edgeWork.units - before).toBeLessThan(30)
    expect(
      compiledBytes(compileShape({ type: 'Polygon', coordinates: [close(positions)] })),
    ).toBeGreaterThan(2 * 1000 * 32)
  })
})

test('the largest zones are validated in little time', () => {
  /** Teeth whose boxes all overlap, so that every edge is compared with every other. */
  const toothAt = (at: number, north: number): Position => {
    const y = (at % 2 ? 4 : 0) + north
    return [at / 125 + y, y]
  }
  const teeth = close([
    ...Array.from({ length: 500 }, (_, at) => toothAt(at, 0)),
    ...Array.from({ length: 500 }, (_, at) => toothAt(499 - at, 0.001)),
  ])
  const triangles = Array.from({ length: 333 }, (_, at): LinearRing => {
    const [x, y] = [at % 20, Math.floor(at / 20)]
    return close([
      [x, y],
      [x + 0.5, y],
      [x, y + 0.5],
    ])
  })
  const shapeList: ZoneShape[] = [
    { type: 'Polygon', coordinates: [teeth] },
    { type: 'MultiPolygon', coordinates: triangles.map((ring) => [ring]) },
  ]
  for (const shape of shapeList) {
    expect(findShapeFault(shape)).toBeNull()
    expect(cpuTimeMs(() => findShapeFault(shape))).toBeLessThan(200)
  }
})
