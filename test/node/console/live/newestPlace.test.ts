import { describe, expect, test } from 'vitest'
import { newestPlace } from '../../../../console/app/newestPlace.ts'

const alert = {
  dateTime: '2026-01-01T10:00:00.000Z',
  positionTime: '2026-01-01T09:00:00.000Z',
  latitude: 1,
  longitude: 2,
  updates: [],
}
const update = (dateTime: string, latitude: number | null) => ({
  dateTime,
  latitude,
  longitude: latitude,
  place: null,
})

describe('the newest place of an emergency', () => {
  test('is that of the alert while nothing else is known', () => {
    expect(newestPlace(alert, undefined)).toEqual({
      dateTime: '2026-01-01T09:00:00.000Z',
      latitude: 1,
      longitude: 2,
    })
  })

  test('is that of the newest signal that came with one', () => {
    const updates = [
      update('2026-01-01T10:05:00.000Z', 5),
      update('2026-01-01T10:09:00.000Z', null),
    ]
    expect(newestPlace({ ...alert, updates }, undefined)?.latitude).toBe(5)
  })

  test('is the device’s position if that is newer than every signal, and not if it is older', () => {
    const updates = [update('2026-01-01T10:05:00.000Z', 5)]
    const at = (dateTime: string) => ({ dateTime, latitude: 9, longitude: 9 })
    const emergency = { ...alert, updates }
    expect(newestPlace(emergency, at('2026-01-01T10:06:00.000Z'))?.latitude).toBe(9)
    expect(newestPlace(emergency, at('2026-01-01T10:04:00.000Z'))?.latitude).toBe(5)
  })

  test('is what the service knew, until a newer position comes', () => {
    const at = (dateTime: string, latitude: number) => ({ dateTime, latitude, longitude: 9 })
    const newestPosition = {
      ...at('2026-01-01T10:07:00.000Z', 7),
      source: 'location' as const,
      place: null,
    }
    const emergency = { ...alert, newestPosition }
    expect(newestPlace(emergency, undefined)).toEqual(at('2026-01-01T10:07:00.000Z', 7))
    expect(newestPlace(emergency, at('2026-01-01T10:06:00.000Z', 6))?.latitude).toBe(7)
    expect(newestPlace(emergency, at('2026-01-01T10:08:00.000Z', 8))?.latitude).toBe(8)
  })

  test('is none without any', () => {
    expect(newestPlace({ ...alert, latitude: null, longitude: null }, undefined)).toBeNull()
  })
})
