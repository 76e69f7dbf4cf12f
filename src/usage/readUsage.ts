import type { Database } from '../db/open.ts'
import { retryTransient } from '../db/transient.ts'
import { addDays } from '../domain/time/day.ts'
import type { DaySpan } from '../domain/usage/licenseDays.ts'
import {
  daysOfMonth,
  firstMonth,
  type Month,
  monthOf,
  monthsOf,
  spreadCounts,
  sumUsage,
  type UsageDays,
  type UsageTotals,
} from '../domain/usage/usage.ts'
import type { Env } from '../env.ts'
import { ledgerOf } from '../ledger/stub.ts'
import { insertMonth, readClosedMonths, readCountedDays } from './store.ts'

export interface UsedAccount {
  env: Env
  /** The account's cell. */
  db: Database
  accountId: string
}

/** Usage as it is now: what the ledger knows with what the cell has counted. */
const computeDays = async (
  { env, db, accountId }: UsedAccount,
  span: DaySpan,
): Promise<{ days: UsageDays; creation: number; isSandbox: boolean } | null> => {
  const [known, counted] = await Promise.all([
    retryTransient(() => ledgerOf(env, accountId).reportUsage(span)),
    readCountedDays(db, accountId, span),
  ])
  if (!known) return null
  // A ledger of the release before does not say it.
  const { to, creation, isSandbox = false, ...ofLedger } = known
  const days = { ...ofLedger, ...spreadCounts(counted, { from: span.from, to }) }
  return { days, creation, isSandbox }
}

export interface UsageReport extends UsageTotals, DaySpan {
  timeZone: string
  /** Whether all of it is of closed months, and never changes. */
  closed: boolean
}

export const reportOf = (parts: UsageDays[], span: DaySpan, closed: boolean): UsageReport => ({
  ...span,
  timeZone: parts.at(-1)?.timeZone ?? 'UTC',
  closed,
  ...sumUsage(parts, span),
})

/** The days of a span that are in no closed month. */
const openSpans = ({ from, to }: DaySpan, closed: ReadonlySet<Month>): DaySpan[] => {
  const spans: DaySpan[] = []
  for (const month of monthsOf({ from, to })) {
    if (closed.has(month)) continue
    const days = daysOfMonth(month)
    const first = days.from > from ? days.from : from
    const last = days.to < to ? days.to : to
    const before = spans.at(-1)
    if (before && addDays(before.to, 1) === first) before.to = last
    else spans.push({ from: first, to: last })
  }
  return spans
}

/** What an account has used: closed months as they were stored, the other days as of now. */
export const readUsage = async (
  account: UsedAccount,
  span: DaySpan,
): Promise<UsageReport | null> => {
  const { db, accountId } = account
  const borders: [Month, Month] = [monthOf(span.from), monthOf(span.to)]
  const stored = await readClosedMonths(db, accountId, borders)
  const open = openSpans(span, new Set(stored.map(({ month }) => month)))
  const computed = await Promise.all(open.map((days) => computeDays(account, days)))
  const parts = [...stored.map(({ record }) => record)]
  for (const found of computed) {
    if (!found) return null
    parts.push(found.days)
  }
  return reportOf(parts, span, open.length === 0)
}

/** Stores the usage of a month that is over, or of an account that is, once and for all. */
export const closeMonth = async (
  account: UsedAccount,
  month: Month,
  now: number,
): Promise<void> => {
  const { db, accountId } = account
  const span = daysOfMonth(month)
  const found = await computeDays(account, span)
  const isUnknown = !found || found.isSandbox || firstMonth(found.creation) > month
  if (isUnknown || found.days.licenses.length === 0) return
  await insertMonth(db, { accountId, month, record: found.days, now })
}
