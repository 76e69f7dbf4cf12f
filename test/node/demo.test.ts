import { describe, expect, test } from 'vitest'
import { FLEET, GROUPS } from '../../scripts/demo/fleet.mjs'
import {
  lengthKm,
  locationAt,
  placeAt,
  reportTimes,
  type Traveller,
} from '../../src/domain/sandbox/travel.ts'
import { isOnLand } from './land.ts'

const STEP_KM = 5
const HOUR_MS = 3_600_000
const epoch = Date.UTC(2026, 10, 15, 12)

interface Member extends Traveller {
  name: string
  group: string
  medium: 'sea' | 'land' | 'air'
  identifier: string
}
const fleet: Member[] = FLEET

test('the outlines separate land from sea, across the antimeridian too', () => {
  expect(isOnLand(48.85, 2.35)).toBe(true)
  expect(isOnLand(45, -30)).toBe(false)
  expect(isOnLand(66.5, -178)).toBe(true)
  expect(isOnLand(71.2, 18.5)).toBe(false)
})

describe('the demo fleet', () => {
  test('has about 40 devices, each with its own name, identifier and a known group', () => {
    expect(fleet.length).toBeGreaterThanOrEqual(38)
    expect(new Set(fleet.map(({ name }) => name)).size).toBe(fleet.length)
    expect(new Set(fleet.map(({ identifier }) => identifier)).size).toBe(fleet.length)
    expect(fleet.filter(({ group }) => !(group in GROUPS))).toEqual([])
  })

  test.each(fleet.filter(({ medium }) => medium !== 'air'))('$name keeps to the $medium', (one) => {
    const wrong: string[] = []
    for (let km = 0; km <= lengthKm(one.route); km += STEP_KM) {
      const { latitude, longitude } = placeAt(one, km)
      const wrapped = ((((longitude + 180) % 360) + 360) % 360) - 180
      if (isOnLand(latitude, wrapped) !== (one.medium === 'land'))
        wrong.push(`${latitude.toFixed(2)}, ${wrapped.toFixed(2)}`)
    }
    expect(wrong).toEqual([])
  })

  test.each(fleet)('$name never moves faster than it can', (one) => {
    for (const at of reportTimes(one, epoch - 72 * HOUR_MS, epoch)) {
      const location = locationAt({ ...one, epoch }, at)
      expect(location.speed).toBeLessThan(one.kmh * 1.6)
      expect(Math.abs(location.longitude)).toBeLessThanOrEqual(180)
    }
  })

  test('continues a track without a jump at another start', () => {
    const one = { ...FLEET[0], epoch }
    expect(locationAt(one, epoch + HOUR_MS)).toEqual(locationAt({ ...one }, epoch + HOUR_MS))
    const times: number[] = reportTimes(one, epoch, epoch + HOUR_MS)
    expect(reportTimes(one, times[1] as number, epoch + HOUR_MS)).toEqual(times.slice(2))
  })
})
