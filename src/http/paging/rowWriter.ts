/** Writes a reply page by page, and a page in small chunks. */
export interface RowWriter<Row> {
  begin: string
  page: (rows: Row[]) => Iterable<string>
  end: () => string
}

/** Small chunks are garbage collected early; a string for a whole page would stay for long. */
const CHUNK_ROWS = 100

export function* writeChunks<Row>(rows: Row[], write: (row: Row) => string): Generator<string> {
  for (let at = 0; at < rows.length; at += CHUNK_ROWS) {
    let text = ''
    for (const row of rows.slice(at, at + CHUNK_ROWS)) text += write(row)
    yield text
  }
}

/** Returns nothing at its first call and `text` at every later one. */
export const separator = (text: string): (() => string) => {
  let isFirst = true
  return () => {
    if (!isFirst) return text
    isFirst = false
    return ''
  }
}

/** A JSON reply with all rows under `name`, and without a next page. */
export const writeJson = <Row>(name: string, present: (row: Row) => object): RowWriter<Row> => {
  const comma = separator(',')
  return {
    begin: `{"success":true,"${name}":[`,
    page: (rows) => writeChunks(rows, (row) => comma() + JSON.stringify(present(row))),
    end: () => '],"nextCursor":null}',
  }
}
