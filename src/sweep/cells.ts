/** A run may make a thousand D1 queries; a cell with nothing to do takes a dozen. */
const MAX_CELLS = 50
const MINUTE_MS = 60_000

/** The cells of this minute's run: all of them, or the next slice when there are more than fit. */
export const selectCells = (cells: number[], now: number): number[] => {
  const slices = Math.ceil(cells.length / MAX_CELLS)
  const slice = Math.floor(now / MINUTE_MS) % slices
  return cells.slice(slice * MAX_CELLS, (slice + 1) * MAX_CELLS)
}
