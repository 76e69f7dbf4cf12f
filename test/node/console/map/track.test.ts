import { describe, expect, test } from 'vitest'
import type { Location } from '../../../../console/api/types.ts'
import {
  bearingBetween,
  indexAt,
  lengthOf,
  positionAt,
} from '../../../../console/pages/map/track/trackMath.ts'

const at = (longitude: number, latitude: number): Location => ({
  dateTime: '2026-11-14T09:30:00.000Z',
  receivedAt: '2026-11-14T09:30:00.000Z',
  longitude,
  latitude,
})

describe('a track', () => {
  test('is as long as its parts', () => {
    expect(lengthOf([])).toBe(0)
    expect(lengthOf([at(0, 0), at(0, 1), at(0, 2)]) / 1000).toBeCloseTo(222.4, 0)
  })

  test.each([
    ['north', at(0, 0), at(0, 1), 0],
    ['east', at(0, 0), at(1, 0), 90],
    ['south', at(0, 1), at(0, 0), 180],
    ['west across the antimeridian', at(-179.5, 0), at(179.5, 0), 270],
    ['from Baghdad to Osaka', at(45, 35), at(135, 35), 60.16],
  ])('has a direction: %s', (_, from, to, bearing) => {
    expect(bearingBetween(from, to)).toBeCloseTo(bearing, 1)
  })

  test('finds the last position at or before a time', () => {
    const times = [10, 20, 30]
    expect([5, 10, 19, 20, 29, 30, 99].map((time) => indexAt(times, time))).toEqual([
      0, 0, 0, 1, 1, 2, 2,
    ])
  })

  test('has a place between two positions', () => {
    expect(positionAt([at(0, 0), at(10, 20)], [0, 100], 50)).toEqual({ longitude: 5, latitude: 10 })
    expect(positionAt([], [], 50)).toBeNull()
  })

  test('takes the short way across the antimeridian', () => {
    const place = positionAt([at(179, 0), at(-179, 0)], [0, 100], 50)
    expect(place?.longitude).toBe(180)
  })
})
