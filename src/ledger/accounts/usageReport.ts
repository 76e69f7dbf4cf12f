import {
  deleteRows,
  findRow,
  insertRow,
  query,
  runQuery,
  selectRows,
} from '../../db/objectTable.ts'
import { currentDay } from '../../domain/account/license.ts'
import type { Channel } from '../../domain/message/alert.ts'
import { addDays, type Day, dayStart, localDay } from '../../domain/time/day.ts'
import {
  type DaySpan,
  daysOf,
  type LicenseLine,
  linesSince,
  peakLicenses,
} from '../../domain/usage/licenseDays.ts'
import type { ExactMember, UsageDays } from '../../domain/usage/usage.ts'
import type { Decision } from '../decision.ts'
import * as tables from '../tables.ts'
import { countEndingBetween } from './endings.ts'

/* What the ledger knows of an account's usage: licenses in use, and messages that were accepted. */

const { devices, log, messageUsage } = tables
/** More than a year: closed months have their own copy. */
const KEPT_DAYS = 400

/** Counts a message that a provider has accepted. */
export const countAccepted = (
  { sql, account: { day } }: Decision,
  { channel, provider, segments }: { channel: Channel; provider: string; segments: number },
): void => {
  insertRow(
    sql,
    messageUsage,
    { day, channel, provider, messages: 1, segments },
    {
      messages: query`${messageUsage.messages} + 1`,
      segments: query`${messageUsage.segments} + ${segments}`,
    },
  )
  const isOld = query`${messageUsage.day} < ${addDays(day, -KEPT_DAYS)}`
  deleteRows(sql, messageUsage, query`${isOld} AND ${messageUsage.provider} <> ''`)
}

type AccountRow = typeof tables.account.$inferSelect

/** Expiries that have happened and are not in the log yet. */
const pendingExpiries = (sql: SqlStorage, { timeZone, used }: AccountRow, today: Day) => {
  const counts = runQuery<{ day: Day; count: number }>(
    sql,
    query`SELECT ${devices.ends} AS day, count(*) AS count FROM ${devices}
      WHERE ${devices.ends} <= ${today} AND ${devices.recorded} = 0 GROUP BY ${devices.ends}`,
  )
  return [...counts].flatMap(({ day, count }) => {
    const line: LicenseLine = { time: dayStart(day, timeZone), what: 'expired', used }
    return Array.from({ length: count }, () => line)
  })
}

const readPeaks = (sql: SqlStorage, row: AccountRow, today: Day, span: DaySpan) => {
  const { time, what, used, sequence } = log
  const stored = runQuery<LicenseLine & Record<string, SqlStorageValue>>(
    sql,
    query`SELECT ${time} AS time, ${what} AS what, ${used} AS used FROM ${log}
      ORDER BY ${sequence} DESC`,
  )
  const start = dayStart(span.from, row.timeZone)
  // Rows are read while they are asked for, so no further back than the span needs.
  const lines = linesSince(stored, pendingExpiries(sql, row, today), start)
  const now = row.used - countEndingBetween(sql, row.day, today)
  return peakLicenses({ lines, used: now }, { ...span, timeZone: row.timeZone })
}

/** Of a full log only the newest lines are kept. Messages are counted since a certain day. */
const findExact = (sql: SqlStorage, row: AccountRow, from: Day): ExactMember[] => {
  const [first] = selectRows(sql, log, query`true ORDER BY ${log.sequence} LIMIT 1`)
  const isWhole = !first || first.sequence === 1 || dayStart(from, row.timeZone) >= first.time
  const since = findRow(sql, messageUsage, { provider: '' })?.day ?? ''
  const isCounted = addDays(from, -1) > since || localDay(row.creation, 'UTC') >= since
  return [...(isWhole ? ['licenseDays' as const] : []), ...(isCounted ? ['messages' as const] : [])]
}

export type LedgerUsage = Pick<
  UsageDays,
  'from' | 'timeZone' | 'licenses' | 'messages' | 'exact'
> & {
  /** The last day that is not in the future. */
  to: Day
  creation: number
  /** Whether it is a sandbox, which nobody is sent an invoice for. */
  isSandbox: boolean
}

const earlier = (one: Day, other: Day): Day => {
  if (one < other) return one
  return other
}

/** Null without an account. That of an erased one is known until its storage is deleted. */
export const reportUsage = (sql: SqlStorage, span: DaySpan, now: number): LedgerUsage | null => {
  const row = findRow(sql, tables.account, query`true`)
  if (!row || row.creation === 0) return null
  const { timeZone, deletedAt } = row
  const { from } = span
  const today = currentDay(row, now)
  const to = earlier(span.to, today)
  // A deleted account uses no license after the day of its deletion.
  const used = { from, to: deletedAt === null ? to : earlier(to, localDay(deletedAt, timeZone)) }
  const peaks = readPeaks(sql, row, today, used)
  const licenses = daysOf({ from, to }).map((_, index) => peaks[index] ?? 0)
  const isInSpan = query`${messageUsage.day} BETWEEN ${from} AND ${to}`
  const messages = selectRows(
    sql,
    messageUsage,
    query`${isInSpan} AND ${messageUsage.provider} <> '' ORDER BY ${messageUsage.day}`,
  )
  const { creation, sandbox } = row
  const exact = findExact(sql, row, from)
  const isSandbox = sandbox !== null
  return { from, to, creation, isSandbox, timeZone, licenses, messages, exact }
}
