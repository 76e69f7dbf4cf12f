import { and, eq, getTableColumns, gt, ne, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { devices, sourcePayloads, sources, unclaimed, unclaimedReports } from '../db/schema.ts'
import { runBatch, valuesOf } from '../db/statement.ts'
import { MAX_SOURCES, type Source, type SourceRecord } from '../domain/account/source.ts'

/** A source with what only the service sees of it. */
export interface StoredSource extends Source {
  hash: string
  dropped: number
}

const { accountId: _accountId, ...COLUMNS } = getTableColumns(sources)

const isOwn = (accountId: string, id: string): SQL | undefined =>
  and(eq(sources.id, id), eq(sources.accountId, accountId))

const selectSource = (db: Database, accountId: string, id: string) =>
  db.select(COLUMNS).from(sources).where(isOwn(accountId, id))

export const findSource = (
  db: Database,
  accountId: string,
  id: string,
): Promise<StoredSource | undefined> => selectSource(db, accountId, id).get()

/** In the order of their ids, those after `after`. */
export const listSources = (
  db: Database,
  accountId: string,
  after: string,
  limit: number,
): Promise<StoredSource[]> =>
  db
    .select(COLUMNS)
    .from(sources)
    .where(and(eq(sources.accountId, accountId), gt(sources.id, after)))
    .orderBy(sources.id)
    .limit(limit)

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
export const isCapReached = async (db: Database, accountId: string, id: string): Promise<boolean> =>
  (await db.$count(sources, and(eq(sources.accountId, accountId), ne(sources.id, id)))) >=
  MAX_SOURCES

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
  const { found } = await runBatch(db, {
    written: db
      .insert(sources)
      .values(values)
      .onConflictDoUpdate({ target: sources.id, set: { hash } }),
    found: selectSource(db, accountId, id),
  })
  const [source] = found.results
  return source ? { ok: true, source } : { ok: false, refusal: 'source-not-found' }
}

export const updateSource = async (
  db: Database,
  { accountId, id, record, now }: SourceWrite,
  version: number,
): Promise<SourceOutcome> => {
  const { updated, found } = await runBatch(db, {
    updated: db
      .update(sources)
      .set({ ...membersOf(record), lastModified: now, version: version + 1 })
      .where(and(isOwn(accountId, id), eq(sources.version, version))),
    found: selectSource(db, accountId, id),
  })
  const [source] = found.results
  if (!source) return { ok: false, refusal: 'source-not-found' }
  if (updated.meta.changes === 0) return { ok: false, refusal: 'precondition-failed' }
  return { ok: true, source }
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
    db.delete(table).where(and(eq(table.sourceId, id), eq(table.accountId, accountId), isGone))
  const { before, deleted } = await runBatch(db, {
    before: selectSource(db, accountId, id),
    deleted: db.delete(sources).where(and(isOwn(accountId, id), isExpected)),
    unclaimed: ofSource(unclaimed),
    reports: ofSource(unclaimedReports),
    payloads: ofSource(sourcePayloads),
  })
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
  await db
    .update(devices)
    .set({ sourceId })
    .where(sql`${devices.key} IN ${valuesOf(deviceKeys)}`)
}
