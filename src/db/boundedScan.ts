import type { Database } from './open.ts'
import { runBatch, type Statement } from './statement.ts'

/** A page scans at most this many rows, however few of them match its filters. */
export const MAX_SCANNED = 5000
/** Most filters match within these: a page tries them before it scans further. */
const MIN_SCANNED = 500

interface Extent {
  /** Without filters a page scans no further than its own length. */
  isFiltered: boolean
  limit: number
}

/** Reads a page from few rows and, unless that fills it or they were all, from more. */
export const growScan = async <Read extends { rows: unknown[]; end: unknown }>(
  { isFiltered, limit }: Extent,
  read: (scanned: number) => Promise<Read>,
): Promise<Read> => {
  if (!isFiltered) return read(limit + 1)
  const first = await read(Math.min(MAX_SCANNED, Math.max(MIN_SCANNED, 2 * limit)))
  return first.rows.length > limit || !first.end ? first : read(MAX_SCANNED)
}

interface Scan<Row, End> extends Extent {
  /** Selects up to `limit` + 1 rows out of those scanned. */
  page: (scanned: number) => Statement<Row>
  /** Selects the last of the scanned rows, if there are so many. */
  end: (scanned: number) => Statement<End>
}

/**
 * Reads a page and the end of its scan in one batch, so that concurrent changes neither duplicate
 * nor skip rows.
 */
export const readScan = <Row, End>(
  db: Database,
  { page, end, ...extent }: Scan<Row, End>,
): Promise<{ rows: Row[]; end: End | undefined }> =>
  growScan(extent, async (scanned) => {
    const [pages, ends] = await runBatch(db, [page(scanned), end(scanned)])
    return { rows: pages.results, end: ends.results[0] }
  })
