import { expect, test } from 'vitest'
import { selectCells } from '../../../src/sweep/cells.ts'

const cells = (count: number) => Array.from({ length: count }, (_, cell) => cell)
const MINUTE = 60_000

test('all of a few cells are swept every minute', () => {
  expect(selectCells(cells(3), 0)).toEqual([0, 1, 2])
  expect(selectCells(cells(50), 7 * MINUTE)).toEqual(cells(50))
})

test('many cells are swept in slices, one slice per minute in turn', () => {
  const minutes = [0, 1, 2].map((minute) => selectCells(cells(120), minute * MINUTE + 500))
  expect(minutes.map(({ length }) => length)).toEqual([50, 50, 20])
  expect(minutes.flat()).toEqual(cells(120))
  expect(selectCells(cells(120), 3 * MINUTE)).toEqual(minutes[0])
})
