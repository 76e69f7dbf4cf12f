import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { devices, sourcePayloads, sources, unclaimed, unclaimedReports } from '../db/schema.ts'
import {
  names,
  readAll,
  readFirst,
  runBatch,
  type Statement,
  statement,
  valuesOf,
} from '../db/statement.ts'
import {
  MAX_SOURCES,
  type Source,
  type SourceProvider,
  type SourceRecord,
} from '../domain/account/source.ts'

export interface SourceRow {
  id: string
  name: string
  provider: SourceProvider
  enabled: number
  settings: string
  new_devices: 'hold' | 'create'
  keep_raw: number
  hash: string
  last_received: number | null
  dropped: number
  creation: number
  last_modified: number
  version: number
}

/** A source with what only the service sees of it. */
export interface StoredSource extends Source {
  hash: string
  dropped: number
}

const toSource = (row: SourceRow): StoredSource => ({
  id: row.id,
  name: row.name,
  provider: row.provider,
  enabled: row.enabled === 1,
  settings: JSON.parse(row.settings) as Record<string, unknown>,
  newDevices: row.new_devices,
  keepRaw: row.keep_raw === 1,
  hash: row.hash,
  lastReceived: row.last_received,
  dropped: row.dropped,
  creation: row.creation,
  lastModified: row.last_modified,
  version: row.version,
})

const isOwn = (accountId: string, id: string): SQL | undefined =>
  and(eq(sources.id, id), eq(sources.accountId, accountId))

const selectSource = (db: Database, accountId: string, id: string): Statement<SourceRow> =>
  statement(db, sql`SELECT * FROM ${sources} WHERE ${isOwn(accountId, id)}`)

export const findSource = async (
  db: Database,
  accountId: string,
  id: string,
): Promise<StoredSource | null> => {
  const row = await readFirst(selectSource(db, accountId, id))
  return row && toSource(row)
}

/** In the order of their ids, those after `after`. */
export const listSources = async (
  db: Database,
  accountId: string,
  after: string,
  limit: number,
): Promise<StoredSource[]> => {
  const rows = await readAll(
    statement<SourceRow>(
      db,
      sql`SELECT * FROM ${sources}
        WHERE ${sources.accountId} = ${accountId} AND ${sources.id} > ${after}
        ORDER BY ${sources.id} LIMIT ${limit}`,
    ),
  )
  return rows.map(toSource)
}

type SourceRefusal = {
  ok: false
  refusal: 'source-not-found' | 'precondition-failed'
}
export type SourceOutcome = { ok: true; source: StoredSource } | SourceRefusal

export interface SourceWrite {
  accountId: string
  id: string
  record: SourceRecord
  now: number
}

const membersOf = ({ name, provider, enabled, settings, newDevices, keepRaw }: SourceRecord) => ({
  name,
  provider,
  enabled,
  settings,
  newDevices,
  keepRaw,
})

/** Whether the account has as many sources as it may, without the one of this id. */
export const isCapReached = async (
  db: Database,
  accountId: string,
  id: string,
): Promise<boolean> => {
  const row = await readFirst(
    statement<{ count: number }>(
      db,
      sql`SELECT count(*) AS count FROM ${sources}
        WHERE ${sources.accountId} = ${accountId} AND ${sources.id} <> ${id}`,
    ),
  )
  return (row?.count ?? 0) >= MAX_SOURCES
}

/** A retry after a crash has the same id and a new secret, which then is the valid one. */
export const createSource = async (
  db: Database,
  { accountId, id, record, now }: SourceWrite,
  hash: string,
): Promise<SourceOutcome> => {
  const values = {
    id,
    accountId,
    ...membersOf(record),
    hash,
    creation: now,
    lastModified: now,
    version: 1,
  }
  const [, found] = await runBatch(db, [
    statement(
      db,
      db.insert(sources).values(values).onConflictDoUpdate({ target: sources.id, set: { hash } }),
    ),
    selectSource(db, accountId, id),
  ])
  const [row] = found.results
  return row ? { ok: true, source: toSource(row) } : { ok: false, refusal: 'source-not-found' }
}

export const updateSource = async (
  db: Database,
  { accountId, id, record, now }: SourceWrite,
  version: number,
): Promise<SourceOutcome> => {
  const [updated, found] = await runBatch(db, [
    statement(
      db,
      db
        .update(sources)
        .set({ ...membersOf(record), lastModified: now, version: version + 1 })
        .where(and(isOwn(accountId, id), eq(sources.version, version))),
    ),
    selectSource(db, accountId, id),
  ])
  const [row] = found.results
  if (!row) return { ok: false, refusal: 'source-not-found' }
  if (updated.meta.changes === 0) return { ok: false, refusal: 'precondition-failed' }
  return { ok: true, source: toSource(row) }
}

/** Replaces the hash of the secret: the old address is refused once the caches have expired. */
export const replaceHash = async (
  db: Database,
  accountId: string,
  id: string,
  hash: string,
): Promise<void> => {
  await db.update(sources).set({ hash }).where(isOwn(accountId, id))
}

/** Deletes a source with what it holds. Its devices and their locations stay. */
export const deleteSource = async (
  db: Database,
  accountId: string,
  id: string,
  versions: number[] | null,
): Promise<{ ok: true } | SourceRefusal> => {
  const isExpected = versions ? sql`${sources.version} IN ${valuesOf(versions)}` : undefined
  const isGone = sql`NOT EXISTS (SELECT 1 FROM ${sources} WHERE ${isOwn(accountId, id)})`
  const ofSource = (table: typeof unclaimed | typeof unclaimedReports | typeof sourcePayloads) =>
    statement(
      db,
      sql`DELETE FROM ${table} WHERE ${table.sourceId} = ${id}
        AND ${table.accountId} = ${accountId} AND ${isGone}`,
    )
  const [before, deleted] = await runBatch(db, [
    selectSource(db, accountId, id),
    statement(db, db.delete(sources).where(and(isOwn(accountId, id), isExpected))),
    ofSource(unclaimed),
    ofSource(unclaimedReports),
    ofSource(sourcePayloads),
  ])
  if (deleted.meta.changes === 1) return { ok: true }
  const exists = before.results.length === 1
  return { ok: false, refusal: exists ? 'precondition-failed' : 'source-not-found' }
}

/** Notes when something last arrived. */
export const touchSource = async (db: Database, id: string, now: number): Promise<void> => {
  await db
    .update(sources)
    .set({ lastReceived: now })
    .where(and(eq(sources.id, id), sql`ifnull(${sources.lastReceived}, 0) < ${now}`))
}

/** The source that devices last reported by. */
export const setSourceOf = async (
  db: Database,
  deviceKeys: number[],
  sourceId: string,
): Promise<void> => {
  await statement(
    db,
    sql`UPDATE ${devices} SET ${names(devices.sourceId)} = ${sourceId}
      WHERE ${devices.key} IN ${valuesOf(deviceKeys)}`,
  ).run()
}
