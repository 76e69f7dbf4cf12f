import { eq, sql } from 'drizzle-orm'
import { isHere } from '../db/movedCell.ts'
import type { Database } from '../db/open.ts'
import { selectBacklogs } from '../db/queries/backlogs.ts'
import {
  accounts,
  alerts,
  cells,
  directory,
  messages,
  pendingRaises,
  sweepRuns,
} from '../db/schema.ts'
import { literal, readFirst, runBatch, statement } from '../db/statement.ts'

/** The sizes of the cells, as the sweep has found them. Throws when the directory is unreachable. */
export const readCellSizes = async (db: Database): Promise<Map<number, number | null>> => {
  const rows = await db.select({ cell: cells.cell, sizeBytes: cells.sizeBytes }).from(cells)
  return new Map(rows.map(({ cell, sizeBytes }) => [cell, sizeBytes]))
}

export const saveCellSize = (db: Database, cell: number, sizeBytes: number) =>
  db
    .insert(cells)
    .values({ cell, sizeBytes })
    .onConflictDoUpdate({ target: cells.cell, set: { sizeBytes } })

const RUN_ID = 1

/** A part that has never succeeded has the time 0. */
const NEVER = 0

/** One row for all parts: each minute writes it. */
export const saveSweepRun = (
  db: Database,
  { succeeded, failed }: { succeeded: string[]; failed: string[] },
  now: number,
) => {
  const timesOf = (names: string[], at: number) => names.map((part) => [part, at] as const)
  const done = Object.fromEntries(timesOf(succeeded, now))
  const parts = { ...Object.fromEntries(timesOf(failed, NEVER)), ...done }
  const known = sql`json_patch(excluded.parts, ${sweepRuns.parts})`
  const latest = sql`json_patch(${known}, ${JSON.stringify(done)})`
  return db
    .insert(sweepRuns)
    .values({ id: RUN_ID, at: now, parts })
    .onConflictDoUpdate({ target: sweepRuns.id, set: { at: now, parts: latest } })
    .run()
}

/** When the sweep was last in this cell; null for never. */
export const readLastSweep = async (db: Database): Promise<number | null> => {
  const [run] = await db.select({ at: sweepRuns.at }).from(sweepRuns)
  return run?.at ?? null
}

/** The account that was opened first: its ledger shows the version that objects have. */
export const findFirstAccount = async (db: Database): Promise<string | null> => {
  const [first] = await db
    .select({ accountId: directory.accountId })
    .from(directory)
    .orderBy(directory.number)
    .limit(1)
  return first?.accountId ?? null
}

/** The newest migration; null where something else than wrangler has applied them. */
const readSchemaVersion = async (db: Database): Promise<string | null> => {
  const newest = sql`SELECT name FROM d1_migrations ORDER BY id DESC LIMIT 1`
  try {
    const row = await readFirst(statement<{ name: string }>(db, newest))
    return row?.name.replace(/\.sql$/, '') ?? null
  } catch {
    return null
  }
}

/** How many of the oldest are looked at. */
const MAX_QUEUED = 10_000
const MAX_PENDING = 1000

const alertIdOfMessage = sql`'alr_' || substr(${messages.id}, 5, length(${messages.id}) - 8)`

/** The oldest queued message, or the oldest of an emergency. Deleted accounts send nothing. */
const selectQueued = (db: Database, onlyEmergencies: boolean) =>
  statement<{ since: number; accountId: string }>(
    db,
    sql`SELECT queued.changed AS since, queued.account_id AS accountId
      FROM (SELECT ${messages.changed}, ${messages.accountId}, ${alertIdOfMessage} AS alert_id
        FROM ${messages} WHERE ${messages.status} = 'queued'
        ORDER BY ${messages.changed} LIMIT ${literal(MAX_QUEUED)}) queued
      JOIN ${accounts} ON ${accounts.id} = queued.account_id AND ${accounts.deletedAt} IS NULL
        AND ${isHere(accounts.id)}
      ${
        onlyEmergencies
          ? sql`JOIN ${alerts} ON ${alerts.id} = queued.alert_id AND ${alerts.emergency} = 1`
          : sql``
      }
      ORDER BY queued.changed LIMIT 1`,
  )

/** The oldest alert that no ledger has decided on yet. */
const selectPending = (db: Database) =>
  statement<{ since: number; accountId: string }>(
    db,
    sql`SELECT pending.creation AS since, pending.account_id AS accountId
      FROM (SELECT ${pendingRaises.creation}, ${pendingRaises.accountId} FROM ${pendingRaises}
        ORDER BY ${pendingRaises.creation}, ${pendingRaises.id}
        LIMIT ${literal(MAX_PENDING)}) pending
      JOIN ${accounts} ON ${accounts.id} = pending.account_id AND ${accounts.deletedAt} IS NULL
        AND ${isHere(accounts.id)}
      ORDER BY pending.creation LIMIT 1`,
  )

/** Everything that the operator wants to know of a cell. Throws when it is unreachable. */
export const readCellHealth = async (db: Database, now: number) => {
  const { run, unsent, emergency, pending, behind } = await runBatch(db, {
    run: db.select().from(sweepRuns).where(eq(sweepRuns.id, RUN_ID)),
    unsent: selectQueued(db, false),
    emergency: selectQueued(db, true),
    pending: selectPending(db),
    behind: selectBacklogs(db, now),
  })
  const schema = await readSchemaVersion(db)
  const ofKind = (kind: string) => behind.results.find((backlog) => backlog.kind === kind) ?? null
  return {
    schema,
    sizeBytes: run.meta.size_after,
    lastSweep: run.results[0]?.at ?? null,
    parts: run.results[0]?.parts ?? {},
    unsentMessage: unsent.results[0] ?? null,
    unsentEmergency: emergency.results[0] ?? null,
    pendingAlert: pending.results[0] ?? null,
    outbox: ofKind('outbox'),
    webhooks: ofKind('webhook'),
  }
}
export type CellHealth = Awaited<ReturnType<typeof readCellHealth>>

/** How many accounts each cell has. */
export const countAccounts = async (db: Database): Promise<Map<number, number>> => {
  const rows = await db.select({ cell: cells.cell, accounts: cells.accounts }).from(cells)
  return new Map(rows.map((row) => [row.cell, row.accounts]))
}
