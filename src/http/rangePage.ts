import { iso } from '../domain/iso.ts'
import type { Context } from './context.ts'
import { makeCursor, type Position, readCursor } from './page.ts'
import { Problem } from './problem.ts'

const EARLIEST = 0
const LATEST = Date.UTC(9999, 11, 31)

/** A span of time, both ends included; an end left out is open. */
export interface RangeQuery {
  from?: number | undefined
  to?: number | undefined
  limit: number
  cursor?: string | undefined
}

/** What one page is read by. */
export interface Range {
  from: number
  to: number
  limit: number
  after: Position | null
}

export const wholeRange = ({ from, to }: Pick<RangeQuery, 'from' | 'to'>) => ({
  from: from ?? EARLIEST,
  to: to ?? LATEST,
})

interface Page<Row> {
  rows: Row[]
  next: Position | null
}

interface Source<Row> {
  /** Filters beside the span. They are signed into the cursor. */
  filters?: Record<string, string | undefined>
  /** Where the cursor stands in the request, for the problem document. */
  cursorPointer: string
  /** Null when there is nothing that the caller can see. */
  read: (range: Range) => Promise<Page<Row> | null>
}

/** One page of a range query. POST and GET give the same pages: a cursor of one works in the other. */
export const rangePage = async <Row>(
  c: Context,
  { from, to, limit, cursor }: RangeQuery,
  { filters = {}, cursorPointer, read }: Source<Row>,
): Promise<{ rows: Row[]; nextCursor: string | null }> => {
  const asked = new URLSearchParams()
  if (from !== undefined) asked.set('from', iso(from))
  if (to !== undefined) asked.set('to', iso(to))
  for (const [name, value] of Object.entries(filters)) if (value) asked.set(name, value)
  const list = `${c.req.path}?${asked}`
  const after = await readCursor(c, cursor, list, cursorPointer)
  const page = await read({ ...wholeRange({ from, to }), limit, after })
  if (!page) throw new Problem('not-found')
  const nextCursor = page.next && (await makeCursor(c, page.next, list))
  if (nextCursor) {
    asked.set('limit', String(limit))
    asked.set('cursor', nextCursor)
    c.header('Link', `<${c.req.path}?${asked}>; rel="next"`)
  }
  return { rows: page.rows, nextCursor }
}
