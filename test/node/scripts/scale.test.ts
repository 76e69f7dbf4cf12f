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
