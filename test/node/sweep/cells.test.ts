import { expect, test } from 'vitest'
import { cellsAt } from '../../../src/sweep/cells.ts'

const cells = (count: number) => Array.from({ length: count }, (_, cell) => cell)
const MINUTE = 60_000

test('few cells are swept every minute', () => {
  expect(cellsAt(cells(3), 0)).toEqual([0, 1, 2])
  expect(cellsAt(cells(50), 7 * MINUTE)).toEqual(cells(50))
})

test('many are swept a stretch a minute, each of them in turn', () => {
  const minutes = [0, 1, 2].map((minute) => cellsAt(cells(120), minute * MINUTE + 500))
  expect(minutes.map(({ length }) => length)).toEqual([50, 50, 20])
  expect(minutes.flat()).toEqual(cells(120))
  expect(cellsAt(cells(120), 3 * MINUTE)).toEqual(minutes[0])
})
