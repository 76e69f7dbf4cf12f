import type { Database } from './open.ts'
import { readAll, runBatch, type Statement } from './statement.ts'

interface Scan<Row, End> {
  /** Selects up to `limit` + 1 rows out of those scanned. */
  page: Statement<Row>
  /** Selects the last row that was scanned, if the scan reached its bound. */
  end: Statement<End>
  /** A long scan reads its page alone first: a full page does not need the end of its scan. */
  isLong: boolean
  limit: number
}

/**
 * Reads a page and the end of its scan in one batch, so that concurrent changes neither duplicate
 * nor skip rows.
 */
export const readScan = async <Row, End>(
  db: Database,
  { page, end, isLong, limit }: Scan<Row, End>,
): Promise<{ rows: Row[]; end: End | undefined }> => {
  const first = isLong ? await readAll(page) : []
  if (first.length > limit) return { rows: first, end: undefined }
  const [{ results: rows }, { results: ends }] = await runBatch(db, [page, end])
  return { rows, end: ends[0] }
}
