import { and, asc, eq, gt, isNull, lt, sql } from 'drizzle-orm'
import { isHere } from '../db/movedCell.ts'
import { type Database, withWriter } from '../db/open.ts'
import { accounts, usageMonths } from '../db/schema.ts'
import { endOfMonth, lastClosedMonth, type Month, nextMonth } from '../domain/usage/usage.ts'
import { closeMonth } from '../usage/readUsage.ts'
import { MONTHS_DONE, monthNumber } from '../usage/store.ts'
import { type CellRun, readPosition, runPart, savePosition } from './run.ts'

/* Closes the months of all accounts but sandboxes, deleted ones too, in pages by their numbers. */

const MAX_ACCOUNTS = 50
/** Of one account: what it has counted, its row and the entry of the audit. */
const ACCOUNT_QUERIES = 5
const MAX_OWN_QUERIES = 6
export const MAX_MONTH_QUERIES = MAX_OWN_QUERIES + MAX_ACCOUNTS * ACCOUNT_QUERIES
/** How far a pass has come. */
const PASS = 'usage-months'
export const SWEEP_WRITER = {
  actor: { type: 'system', id: 'sweep', name: null },
  requestId: 'sweep',
  address: null,
} as const

const toMonth = (number: number): Month =>
  `${Math.floor(number / 100)}-${String(number % 100).padStart(2, '0')}`

const isClosed = (month: Month) => sql<number>`EXISTS (SELECT 1 FROM ${usageMonths}
  WHERE ${usageMonths.accountId} = ${accounts.id} AND ${usageMonths.month} = ${month})`

const readPage = (db: Database, month: Month, after: number) =>
  db
    .select({ id: accounts.id, number: accounts.number, isClosed: isClosed(month) })
    .from(accounts)
    .where(and(gt(accounts.number, after), isNull(accounts.sandbox), isHere(accounts.id)))
    .orderBy(asc(accounts.number))
    .limit(MAX_ACCOUNTS)

/** Whether an account that existed in the month has not closed it, because its ledger failed. */
const hasOpen = async (db: Database, month: Month): Promise<boolean> => {
  const existed = lt(accounts.creation, endOfMonth(month))
  const open = db.select({ id: accounts.id }).from(accounts)
  return (
    (
      await open
        .where(and(existed, eq(isClosed(month), 0), isNull(accounts.sandbox), isHere(accounts.id)))
        .limit(1)
    ).length > 0
  )
}

export const closeMonths = async ({ env, cell, db, now, take }: CellRun): Promise<void> => {
  if (!take()) return
  const last = lastClosedMonth(now)
  const done = await readPosition(db, MONTHS_DONE)
  if (done >= monthNumber(last) || !take(MAX_OWN_QUERIES - 1)) return
  const month = done === 0 ? last : nextMonth(toMonth(done))
  const page = await readPage(db, month, await readPosition(db, PASS))
  const audited = withWriter(db, SWEEP_WRITER)
  for (const { id: accountId, number, isClosed } of page) {
    if (isClosed) continue
    if (!take(ACCOUNT_QUERIES)) return void (await savePosition(db, PASS, number - 1))
    await runPart('usage-months', { cell, account: accountId }, () =>
      closeMonth({ env, db: audited, accountId }, month, now),
    )
  }
  const isPassOver = page.length < MAX_ACCOUNTS
  await savePosition(db, PASS, isPassOver ? 0 : (page.at(-1)?.number ?? 0))
  if (isPassOver && !(await hasOpen(db, month)))
    await savePosition(db, MONTHS_DONE, monthNumber(month))
}
