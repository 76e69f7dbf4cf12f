import { describe, expect, test } from 'vitest'
import {
  boundsOf,
  distanceBetween,
  drawnPolygons,
  editableRings,
  type Position,
  polygonOf,
  type Shape,
  withRing,
} from '../../../../console/pages/zones/shape.ts'
import { EMPTY_SHAPE, parseShape, typedOf } from '../../../../console/pages/zones/typedShape.ts'
import {
  handlesOf,
  insertCorner,
  moveHandle,
  nearestHandle,
  removeCorner,
} from '../../../../console/pages/zones/zoneHandles.ts'

const ringOf = (shape: Shape): Position[] => drawnPolygons(shape)[0]?.[0] ?? []
const maxStep = (ring: Position[]): number =>
  Math.max(...ring.slice(1).map(([x], at) => Math.abs(x - (ring[at]?.[0] ?? 0))))

const ACROSS: Shape = polygonOf([
  [178, -18],
  [-178, -18],
  [-178, -14],
  [178, -14],
])

describe('a zone on the map', () => {
  test('goes on beyond 180 across the antimeridian', () => {
    expect(ringOf(ACROSS)).toEqual([
      [178, -18],
      [182, -18],
      [182, -14],
      [178, -14],
      [178, -18],
    ])
    expect(boundsOf(ACROSS)).toEqual([178, -18, 182, -14])
  })

  test('has its hole beside its border, whichever way the hole is written', () => {
    const hole = [
      [-179, -17],
      [-179, -15],
      [179, -15],
      [-179, -17],
    ]
    const coordinates = [...(ACROSS as { coordinates: number[][][] }).coordinates, hole]
    const [, drawn] = drawnPolygons({ type: 'Polygon', coordinates })[0] ?? []
    expect(drawn?.map(([x]) => x)).toEqual([181, 181, 179, 181])
  })

  test('is drawn as a circle on the ground: every place of its border is as far away', () => {
    for (const center of [
      [-9.1, 38.7],
      [179.99, -17],
      [20, 78],
    ] as Position[]) {
      const ring = ringOf({ type: 'Circle', center, radius: 50_000 })
      for (const place of ring) expect(distanceBetween(center, place)).toBeCloseTo(50_000, 3)
      expect(maxStep(ring)).toBeLessThan(10)
    }
  })

  test.each([
    ['north', [10, 89] as Position],
    ['south', [10, -89] as Position],
  ])('around the %s pole a circle is closed along the edge of the map', (_, center) => {
    const ring = ringOf({ type: 'Circle', center, radius: 500_000 })
    const [west, south, east, north] = boundsOf({ type: 'Circle', center, radius: 500_000 })
    expect(east - west).toBeCloseTo(360, 6)
    expect(center[1] > 0 ? north : south).toBe(center[1] > 0 ? 90 : -90)
    expect(ring.at(-1)).toEqual(ring[0])
  })

  test('around a pole a polygon is closed along the edge of the map', () => {
    const shape = polygonOf([
      [-120, 70],
      [0, 72],
      [120, 71],
    ])
    const [west, south, east, north] = boundsOf(shape)
    expect([east - west, south, north]).toEqual([360, 70, 90])
  })
})

describe('the handles of a shape', () => {
  const square = polygonOf([
    [0, 0],
    [2, 0],
    [2, 2],
    [0, 2],
  ])
  const handle = (shape: Shape, kind: string, at = 0) =>
    handlesOf(shape).filter((one) => one.kind === kind)[at] as ReturnType<typeof handlesOf>[number]

  test('move a corner, and keep the ring closed', () => {
    const moved = moveHandle(square, handle(square, 'corner'), [-1, -1])
    expect(ringOf(moved)[0]).toEqual([-1, -1])
    expect(ringOf(moved).at(-1)).toEqual([-1, -1])
    expect(editableRings(moved as typeof square)[0]).toHaveLength(4)
  })

  test('make a corner of the middle of an edge, across the antimeridian too', () => {
    const more = insertCorner(ACROSS, handle(ACROSS, 'middle'))
    expect(editableRings(more as typeof square)[0]?.[1]).toEqual([180, -18])
  })

  test('remove a corner, but leave three', () => {
    const three = removeCorner(square, handle(square, 'corner', 1)) as typeof square
    expect(editableRings(three)[0]).toEqual([
      [0, 0],
      [2, 2],
      [0, 2],
    ])
    expect(removeCorner(three, handle(three, 'corner'))).toBeNull()
  })

  test('are found near the pointer, on any copy of the world', () => {
    const project = ([x, y]: Position) => ({ x: x * 10, y: -y * 10 })
    const at = (x: number, y: number) => nearestHandle(square, { x, y }, project)
    expect(at(21, -19)).toMatchObject({ kind: 'corner', at: 2 })
    expect(at(21 + 3600, -19)).toMatchObject({ kind: 'corner', at: 2 })
    expect(at(10, -1)).toMatchObject({ kind: 'middle', at: 0 })
    expect(at(60, -60)).toBeNull()
  })

  test('move a circle and change its radius', () => {
    const circle: Shape = { type: 'Circle', center: [0, 0], radius: 1000 }
    expect(moveHandle(circle, handle(circle, 'center'), [1, 1])).toEqual({
      ...circle,
      center: [1, 1],
    })
    const wider = moveHandle(circle, handle(circle, 'radius'), [1, 0])
    expect((wider as { radius: number }).radius).toBe(111_195)
  })

  test('change one ring of several', () => {
    const both: Shape = {
      type: 'MultiPolygon',
      coordinates: [square.coordinates, [[...(square.coordinates[0] ?? [])]]],
    }
    const changed = withRing(both, 1, [
      [5, 5],
      [6, 5],
      [6, 6],
    ])
    expect(editableRings(changed)[0]).toEqual(editableRings(square)[0])
    expect(editableRings(changed)[1]).toHaveLength(3)
  })
})

describe('a typed shape', () => {
  const typed = (changes: Partial<typeof EMPTY_SHAPE>) => parseShape({ ...EMPTY_SHAPE, ...changes })

  test('is read from lines of latitude and longitude', () => {
    const corners = '38.6, -9.5\n38.8 -9.5\n\n38.8; -9.2\n'
    expect(typed({ corners })).toEqual({
      shape: {
        type: 'Polygon',
        coordinates: [
          [
            [-9.5, 38.6],
            [-9.5, 38.8],
            [-9.2, 38.8],
            [-9.5, 38.6],
          ],
        ],
      },
    })
  })

  test('may repeat the first corner', () => {
    const parsed = typed({ corners: '0, 0\n0, 1\n1, 1\n0, 0' })
    expect(
      'shape' in parsed && editableRings(parsed.shape as typeof ACROSS & object)[0],
    ).toHaveLength(3)
  })

  test('says what is missing', () => {
    expect(typed({ corners: '1, 1\nhere' })).toEqual({ fault: 'corner', line: 2 })
    expect(typed({ corners: '1, 1\n2, 2' })).toEqual({ fault: 'few' })
    expect(typed({ kind: 'Circle' })).toEqual({ fault: 'center' })
    const center = { kind: 'Circle', latitude: '1', longitude: '2' } as const
    expect(typed({ ...center, radius: 'far' })).toEqual({ fault: 'radius' })
    expect(typed({ kind: 'GeoJSON', geoJson: '{"type":"Point"}' })).toEqual({ fault: 'json' })
    expect(typed({ kind: 'GeoJSON', geoJson: '{"type":"Polygon"}' })).toEqual({ fault: 'json' })
    const words = '{"type":"Polygon","coordinates":[[["a","b"],["c","d"],["a","b"]]]}'
    expect(typed({ kind: 'GeoJSON', geoJson: words })).toEqual({ fault: 'json' })
  })

  test('is the same after it was written and read', () => {
    const shapes: Shape[] = [
      ACROSS,
      { type: 'Circle', center: [-9.1, 38.7], radius: 500 },
      {
        type: 'MultiPolygon',
        coordinates: [(ACROSS as { coordinates: number[][][] }).coordinates],
      },
    ]
    for (const shape of shapes) expect(parseShape(typedOf(shape))).toEqual({ shape })
  })
})
