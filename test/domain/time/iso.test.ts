import fc from 'fast-check'
import { expect, test } from 'vitest'
import { iso, readIso } from '../../../src/domain/time/iso.ts'

test('says what the platform says, of any instant there is', () => {
  const edges = [
    0, -1, 1, 86_399_999, 86_400_000, -62_135_596_800_000, 253_402_300_799_999, 253_402_300_800_000,
    8.64e15,
  ]
  for (const at of edges) expect(iso(at)).toBe(new Date(at).toISOString())
  fc.assert(
    fc.property(
      fc.integer({ min: -8.64e15, max: 8.64e15 }),
      (at) => iso(at) === new Date(at).toISOString(),
    ),
  )
})

test('of what is no instant it says nothing', () => {
  expect(() => iso(Number.NaN)).toThrow(RangeError)
  expect(() => iso(8.64e15 + 86_400_000)).toThrow(RangeError)
})

test('reads what it wrote, and what others write', () => {
  const years = fc.integer({ min: Date.UTC(0, 0, 1), max: Date.UTC(9999, 11, 31) })
  fc.assert(fc.property(years, (at) => readIso(iso(at)) === at))
  for (const text of [
    '2026-11-14T09:30:00Z',
    '2026-11-14T09:30:00.5+01:00',
    '2026-11-14T23:59:59.999Z',
    '2024-02-29T00:00:00.000-11:00',
  ])
    expect(readIso(text)).toBe(Date.parse(text))
})
