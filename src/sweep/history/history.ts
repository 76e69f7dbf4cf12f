import { asc, isNotNull, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { openDirectory, withWriter } from '../../db/open.ts'
import { select } from '../../db/query.ts'
import { accounts, archivedMonths, devices, locations } from '../../db/schema.ts'
import type { RowOf } from '../../db/statement.ts'
import { compile, literal, type Placeholders, readAll, readFirst } from '../../db/statement.ts'
import { keptSince } from '../../domain/account/account.ts'
import { DEVICES_PER_ACCOUNT } from '../../domain/account/device.ts'
import { monthEnd, monthOf, monthStart } from '../../domain/time/month.ts'
import { readNumber } from '../../env.ts'
import { KEPT_DAYS } from '../../locations/history/store.ts'
import { listMovingAccounts } from '../../move/store.ts'
import { type CellRun, readPosition, runPart, savePosition } from '../run.ts'
import { deleteMonth, GROUP_QUERIES } from './deleteMonth.ts'
import { PAGES_PER_PART, PART_QUERIES, writeNextPart } from './writeMonth.ts'

/*
 * Moves months of tracks to the bucket: writes the object, records the month, then deletes its rows.
 * Whatever is interrupted goes on in the next run, or begins anew where nothing depends on it yet.
 */

/** The name under which `sweep_positions` stores the number of the last account. */
const PART = 'history'
const MAX_ACCOUNTS = 20
const MAX_PARTS = 2
const MAX_GROUPS = 20
const MAX_DELETING = 10
const DAY_MS = 86_400_000
/** Moves to other cells, months whose rows are still here, the position, and the accounts. */
const FIXED_QUERIES = 4
/** Of each account its oldest location and its expired months. */
export const MAX_HISTORY_QUERIES =
  FIXED_QUERIES + 2 * MAX_ACCOUNTS + MAX_PARTS * PART_QUERIES + MAX_GROUPS * GROUP_QUERIES + 1

const WRITER = {
  actor: { type: 'system', id: PART, name: null },
  requestId: PART,
  address: null,
} as const

const selectAccounts = compile((p: Placeholders<{ after: number }>) =>
  select(
    {
      id: accounts.id,
      number: accounts.number,
      keptDays: KEPT_DAYS,
      firstMonth: sql<string | null>`(SELECT min(${archivedMonths.month}) FROM ${archivedMonths}
        WHERE ${archivedMonths.accountId} = ${accounts.id})`,
      lastMonth: sql<string | null>`(SELECT max(${archivedMonths.month}) FROM ${archivedMonths}
        WHERE ${archivedMonths.accountId} = ${accounts.id})`,
    },
    sql`FROM ${accounts} WHERE ${accounts.number} > ${p.after} AND ${accounts.deletedAt} IS NULL
      ORDER BY ${accounts.number} LIMIT ${literal(MAX_ACCOUNTS)}`,
  ),
)
type AccountRow = RowOf<typeof selectAccounts>

const other = alias(locations, 'other')

interface Oldest {
  firstKey: number
  lastKey: number
  from: number
  before: number
}

/** The oldest location of an account that can move: two seeks for each device. */
const selectOldest = compile((p: Placeholders<Oldest>) =>
  select(
    { time: sql<number | null>`min(${locations.time})` },
    sql`FROM ${devices} CROSS JOIN ${locations} ON ${locations.deviceKey} = ${devices.key}
        AND ${locations.time} = (SELECT min(${other.time}) FROM ${locations} ${other}
          WHERE ${other.deviceKey} = ${devices.key} AND ${other.time} >= ${p.from})
      WHERE ${devices.key} BETWEEN ${p.firstKey} AND ${p.lastKey}
        AND ${locations.time} < ${p.before}
        AND ${locations.time} < (SELECT max(${other.time}) FROM ${locations} ${other}
          WHERE ${other.deviceKey} = ${devices.key})`,
  ),
)

interface HistoryRun extends CellRun {
  bucket: R2Bucket
  /** Months that begin at or after this instant stay in the cell. */
  border: number
}

/** Deletes months that are older than the account keeps anything. Readers leave them out already. */
const deleteExpired = async (run: HistoryRun, { id, keptDays, firstMonth }: AccountRow) => {
  const { bucket, db, now, take } = run
  const since = monthOf(keptSince(now, keptDays))
  if (firstMonth === null || firstMonth >= since || !take()) return
  const isExpired = sql`${archivedMonths.accountId} = ${id} AND ${archivedMonths.month} < ${since}`
  const expired = await db
    .select({ object: archivedMonths.object })
    .from(archivedMonths)
    .where(isExpired)
  // The objects first: without its row nobody would find one again.
  await bucket.delete(expired.map(({ object }) => object))
  await db.delete(archivedMonths).where(isExpired)
}

/** Writes the account's next month. False when more is left than this run may do. */
const moveNextMonth = async (run: HistoryRun, account: AccountRow): Promise<boolean> => {
  const { bucket, db, now, border, take } = run
  await deleteExpired(run, account)
  const { id: accountId, number, keptDays, lastMonth } = account
  // Older rows came after their month had moved; they stay in the cell.
  const from = Math.max(lastMonth === null ? 0 : monthEnd(lastMonth), keptSince(now, keptDays))
  if (from >= border) return true
  if (!take()) return false
  const firstKey = number * DEVICES_PER_ACCOUNT
  const keys = { firstKey, lastKey: firstKey + DEVICES_PER_ACCOUNT - 1 }
  const oldest = await readFirst(selectOldest(db, { ...keys, from, before: border }))
  if (!oldest?.time) return true
  const month = monthOf(oldest.time)
  const writing = { bucket, db: withWriter(db, WRITER), now, pagesPerPart: PAGES_PER_PART }
  const move = { ...writing, accountId, number, month }
  for (let parts = 0; parts < MAX_PARTS && take(PART_QUERIES); parts++)
    if (await writeNextPart(move)) break
  return false
}

/** Moves old months of a cell to the bucket, one account after the other, and round again. */
export const moveHistory = async (run: CellRun): Promise<void> => {
  const { env, cell, db, now, take } = run
  const bucket = env.HISTORY
  if (!bucket || !take(FIXED_QUERIES)) return
  const border = monthStart(monthOf(now - readNumber(env, 'HISTORY_AFTER_DAYS') * DAY_MS))
  const history = { ...run, bucket, border }
  // Two cells have rows of them.
  const movingAccounts = await listMovingAccounts(openDirectory(env))
  const written = await db
    .select()
    .from(archivedMonths)
    .where(isNotNull(archivedMonths.nextGroup))
    .orderBy(asc(archivedMonths.creation))
    .limit(MAX_DELETING)
  for (const month of written)
    if (!movingAccounts.has(month.accountId))
      await runPart('history', { cell, account: month.accountId }, () =>
        deleteMonth(history, month),
      )
  const after = await readPosition(db, PART)
  const page = await readAll(selectAccounts(db, { after }))
  let position = page.length < MAX_ACCOUNTS ? 0 : (page.at(-1)?.number ?? 0)
  let last = after
  for (const account of page) {
    if (movingAccounts.has(account.id)) continue
    const where = { cell, account: account.id }
    // One that fails is passed over until the next round.
    const isDone = await runPart('history', where, () => moveNextMonth(history, account))
    if (isDone === false) {
      position = last
      break
    }
    last = account.number
  }
  if (position !== after && take()) await savePosition(db, PART, position)
}
