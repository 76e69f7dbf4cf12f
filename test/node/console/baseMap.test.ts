import { beforeAll, describe, expect, test } from 'vitest'
import { makeBaseMap, unwrap, unwrapPolygon } from '../../../console/build/baseMap.ts'

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

describe('the base map', () => {
  let map: ReturnType<typeof makeBaseMap>
  beforeAll(() => {
    map = makeBaseMap()
  })

  test('has no edge that crosses half of the world, except along a pole', () => {
    const long = map.land.geometry.coordinates
      .flat()
      .flatMap((ring) => ring.slice(1).map((point, at) => [ring[at], point]))
      .filter(([a, b]) => Math.abs((a?.[0] ?? 0) - (b?.[0] ?? 0)) > 180 && (a?.[1] ?? 0) > -89)
    expect(long).toEqual([])
  })

  test('has one label for each country, inside its largest part', () => {
    const names = map.labels.features.map(({ properties }) => properties.name)
    expect(new Set(names).size).toBe(names.length)
    expect(names).toEqual(expect.arrayContaining(['Portugal', 'United States', 'Fiji']))
    const fiji = map.labels.features.find(({ properties }) => properties.name === 'Fiji')
    expect(fiji?.geometry.coordinates[0]).toBeGreaterThan(176)
  })
})
