/** Where a page of a list ended: the sort values of its last row. */
export type Position = (string | number)[]

export interface Page<Row> {
  rows: Row[]
  /** What the next page begins after; null on the last. */
  next: Position | null
}

/** The position in a list that is sorted by id. */
export const byId = ({ id }: { id: string }): Position => [id]

/**
 * A page of up to `limit` rows. One row more is read: it tells whether there is a next page. Where
 * only a part of the list was scanned, the next page begins after `end`, the last row of that part.
 */
export const toPage = <Row, End = Row>(
  rows: Row[],
  limit: number,
  positionOf: (row: Row | End) => Position,
  end?: End,
): Page<Row> => {
  const page = rows.slice(0, limit)
  const last = rows.length > limit ? page.at(-1) : end
  return { rows: page, next: last ? positionOf(last) : null }
}
