import { describe, expect, test } from 'vitest'
import type { Location } from '../../../../console/api/types.ts'
import {
  bearingBetween,
  extendTrack,
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

describe('a track that is shown', () => {
  const timed = (time: string): Location => ({
    ...at(0, 0),
    dateTime: `2026-11-14T${time}:00.000Z`,
  })
  const interval = { from: timed('08:00').dateTime, to: timed('20:00').dateTime }
  const track = [timed('07:50'), timed('09:00'), timed('10:00')]
  const extend = (time: string, count = 1) =>
    extendTrack(track, { location: timed(time), count }, interval)

  test('gets a newer position at its end, and loses what its span has passed', () => {
    expect(extend('10:30')).toEqual([timed('09:00'), timed('10:00'), timed('10:30')])
    expect(extendTrack([], { location: timed('10:30'), count: 1 }, interval)).toHaveLength(1)
  })

  test('does not get a position outside its span', () => {
    expect(extend('20:01')).toEqual(track.slice(1))
    expect(extend('07:59')).toEqual(track.slice(1))
  })

  test('must be read again for older positions, and for several at once', () => {
    expect(extend('09:30')).toBeNull()
    expect(extend('10:00')).toBeNull()
    expect(extend('10:30', 2)).toBeNull()
    expect(extendTrack(track, { location: null, count: 1 }, interval)).toBeNull()
  })
})
