import type { Position } from '../../db/page.ts'
import { iso } from '../../domain/time/iso.ts'
import type { Context } from '../context.ts'
import { Problem } from '../contract/problem.ts'
import { setHeader } from '../reply/newReply.ts'
import { makeCursor, readCursor } from './page.ts'

const EARLIEST = 0
const LATEST = Date.UTC(9999, 11, 31)

/** A span of time, both ends included. Without `from` or `to` it is open at that end. */
export interface Span {
  from?: number | undefined
  to?: number | undefined
}

export interface RangeQuery extends Span {
  limit: number
  cursor?: string | undefined
}

/** The bounds of one page. */
export interface Range {
  from: number
  to: number
  limit: number
  after: Position | null
}

export const wholeRange = ({ from, to }: Span) => ({
  from: from ?? EARLIEST,
  to: to ?? LATEST,
})

interface Page<Row> {
  rows: Row[]
  next: Position | null
}

export interface RangeSource<Row> {
  /** Filters in addition to the span, signed into the cursor. */
  filters?: Record<string, string | undefined>
  /** A pointer to the cursor in the request, for the problem document. */
  cursorPointer: string
  /** Null when the caller cannot see the resource: a 404. */
  read: (range: Range) => Promise<Page<Row> | null>
}

/** Reads one page of a range query and sets `Link`. A cursor works in POST and GET alike. */
export const rangePage = async <Row>(
  c: Context,
  { from, to, limit, cursor }: RangeQuery,
  { filters = {}, cursorPointer, read }: RangeSource<Row>,
): Promise<{ rows: Row[]; nextCursor: string | null }> => {
  const params = new URLSearchParams()
  if (from !== undefined) params.set('from', iso(from))
  if (to !== undefined) params.set('to', iso(to))
  for (const [name, value] of Object.entries(filters)) if (value) params.set(name, value)
  const list = `${c.req.path}?${params}`
  const after = await readCursor(c, cursor, list, cursorPointer)
  const page = await read({ ...wholeRange({ from, to }), limit, after })
  if (!page) throw new Problem('device-not-found')
  const nextCursor = page.next && (await makeCursor(c, page.next, list))
  if (nextCursor) {
    params.set('limit', String(limit))
    params.set('cursor', nextCursor)
    setHeader(c, 'Link', `<${c.req.path}?${params}>; rel="next"`)
  }
  return { rows: page.rows, nextCursor }
}
