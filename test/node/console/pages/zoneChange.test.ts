import { expect, test } from 'vitest'
import type { Device } from '../../../../console/api/types.ts'
import { previewZone } from '../../../../console/pages/settings/zoneChange.ts'

const NOON = Date.UTC(2026, 10, 15, 12)
const licenses = { total: 3, used: 3, available: 0 }

const device = (name: string, state: Device['state'], expirationDate: string | null) =>
  ({
    name,
    state,
    limits: { expires: expirationDate !== null, expirationDate },
  }) as Device

const names = (devices: Device[]) => devices.map(({ name }) => name)

test('a zone ahead expires devices whose day has begun there', () => {
  const devices = [
    device('tomorrow', 'active', '2026-11-16'),
    device('later', 'active', '2026-11-17'),
    device('never', 'active', null),
  ]
  const change = previewZone(devices, licenses, 'Pacific/Kiritimati', NOON)
  expect(change.today).toBe('2026-11-16')
  expect(names(change.expiring)).toEqual(['tomorrow'])
  expect(change.missing).toBe(0)
})

test('a zone behind revives devices, for which licenses can be missing', () => {
  const at = Date.UTC(2026, 10, 15, 5)
  const devices = [
    device('today', 'expired', '2026-11-15'),
    device('long ago', 'expired', '2026-01-01'),
  ]
  const change = previewZone(devices, licenses, 'Pacific/Niue', at)
  expect(change.today).toBe('2026-11-14')
  expect(names(change.reviving)).toEqual(['today'])
  expect(change.missing).toBe(1)
  expect(previewZone(devices, { ...licenses, available: 1 }, 'Pacific/Niue', at).missing).toBe(0)
})
