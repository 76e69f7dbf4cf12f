import { sql } from 'drizzle-orm'
import type { PendingRaise } from '../../domain/message/pendingRaise.ts'
import type { Database } from '../open.ts'
import { pendingRaises } from '../schema.ts'
import { compile, names, placeholders, readAll, type Statement, valuesOf } from '../statement.ts'

/*
 * Alerts that were stored with what raises them, until the ledger has decided on them. A crash in
 * between loses none: a repeat of the request, or the sweep, hands them over.
 */

const p = placeholders('accountId', 'ids', 'before', 'afterTime', 'afterId', 'limit')

export const RAISE_COLUMNS = names(
  pendingRaises.id,
  pendingRaises.accountId,
  pendingRaises.creation,
  pendingRaises.raise,
)

const deleteRaises = compile<{ accountId: string; ids: string }>(
  sql`DELETE FROM ${pendingRaises} WHERE ${pendingRaises.id} IN ${valuesOf(p.ids)}
    AND ${pendingRaises.accountId} = ${p.accountId}`,
)

/** Deletes the alerts that the ledger has decided on. */
export const deletePendingRaises = (db: Database, accountId: string, ids: string[]): Statement =>
  deleteRaises(db, { accountId, ids: JSON.stringify(ids) })

export interface PendingRow {
  id: string
  accountId: string
  creation: number
  raise: PendingRaise
}

interface Page {
  /** Only alerts that were stored before this time. */
  before: number
  after: Pick<PendingRow, 'creation' | 'id'> | null
  limit: number
}

const selectPage = compile<
  { before: number; afterTime: number; afterId: string; limit: number },
  { id: string; account_id: string; creation: number; raise: string }
>(
  sql`SELECT ${pendingRaises.id}, ${pendingRaises.accountId}, ${pendingRaises.creation},
      ${pendingRaises.raise}
    FROM ${pendingRaises}
    WHERE (${pendingRaises.creation}, ${pendingRaises.id}) > (${p.afterTime}, ${p.afterId})
      AND ${pendingRaises.creation} < ${p.before}
    ORDER BY ${pendingRaises.creation}, ${pendingRaises.id} LIMIT ${p.limit}`,
)

/** The oldest alerts that are still to be raised. */
export const readPendingRaises = async (
  db: Database,
  { before, after, limit }: Page,
): Promise<PendingRow[]> => {
  const { creation: afterTime, id: afterId } = after ?? { creation: 0, id: '' }
  const rows = await readAll(selectPage(db, { before, afterTime, afterId, limit }))
  return rows.map(({ id, account_id: accountId, creation, raise }) => ({
    id,
    accountId,
    creation,
    raise: JSON.parse(raise) as PendingRaise,
  }))
}
