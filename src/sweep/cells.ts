/** A run may query D1 about a thousand times, and a cell with nothing to do takes a dozen queries. */
const MAX_CELLS = 50
const MINUTE_MS = 60_000

/** The cells of this minute's run: all of them, or the next slice when there are more than fit. */
export const selectCells = (cells: number[], now: number): number[] => {
  const slices = Math.ceil(cells.length / MAX_CELLS)
  const slice = Math.floor(now / MINUTE_MS) % slices
  return cells.slice(slice * MAX_CELLS, (slice + 1) * MAX_CELLS)
}
