import { and, between, eq, gt, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { auditWrite } from '../db/queries/audit.ts'
import { type InferRow, nullable, select } from '../db/query.ts'
import { accounts, accountUsage, sweepPositions, usageDays, usageMonths } from '../db/schema.ts'
import { readAll, runBatch, statement } from '../db/statement.ts'
import { addDays } from '../domain/time/day.ts'
import type { DaySpan } from '../domain/usage/licenseDays.ts'
import {
  type CountedDay,
  lastClosedMonth,
  type Month,
  monthOf,
  type UsageDays,
} from '../domain/usage/usage.ts'

/** What was counted on the days of a span, on the last one before it, and on the current day. */
export const readCountedDays = async (
  db: Database,
  accountId: string,
  { from, to }: DaySpan,
): Promise<CountedDay[]> => {
  const columns = (table: typeof usageDays | typeof accountUsage) => ({
    day: table.day,
    locations: table.locations,
    requests: table.requests,
    storageBytes: table.storageBytes,
  })
  const ofAccount = eq(usageDays.accountId, accountId)
  const before = db
    .select(columns(usageDays))
    .from(usageDays)
    .where(and(ofAccount, sql`${usageDays.day} < ${from}`))
    .orderBy(sql`${usageDays.day} DESC`)
    .limit(1)
  const during = db
    .select(columns(usageDays))
    .from(usageDays)
    .where(and(ofAccount, between(usageDays.day, from, to)))
  const today = db
    .select(columns(accountUsage))
    .from(accountUsage)
    .where(eq(accountUsage.accountId, accountId))
  return (await db.batch([before, during, today])).flat()
}

type ClosedMonth = Pick<typeof usageMonths.$inferSelect, 'month' | 'record'>

export const readClosedMonths = (
  db: Database,
  accountId: string,
  [first, last]: [Month, Month],
): Promise<ClosedMonth[]> =>
  db
    .select({ month: usageMonths.month, record: usageMonths.record })
    .from(usageMonths)
    .where(and(eq(usageMonths.accountId, accountId), between(usageMonths.month, first, last)))

interface NewMonth {
  accountId: string
  month: Month
  record: UsageDays
  now: number
}

/** Stores the usage of a month, unless it is stored already. */
export const insertMonth = async (
  db: Database,
  { accountId, month, record, now }: NewMonth,
): Promise<void> => {
  const resource = { type: 'usageMonth', id: month }
  const audited = auditWrite(db, { accountId, now, action: 'usageMonth.closed', resource })
  const stored = db.insert(usageMonths).values({ accountId, month, record, creation: now })
  await runBatch(db, { stored: stored.onConflictDoNothing(), audited })
}

const LISTED = {
  id: sql<string>`ids.id`,
  userName: nullable(accounts.userName),
  name: nullable(accounts.name),
  record: nullable(usageMonths.record),
}
export type ListedAccount = InferRow<typeof LISTED>

interface MonthListing {
  month: Month
  /** Accounts that were opened later had none. */
  openedBefore: number
  /** The account that the page before ended with. */
  after: string
  limit: number
}

/** The accounts of a cell that had the month, by id; those that are erased since, too. */
export const listMonth = (
  db: Database,
  { month, openedBefore, after, limit }: MonthListing,
): Promise<ListedAccount[]> => {
  const existing = sql`SELECT ${accounts.id} AS id FROM ${accounts}
    WHERE ${accounts.id} > ${after} AND ${accounts.creation} < ${openedBefore}
      AND ${accounts.sandbox} IS NULL
    ORDER BY ${accounts.id} LIMIT ${limit}`
  const closed = sql`SELECT ${usageMonths.accountId} AS id FROM ${usageMonths}
    WHERE ${usageMonths.month} = ${month} AND ${usageMonths.accountId} > ${after}
    ORDER BY ${usageMonths.accountId} LIMIT ${limit}`
  const ids = sql`SELECT * FROM (${existing}) UNION SELECT * FROM (${closed})`
  const listed = select(
    LISTED,
    sql`FROM (${ids} ORDER BY 1 LIMIT ${limit}) ids
      LEFT JOIN ${accounts} ON ${accounts.id} = ids.id
      LEFT JOIN ${usageMonths} ON ${usageMonths.accountId} = ids.id
        AND ${usageMonths.month} = ${month}
      ORDER BY ids.id`,
  )
  return readAll(statement(db, listed))
}

/** The position of the sweep that is the last month (such as 202610) all accounts have closed. */
export const MONTHS_DONE = 'usage-months-done'
export const monthNumber = (month: Month): number => Number(month.replace('-', ''))

/**
 * Goes back to the first month that an account has not closed which has come to this cell: the cell
 * it left may not have got so far.
 */
export const reopenMonths = async (db: Database, accountId: string, now: number): Promise<void> => {
  const [found] = await db
    .select({ month: sql<Month | null>`max(${usageMonths.month})` })
    .from(usageMonths)
    .where(eq(usageMonths.accountId, accountId))
  const before = monthOf(addDays(`${lastClosedMonth(now)}-01`, -1))
  const position = monthNumber(found?.month ?? before)
  await db
    .update(sweepPositions)
    .set({ position })
    .where(and(eq(sweepPositions.part, MONTHS_DONE), gt(sweepPositions.position, position)))
}
