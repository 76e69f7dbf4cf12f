import { getTableColumns, sql } from 'drizzle-orm'
import { isHere } from '../movedCell.ts'
import type { Database } from '../open.ts'
import { select } from '../query.ts'
import { accounts, pendingRaises } from '../schema.ts'
import { compile, type Placeholders, readAll, type Statement, valuesOf } from '../statement.ts'

/*
 * Alerts that were stored with what raises them, until the ledger has decided on them. A crash in
 * between loses none: a repeat of the request, or the sweep, hands them over.
 */

const deleteRaises = compile(
  (p: Placeholders<{ accountId: string; ids: string }>) =>
    sql`DELETE FROM ${pendingRaises} WHERE ${pendingRaises.id} IN ${valuesOf(p.ids)}
      AND ${pendingRaises.accountId} = ${p.accountId}`,
)

/** Deletes the alerts that the ledger has decided on. */
export const deletePendingRaises = (db: Database, accountId: string, ids: string[]): Statement =>
  deleteRaises(db, { accountId, ids: JSON.stringify(ids) })

export type PendingRow = typeof pendingRaises.$inferSelect

interface Page {
  /** Only alerts that were stored before this time. */
  before: number
  after: Pick<PendingRow, 'creation' | 'id'> | null
  limit: number
}

/** Ledgers of deleted accounts raise nothing: their alerts wait, and must not fill the page. */
const IS_DELETED = sql`EXISTS (SELECT 1 FROM ${accounts}
  WHERE ${accounts.id} = ${pendingRaises.accountId} AND ${accounts.deletedAt} IS NOT NULL)`

/** The oldest alerts that are still to be raised. */
const selectPage = compile(
  (p: Placeholders<{ before: number; afterTime: number; afterId: string; limit: number }>) =>
    select(
      getTableColumns(pendingRaises),
      sql`FROM ${pendingRaises}
        WHERE (${pendingRaises.creation}, ${pendingRaises.id}) > (${p.afterTime}, ${p.afterId})
          AND ${pendingRaises.creation} < ${p.before} AND ${isHere(pendingRaises.accountId)}
          AND NOT ${IS_DELETED}
        ORDER BY ${pendingRaises.creation}, ${pendingRaises.id} LIMIT ${p.limit}`,
    ),
)

export const readPendingRaises = (db: Database, { before, after, limit }: Page) => {
  const { creation: afterTime, id: afterId } = after ?? { creation: 0, id: '' }
  return readAll(selectPage(db, { before, afterTime, afterId, limit }))
}
