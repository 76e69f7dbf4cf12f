import { type Page, type Position, toPage } from '../../db/page.ts'
import type { Context } from '../context.ts'
import type { Operation } from '../contract/contract.ts'
import { type PageBody, replyPage } from '../reply/reply.ts'
import { readCursor } from './page.ts'

/** Positions are those that a list begins after. That of the first page is empty. */
type List<O extends Operation, Row> = {
  toBody: (rows: Row[]) => PageBody<O> | Promise<PageBody<O>>
} & (
  | { readPage: (after: Position, limit: number) => Promise<Page<Row>> }
  | {
      /** Reads at most `limit` rows, one more than the page has. */
      read: (after: Position, limit: number) => Promise<Row[]>
      positionOf: (row: Row) => Position
    }
)

/** Replies with one page of a list. */
export const replyList = async <O extends Operation, Row>(
  c: Context,
  contract: O,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
  list: List<O, Row>,
) => {
  const after = (await readCursor(c, cursor)) ?? []
  const { rows, next } =
    'readPage' in list
      ? await list.readPage(after, limit)
      : toPage(await list.read(after, limit + 1), limit, list.positionOf)
  return replyPage(c, contract, await list.toBody(rows), next)
}
