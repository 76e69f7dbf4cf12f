import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { model, report } from '../../../scripts/scale.mjs'

/** A table without what only makes it pretty. */
const plain = (table: string): string => table.replaceAll(/-+/g, '-').replaceAll(/ *\| */g, '|')

test('docs/scale.md says what the model says', () => {
  expect(plain(readFileSync('docs/scale.md', 'utf8'))).toContain(plain(report()))
})

test('what is included costs the plan alone, what is beyond is charged by the unit', () => {
  expect(model({ devices: 1 }).dollars).toBe(5)
  const [small, large] = [model({ devices: 1_000_000 }), model({ devices: 2_000_000 })]
  expect(large.cost.d1RowsWritten - 2 * small.cost.d1RowsWritten).toBeCloseTo(50, 6)
})

test('twice as many reports, or twice as long kept, is twice the rows or the bytes', () => {
  const base = { devices: 100_000, interval: 3600, retention: 100 }
  expect(model({ ...base, interval: 1800 }).locations).toBe(2 * model(base).locations)
  expect(model({ ...base, retention: 200 }).kept).toBe(2 * model(base).kept)
  expect(model({ ...base, retention: 200 }).cells).toBeGreaterThan(model(base).cells)
})
