import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { computeScale, formatReport } from '../../../scripts/scale.mjs'

/** A Markdown table without padding. */
const withoutPadding = (table: string): string =>
  table.replaceAll(/-+/g, '-').replaceAll(/ *\| */g, '|')

test('docs/scale.md has the table that the script prints', () => {
  expect(withoutPadding(readFileSync('docs/scale.md', 'utf8'))).toContain(
    withoutPadding(formatReport()),
  )
})

test('included amounts cost only the plan, further units are charged', () => {
  expect(computeScale({ devices: 1 }).dollars).toBe(5)
  const [small, large] = [
    computeScale({ devices: 1_000_000 }),
    computeScale({ devices: 2_000_000 }),
  ]
  expect(large.cost.d1RowsWritten - 2 * small.cost.d1RowsWritten).toBeCloseTo(50, 6)
})

test('twice as many reports or twice the retention doubles rows or bytes', () => {
  const base = { devices: 100_000, interval: 3600, retention: 100 }
  expect(computeScale({ ...base, interval: 1800 }).locations).toBe(2 * computeScale(base).locations)
  expect(computeScale({ ...base, retention: 200 }).kept).toBe(2 * computeScale(base).kept)
  expect(computeScale({ ...base, retention: 200 }).cells).toBeGreaterThan(computeScale(base).cells)
})

test('every request is one log event, and reads the status of its key', () => {
  const { used, cost, locations } = computeScale({ devices: 1_000_000 })
  expect(used.logEvents).toBe(used.requests)
  expect(cost.logEvents).toBeCloseTo((used.requests - 20e6) * 0.6e-6, 6)
  expect(used.d1RowsRead).toBeGreaterThan(4 * used.requests + 12 * locations)
})

test('the use of a key is written once in ten minutes, however many requests it makes', () => {
  const written = (accounts: number, interval = 600): number =>
    computeScale({ devices: 10_000, accounts, interval }).used.d1RowsWritten
  expect(written(200) - written(100)).toBe(100 * 30 * 144)
  // An account with fewer requests than that writes one row for each.
  const rare = { devices: 1, interval: 86_400, retention: 1 }
  expect(computeScale({ ...rare, accounts: 1000 }).used.d1RowsWritten).toBe(
    computeScale({ ...rare, accounts: 1 }).used.d1RowsWritten,
  )
})
