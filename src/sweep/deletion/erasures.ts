import { and, asc, between, eq, lte, type SQL, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { ACCOUNT_TABLES, deletePage } from '../../db/accountTables.ts'
import { isHere } from '../../db/movedCell.ts'
import { type Database, openDirectory } from '../../db/open.ts'
import { DELETE_ALERTS_QUERIES, deleteAlerts } from '../../db/queries/alerts.ts'
import { STORED_BYTES } from '../../db/queries/locations.ts'
import { readUsage } from '../../db/queries/usage.ts'
import * as schema from '../../db/schema.ts'
import { readFirst, statement } from '../../db/statement.ts'
import { keysBeside } from '../../domain/account/device.ts'
import { isMoveOver } from '../../domain/admin/move.ts'
import { addDays } from '../../domain/time/day.ts'
import { monthsOf } from '../../domain/usage/usage.ts'
import type { Env } from '../../env.ts'
import { feedOf } from '../../feed/stub.ts'
import { ledgerOf } from '../../ledger/stub.ts'
import { deleteHistory } from '../../locations/history/objects.ts'
import { deleteMove, findMove } from '../../move/store.ts'
import { closeMonth } from '../../usage/readUsage.ts'
import { type CellRun, runPart, type TakeQueries } from '../run.ts'
import { deleteLocations, deletePages, LOCATION_PAGE, LOCATION_QUERIES } from './deletePage.ts'

const PAGE = 1000
const TRACK_PAGE = 5000
const MAX_JOBS = 100
export const MAX_ERASURE_QUERIES = 270
/** So that a large account holds up no other erasure. */
const MAX_JOB_QUERIES = 75
/** Another isolate may accept a token of an erased account, and write, for up to 30 s. */
const LATE_WRITE_GRACE_MS = 60_000

const { accounts, alerts, audit, commands, devices, erasures, locations, quarantine, watches } =
  schema

/** Of these, rows remain: the erasure itself, usage for invoices, and what the operator did. */
const REMAINS = new Map<SQLiteTable, (accountId: string) => SQL>([
  [erasures, (id) => sql`${erasures.accountId} = ${id} AND ${erasures.id} <> ${id}`],
  [schema.usageMonths, () => sql`false`],
  [
    audit,
    (id) => sql`${audit.accountId} = ${id} AND ${audit.actorType} <> 'operator'
      AND ${audit.action} <> 'account.erased'`,
  ],
])

type DeviceKeys = [first: number, last: number]

/** The range of an account's device keys, known from any of its devices. Null: no track is left. */
const findDeviceKeys = async (db: Database, accountId: string): Promise<DeviceKeys | null> => {
  const found = await readFirst(
    statement<{ key: number }>(
      db,
      sql`SELECT ${devices.key} AS key FROM ${devices} WHERE ${devices.accountId} = ${accountId}
        UNION ALL SELECT ${erasures.deviceKey} FROM ${erasures}
        WHERE ${erasures.accountId} = ${accountId} AND ${erasures.deviceKey} IS NOT NULL LIMIT 1`,
    ),
  )
  return found && keysBeside(found.key)
}

type Erasure = typeof erasures.$inferSelect

/** Deletes the rows of an account, its own erasure excepted. False when there may be more. */
const eraseAccountRows = async (
  db: Database,
  accountId: string,
  take: TakeQueries,
): Promise<boolean> => {
  if (!take()) return false
  const deviceKeys = await findDeviceKeys(db, accountId)
  const isOfDevices = deviceKeys && between(locations.deviceKey, ...deviceKeys)
  const works: { table: SQLiteTable; where: SQL; page: number }[] = [
    ...(isOfDevices ? [{ table: locations, where: isOfDevices, page: TRACK_PAGE }] : []),
    ...ACCOUNT_TABLES.map((table) => {
      const isOfAccount = eq(table.accountId, accountId)
      return { table, where: REMAINS.get(table)?.(accountId) ?? isOfAccount, page: PAGE }
    }),
  ]
  for (const { table, where, page } of works) {
    const deleteNext = () => deletePage(db, table, where, page)
    if (!(await deletePages({ take, deleteNext }))) return false
  }
  return true
}

/** Deletes a device's track, alerts, quarantine, commands and watches. False when more may be left. */
const eraseDeviceRows = async (
  db: Database,
  { accountId, deviceKey }: Erasure,
  take: TakeQueries,
): Promise<boolean> => {
  const track = sql`SELECT ${locations.deviceKey}, ${locations.time}, ${accountId} AS account_id,
      ${STORED_BYTES} AS bytes
    FROM ${locations} WHERE ${locations.deviceKey} = ${deviceKey} ORDER BY ${locations.time}`
  const isTrackErased = await deletePages({
    take,
    queries: LOCATION_QUERIES,
    deleteNext: async () => (await deleteLocations(db, track)) === LOCATION_PAGE,
  })
  for (const table of [quarantine, commands, watches]) {
    const where = eq(table.deviceKey, deviceKey ?? 0)
    const deleteNext = () => deletePage(db, table, where, PAGE)
    if (!(await deletePages({ take, deleteNext }))) return false
  }
  const ofDevice = sql`SELECT ${alerts.id}, ${alerts.accountId} FROM ${alerts}
    WHERE ${alerts.deviceKey} = ${deviceKey} ORDER BY ${alerts.time}, ${alerts.id}`
  return (
    isTrackErased &&
    deletePages({
      take,
      queries: DELETE_ALERTS_QUERIES,
      deleteNext: () => deleteAlerts(db, ofDevice),
    })
  )
}

/**
 * Whether rows of the account are in one cell only. A move of an erased account is cancelled, or ends,
 * with the next sweep.
 */
const isInOneCell = async ({ env, take }: CellRun, accountId: string): Promise<boolean> => {
  if (!take()) return false
  const move = await findMove(openDirectory(env), accountId)
  return !move || isMoveOver(move.step)
}

/** What closing two months takes. */
const CLOSE_QUERIES = 10

/**
 * The usage of the last two months is for invoices: it is stored before what it is made of goes.
 * False when that has to wait.
 */
const closeLastMonths = async (run: CellRun, accountId: string): Promise<boolean> => {
  const { env, db, now, take } = run
  if (!take()) return false
  if (!(await readUsage(db, accountId))) return true
  if (!take(CLOSE_QUERIES)) return false
  const today = new Date(now).toISOString().slice(0, 10)
  for (const month of monthsOf({ from: addDays(today, -31), to: addDays(today, 1) }))
    await closeMonth({ env, db, accountId }, month, now)
  return true
}

/** Deletes the storage of the account's two Durable Objects. False when the ledger refuses. */
const eraseObjects = async (env: Env, accountId: string): Promise<boolean> => {
  await feedOf(env, accountId).deleteStorage()
  return ledgerOf(env, accountId).deleteStorage()
}

/** Continues one erasure, and ends it once nothing is left. */
const runErasure = async (run: CellRun, erasure: Erasure): Promise<void> => {
  const { env, db, now, take } = run
  const { id, accountId, deviceKey, creation } = erasure
  if (deviceKey === null) {
    if (!(await isInOneCell(run, accountId))) return
    if (!(await closeLastMonths(run, accountId))) return
    if (!(await eraseAccountRows(db, accountId, take))) return
    const isSettled = now - creation >= LATE_WRITE_GRACE_MS
    if (isSettled && env.HISTORY) await deleteHistory(env.HISTORY, accountId)
    if (!isSettled || !(await eraseObjects(env, accountId).catch(() => false)) || !take()) return
    await deleteMove(openDirectory(env), accountId)
  } else if (!(await eraseDeviceRows(db, erasure, take))) return
  if (!take(2)) return
  await db.batch([
    db.delete(erasures).where(and(eq(erasures.accountId, accountId), eq(erasures.id, id))),
    // While its erasure exists, no late write restores the account's row. For a device's erasure
    // `id` is no account's id, and this deletes nothing.
    db.delete(accounts).where(eq(accounts.id, id)),
  ])
}

/** Runs the erasures, oldest first. A long one continues in the next run and holds up no other. */
export const runErasures = async (run: CellRun): Promise<void> => {
  const { cell, db, now, take } = run
  if (!take()) return
  const jobs = await db
    .select()
    .from(erasures)
    .where(and(lte(erasures.creation, now), isHere(erasures.accountId)))
    .orderBy(asc(erasures.creation))
    .limit(MAX_JOBS)
  for (const job of jobs) {
    let left = MAX_JOB_QUERIES
    const takeForJob = (count = 1) => {
      left -= count
      return left >= 0 && take(count)
    }
    const where = { cell, account: job.accountId }
    await runPart('erasures', where, () => runErasure({ ...run, take: takeForJob }, job))
  }
}
