import type { Context } from '../context.ts'
import type { Operation } from '../contract/contract.ts'
import { type PageBody, replyPage } from '../reply/reply.ts'
import { type Position, readCursor } from './page.ts'

interface List<O extends Operation, Row> {
  /** Reads at most `limit` rows after a position. That of the first page is empty. */
  read: (after: Position, limit: number) => Promise<Row[]>
  positionOf: (row: Row) => Position
  toBody: (rows: Row[]) => PageBody<O> | Promise<PageBody<O>>
}

/** The position in a list that is sorted by id. */
export const byId = ({ id }: { id: string }): Position => [id]

/** Replies with one page of a list. One row more is read: it tells whether there is a next page. */
export const replyList = async <O extends Operation, Row>(
  c: Context,
  contract: O,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
  { read, positionOf, toBody }: List<O, Row>,
) => {
  const rows = await read((await readCursor(c, cursor)) ?? [], limit + 1)
  const page = rows.slice(0, limit)
  const last = rows.length > limit ? page.at(-1) : undefined
  return replyPage(c, contract, await toBody(page), last ? positionOf(last) : null)
}
