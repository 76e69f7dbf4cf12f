import { type SQL, sql } from 'drizzle-orm'
import type { PendingRaise } from '../../domain/message/pendingRaise.ts'
import type { Database } from '../open.ts'
import { accounts, devices, pendingRaises } from '../schema.ts'
import { compile, names, placeholders, readAll, type Statement, valuesOf } from '../statement.ts'

/*
 * Alerts that were stored with what raises them, until the ledger has decided on them. A crash in
 * between loses none: a repeat of the request, or the sweep, hands them over.
 */

const p = placeholders(
  'now',
  'raises',
  'hits',
  'accountId',
  'ids',
  'before',
  'afterTime',
  'afterId',
  'limit',
)

const COLUMNS = names(
  pendingRaises.id,
  pendingRaises.accountId,
  pendingRaises.creation,
  pendingRaises.raise,
)

/** The value of `raises`, for `insertRaisesIf`. */
export const packRaises = (raises: PendingRaise[]): string => JSON.stringify(raises)

/**
 * An INSERT of `raises` by a statement with its own placeholders. `guard` is about the device and
 * its account, and about `value`, one raise. A raise that is stored already stays as it is.
 */
export const insertRaisesIf = (guard: SQL): SQL =>
  sql`INSERT INTO ${pendingRaises} (${COLUMNS})
    SELECT value ->> '$.alert.id', ${devices.accountId}, ${p.now}, value
    FROM ${devices} JOIN ${accounts} ON ${accounts.id} = ${devices.accountId}
    CROSS JOIN json_each(${p.raises}) WHERE ${guard} ON CONFLICT DO NOTHING`

const insertSome = compile<{ accountId: string; now: number; hits: string }>(
  sql`INSERT INTO ${pendingRaises} (${COLUMNS})
    SELECT value ->> '$.alert.id', ${p.accountId}, ${p.now}, value FROM json_each(${p.hits})
    WHERE changes() > 0`,
)

/** With the longest texts, so many are well below what D1 binds as one value. */
const MAX_HITS_PER_STATEMENT = 100

/**
 * Stores what rules found in new locations. Must stand right behind the INSERT of the locations;
 * statements behind see as `changes()` whether that has stored something.
 */
export const insertHits = (
  db: Database,
  { accountId, now }: { accountId: string; now: number },
  hits: PendingRaise[],
): Statement[] =>
  Array.from({ length: Math.ceil(hits.length / MAX_HITS_PER_STATEMENT) }, (_, index) => {
    const at = index * MAX_HITS_PER_STATEMENT
    const some = packRaises(hits.slice(at, at + MAX_HITS_PER_STATEMENT))
    return insertSome(db, { accountId, now, hits: some })
  })

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
