import { and, eq, getTableColumns, ne, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Database } from '../db/open.ts'
import { auditWrite } from '../db/queries/audit.ts'
import {
  type Creation,
  createOwned,
  type Deletion,
  deleteOwned,
  type Edit,
  ownedRows,
  updateOwned,
} from '../db/queries/owned.ts'
import { countBounded, type InferRow, select } from '../db/query.ts'
import { devices, sourcePayloads, sources, unclaimed, unclaimedReports } from '../db/schema.ts'
import { runBatch, valuesOf } from '../db/statement.ts'
import {
  MAX_COUNTED,
  MAX_SOURCES,
  type SourceCounts,
  type SourceRecord,
} from '../domain/account/source.ts'

const { accountId: _accountId, ...COLUMNS } = getTableColumns(sources)

/** A source with what only the service sees of it: the hash of its secret, and `dropped`. */
export type StoredSource = InferRow<typeof COLUMNS>

/** Sources without counts, which a push does not need. */
export const findSource = ownedRows('source', sources, (where: SQL) =>
  select(COLUMNS, sql`FROM ${sources} ${where}`),
).find

const countOf = (rows: SQL) => countBounded(rows, MAX_COUNTED.ofSource)
const COUNTS = {
  unclaimed: countOf(sql`${unclaimed} WHERE ${unclaimed.sourceId} = ${sources.id}`),
  failures: countOf(sql`${sourcePayloads} WHERE ${sourcePayloads.sourceId} = ${sources.id}
    AND ${sourcePayloads.reason} IS NOT NULL`),
}
export type CountedSource = StoredSource & SourceCounts

export const ownSources = ownedRows('source', sources, (where: SQL) =>
  select({ ...COLUMNS, ...COUNTS }, sql`FROM ${sources} ${where}`),
)

/** Whether the account has as many sources as it may, without the one of this id. */
export const isCapReached = async (db: Database, accountId: string, id: string): Promise<boolean> =>
  (await db.$count(sources, and(eq(sources.accountId, accountId), ne(sources.id, id)))) >=
  MAX_SOURCES

/** A retry after a crash has the same id and a new secret, which then is the valid one. */
export const createSource = (db: Database, creation: Creation<SourceRecord>, hash: string) => {
  const { record, now } = creation
  return createOwned(db, ownSources, creation, {
    set: { ...record, hash, creation: now, lastModified: now },
    onConflict: sql`ON CONFLICT (id) DO UPDATE SET hash = excluded.hash`,
    otherwise: 'source-not-found',
  })
}

export const updateSource = (db: Database, edit: Edit<CountedSource, SourceRecord>) =>
  updateOwned(db, ownSources, edit, {
    set: { ...edit.record, lastModified: edit.now },
    otherwise: 'precondition-failed',
  })

/** Replaces the hash of the secret: the old address is refused once the caches have expired. */
export const replaceHash = async (
  db: Database,
  { accountId, id, hash, now }: { accountId: string; id: string; hash: string; now: number },
): Promise<void> => {
  const resource = { type: 'source', id }
  await runBatch(db, {
    replaced: db.update(sources).set({ hash }).where(ownSources.isOwn(accountId, id)),
    audited: auditWrite(db, { accountId, now, action: 'source.addressReplaced', resource }),
  })
}

/** Deletes a source with what it holds. Its devices and their locations stay. */
export const deleteSource = (db: Database, deletion: Deletion) => {
  const { accountId, id } = deletion
  return deleteOwned(db, ownSources, deletion, {
    thereafter: (isGone) =>
      [unclaimed, unclaimedReports, sourcePayloads].map((table) =>
        // The plus keeps SQLite from reading all rows of the account by its index.
        db
          .delete(table)
          .where(and(eq(table.sourceId, id), sql`+${table.accountId} = ${accountId}`, isGone)),
      ),
  })
}

/** Notes when something last arrived. */
export const touchSource = async (db: Database, id: string, now: number): Promise<void> => {
  await db
    .update(sources)
    .set({ lastReceived: now })
    .where(and(eq(sources.id, id), sql`ifnull(${sources.lastReceived}, 0) < ${now}`))
}

/**
 * The source that devices last reported by, which takes their commands. It changes within a provider:
 * whoever has the address of another source must not get the commands.
 */
export const setSourceOf = async (
  db: Database,
  accountId: string,
  deviceKeys: number[],
  sourceId: string,
): Promise<void> => {
  const other = alias(sources, 'other')
  const isOfOther = sql`SELECT 1 FROM ${sources} AS other WHERE ${other.id} = ${devices.sourceId}
    AND ${other.accountId} = ${accountId} AND ${other.provider} <>
      (SELECT ${sources.provider} FROM ${sources} WHERE ${sources.id} = ${sourceId})`
  await db
    .update(devices)
    .set({ sourceId })
    .where(sql`${devices.key} IN ${valuesOf(deviceKeys)} AND NOT EXISTS (${isOfOther})`)
}
