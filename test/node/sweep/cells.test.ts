import { expect, test } from 'vitest'
import { rotateCells, selectCells } from '../../../src/sweep/cells.ts'
import { QueryBudget } from '../../../src/sweep/queryBudget.ts'

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

test('each minute begins with another cell', () => {
  expect(rotateCells([0, 1, 2], 0)).toEqual([0, 1, 2])
  expect(rotateCells([0, 1, 2], 4 * MINUTE + 500)).toEqual([1, 2, 0])
  expect(rotateCells([0], 7 * MINUTE)).toEqual([0])
})

test('of the queries of a run, a part takes its share, and cells to come keep theirs', () => {
  const queries = new QueryBudget()
  const takeAll = (take: () => boolean) => {
    let taken = 0
    while (take()) taken++
    return taken
  }
  expect(takeAll(queries.part(100))).toBe(100)
  const pair = queries.part(3)
  expect([pair(2), pair(2), pair(1), pair(1)]).toEqual([true, false, true, false])
  queries.reserveFor(50)
  const busy = takeAll(queries.part(1000))
  queries.reserveFor(0)
  const rest = takeAll(queries.part(1000))
  expect(rest).toBeGreaterThanOrEqual(50 * 15)
  expect(103 + busy + rest).toBeLessThan(1000)
})
