/** A run may make a thousand D1 queries; a cell with nothing to do takes a dozen. */
const MAX_CELLS = 50
const MINUTE_MS = 60_000

/** Begins with another cell each minute: the first may use what the others leave. */
export const rotateCells = (cells: number[], now: number): number[] => {
  const start = Math.floor(now / MINUTE_MS) % cells.length
  return [...cells.slice(start), ...cells.slice(0, start)]
}

/** The cells of this minute's run: all of them, or the next slice when there are more than fit. */
export const selectCells = (cells: number[], now: number): number[] => {
  const slices = Math.ceil(cells.length / MAX_CELLS)
  const slice = Math.floor(now / MINUTE_MS) % slices
  return cells.slice(slice * MAX_CELLS, (slice + 1) * MAX_CELLS)
}
