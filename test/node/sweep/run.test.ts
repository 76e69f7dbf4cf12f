import { expect, test } from 'vitest'
import { CELL_QUERIES, CELLS_PER_RUN, QueryBudget, rotateCells } from '../../../src/sweep/run.ts'

const cells = (count: number) => Array.from({ length: count }, (_, cell) => cell)
const MINUTE = 60_000

test('each minute begins with another cell', () => {
  expect(rotateCells([0, 1, 2], 0)).toEqual([0, 1, 2])
  expect(rotateCells([0, 1, 2], 4 * MINUTE + 500)).toEqual([1, 2, 0])
  expect(rotateCells([0], 7 * MINUTE)).toEqual([0])
})

const takeAll = (take: () => boolean) => {
  let taken = 0
  while (take()) taken++
  return taken
}

test('a part takes at most its share', () => {
  const queries = new QueryBudget()
  expect(takeAll(queries.part(100))).toBe(100)
  const pair = queries.part(3)
  expect([pair(2), pair(2), pair(1), pair(1)]).toEqual([true, false, true, false])
})

/** How many queries each cell gets in a minute, when it wants `wanted`. */
const sweepCells = (count: number, minute: number, wanted: number): Map<number, number> => {
  const queries = new QueryBudget()
  const taken = new Map<number, number>()
  for (const [index, cell] of rotateCells(cells(count), minute * MINUTE).entries()) {
    if (!queries.startCell(index, count)) break
    taken.set(cell, takeAll(queries.part(wanted)))
  }
  return taken
}
const sum = (taken: Map<number, number>) => [...taken.values()].reduce((a, b) => a + b, 0)

test.each([1, 2, 7, 25, 26, 50, 120])('of %i busy cells each gets its share in turn', (count) => {
  const least = new Map(cells(count).map((cell) => [cell, 0]))
  for (let minute = 0; minute < Math.ceil(count / CELLS_PER_RUN); minute++) {
    const taken = sweepCells(count, minute, 1000)
    expect(sum(taken)).toBeLessThan(1000)
    for (const [cell, queries] of taken) least.set(cell, queries)
  }
  expect(Math.min(...least.values())).toBeGreaterThanOrEqual(CELL_QUERIES)
})

test('of fifty cells with little to do, all but a few are swept every minute', () => {
  const minutes = [0, 1].map((minute) => sweepCells(50, minute, 22))
  for (const taken of minutes) {
    expect(taken.size).toBeGreaterThan(40)
    expect(new Set(taken.values())).toEqual(new Set([22]))
  }
  expect(new Set(minutes.flatMap((taken) => [...taken.keys()])).size).toBe(50)
})

test('a busy cell uses what the others leave', () => {
  expect(sweepCells(2, 0, 1000).get(0)).toBeGreaterThan(850)
})
