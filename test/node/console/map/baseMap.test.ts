import { describe, expect, test } from 'vitest'
import { makeBaseMap, makeDetails } from '../../../../console/build/baseMap.ts'
import { unwrap, unwrapPolygon } from '../../../../console/build/rings.ts'

describe('a line across the antimeridian', () => {
  test('continues beyond 180° instead of jumping to the other edge', () => {
    expect(
      unwrap([
        [179, 10],
        [-179, 11],
        [-178, 12],
        [179, 13],
      ]),
    ).toEqual([
      [179, 10],
      [181, 11],
      [182, 12],
      [179, 13],
    ])
  })

  test('takes the holes of its polygon along', () => {
    const [, hole] = unwrapPolygon([
      [
        [170, 0],
        [-170, 0],
        [-170, 20],
        [170, 20],
        [170, 0],
      ],
      [
        [-175, 5],
        [-174, 5],
        [-174, 6],
        [-175, 5],
      ],
    ])
    expect(hole?.[0]).toEqual([185, 5])
  })

  test('around a pole is closed along the pole', () => {
    const [ring = []] = unwrapPolygon([
      [
        [-180, -70],
        [-60, -75],
        [60, -70],
        [180, -70],
      ],
    ])
    expect(ring).toContainEqual([180, -90])
    expect(ring.at(-1)).toEqual(ring[0])
  })
})

type Line = number[][]
interface Land {
  features: { properties: { kind: string }; geometry: { coordinates: unknown } }[]
}

const shapeOf = (land: Land, kind: string) =>
  land.features.find(({ properties }) => properties.kind === kind)?.geometry.coordinates

const ringsOf = (land: Land, kind: string) => (shapeOf(land, kind) as Line[][]).flat()

/** The lines that are drawn as shores: outlines of land, and the open coast of Antarctica. */
const shoresOf = (land: Land) => [...ringsOf(land, 'land'), ...(shapeOf(land, 'coast') as Line[])]

const edgesOf = (line: Line) => line.slice(1).map((point, at) => [line[at], point])

// Made once and outside of the tests: it takes seconds on a busy machine.
const baseMap = makeBaseMap()
const details = makeDetails()

describe.each([
  ['the base map', baseMap.land],
  ['its details', details.land],
])('%s', (_, land: Land) => {
  test('has no edge that crosses half of the world, except along a pole', () => {
    const long = [...shoresOf(land), ...ringsOf(land, 'polar')]
      .flatMap(edgesOf)
      .filter(([a, b]) => Math.abs((a?.[0] ?? 0) - (b?.[0] ?? 0)) > 180 && (a?.[1] ?? 0) > -89)
    expect(long).toEqual([])
  })

  test('draws no shore along the antimeridian to the south pole', () => {
    expect(shapeOf(land, 'polar')).toHaveLength(1)
    const points = shoresOf(land).flat()
    expect(points.filter(([, latitude = 0]) => latitude < -86)).toEqual([])
    const [coast = []] = shapeOf(land, 'coast') as Line[]
    expect(Math.abs((coast.at(-1)?.[0] ?? 0) - (coast[0]?.[0] ?? 0))).toBeCloseTo(360, 0)
    expect(coast.at(-1)?.[1]).toBeCloseTo(coast[0]?.[1] ?? 0, 1)
  })
})

describe('details', () => {
  test('show an island that the base map does not have', () => {
    // Corvo in the Azores, 6 km long.
    const [x, y] = [-31.1, 39.7]
    const isNear = ([longitude = 0, latitude = 0]: number[]) =>
      Math.abs(longitude - x) < 0.1 && Math.abs(latitude - y) < 0.1
    expect(shoresOf(details.land).flat().some(isNear)).toBe(true)
    expect(shoresOf(baseMap.land).flat().some(isNear)).toBe(false)
  })
})

describe('labels', () => {
  test('are one for each country, inside its largest part', () => {
    const { features } = baseMap.labels
    const names = features.map(({ properties }) => properties.name)
    expect(new Set(names).size).toBe(names.length)
    expect(names).toEqual(expect.arrayContaining(['Portugal', 'United States', 'Fiji']))
    const fiji = features.find(({ properties }) => properties.name === 'Fiji')
    expect(fiji?.geometry.coordinates[0]).toBeGreaterThan(176)
  })
})
