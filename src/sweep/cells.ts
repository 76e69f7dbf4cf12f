/** A run may ask D1 a thousand times at the most, and a cell in which nothing is due is asked a dozen. */
const MAX_CELLS = 50

/** The cells that a run goes through: all where they are few, else a stretch of them, each minute the next. */
export const cellsAt = (cells: number[], now: number): number[] => {
  const stretches = Math.ceil(cells.length / MAX_CELLS)
  const turn = Math.floor(now / 60_000) % stretches
  return cells.slice(turn * MAX_CELLS, (turn + 1) * MAX_CELLS)
}
