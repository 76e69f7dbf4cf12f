import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../db/open.ts'
import type { LocationRow } from '../../db/queries/locations.ts'
import { type DeviceRef, isVisibleDevice } from '../../db/queries/visibility.ts'
import { select } from '../../db/query.ts'
import { accounts, archivedMonths, devices } from '../../db/schema.ts'
import {
  compile,
  type Placeholders,
  type RowOf,
  readAll,
  runBatch,
  type Statement,
} from '../../db/statement.ts'
import { keptSince } from '../../domain/account/account.ts'
import { monthOf } from '../../domain/time/month.ts'
import { readMonths } from './monthFile.ts'

/*
 * Tracks across the border between the cell and the bucket. What both have counts once, as the bucket
 * has it: that was stored first. So nothing depends on when a month's rows are deleted from the cell.
 */

/** No month is archived earlier, so a younger span is in the cell alone. */
const MIN_HISTORY_DAYS = 31
const DAY_MS = 86_400_000

/** Whether no month of this time can be archived yet. */
export const isRecent = (time: number): boolean => time > Date.now() - MIN_HISTORY_DAYS * DAY_MS

/** How long an account keeps locations, whatever it asked for. */
export const KEPT_DAYS: SQL<number> = sql`min(${accounts.retentionDays},
  ifnull(${accounts.maxRetentionDays}, ${accounts.retentionDays}))`

interface Months extends DeviceRef {
  first: string
  last: string
}

const selectMonthsOf = compile((p: Placeholders<Months>) =>
  select(
    {
      deviceKey: devices.key,
      keptDays: KEPT_DAYS,
      month: archivedMonths.month,
      object: archivedMonths.object,
      bytes: archivedMonths.bytes,
    },
    sql`FROM ${devices} CROSS JOIN ${accounts} ON ${accounts.id} = ${devices.accountId}
      CROSS JOIN ${archivedMonths} ON ${archivedMonths.accountId} = ${devices.accountId}
        AND ${archivedMonths.month} BETWEEN ${p.first} AND ${p.last}
      WHERE ${isVisibleDevice(p)} ORDER BY ${archivedMonths.month}`,
  ),
)
type MonthRow = RowOf<typeof selectMonthsOf>

/** A part of a device's track: the first `limit` locations of a span. */
export interface SpanQuery extends DeviceRef {
  from: number
  to: number
  limit: number
  /** Ascending unless given. */
  order?: 'asc' | 'desc'
}

/**
 * For the batch that reads a span from the cell: the months of the bucket that may have some of it.
 * Undefined where none can, which costs nothing.
 */
export const selectMonths = (db: Database, query: SpanQuery): Statement<MonthRow> | undefined => {
  const { from, to } = query
  if (!db.history || from > to || isRecent(from)) return undefined
  return selectMonthsOf(db, { ...query, first: monthOf(from), last: monthOf(to) })
}

interface Own<Row> {
  /** The first rows of the span in the cell. */
  rows: Row[]
  /** Whether the cell has more after them. */
  isCut: boolean
  toRow: (archived: LocationRow) => Row
}

/** Merges two lists in the same order. Of two rows with the same time the archived one counts. */
export const mergeArchived = <Row extends { time: number }>(
  own: readonly Row[],
  archived: readonly Row[],
  order: 'asc' | 'desc',
): Row[] => {
  const merged: Row[] = []
  let next = 0
  for (const row of archived) {
    const isBefore = ({ time }: Row) => (order === 'asc' ? time < row.time : time > row.time)
    for (let one = own[next]; one && isBefore(one); one = own[++next]) merged.push(one)
    if (own[next]?.time === row.time) next++
    merged.push(row)
  }
  return [...merged, ...own.slice(next)]
}

/** Adds to the rows of the cell those of the bucket, up to the query's limit. */
export const addArchived = async <Row extends { time: number }>(
  { history }: Database,
  { from, to, limit, order = 'asc' }: SpanQuery,
  months: readonly MonthRow[] | undefined,
  { rows, isCut, toRow }: Own<Row>,
): Promise<Row[]> => {
  const [month] = months ?? []
  if (!months || !month || !history) return rows
  // Beyond its last row the cell has others, which would be left out.
  const end = (isCut && rows.at(-1)?.time) || null
  const span = {
    deviceKey: month.deviceKey,
    from: Math.max(keptSince(Date.now(), month.keptDays), (order === 'desc' && end) || from),
    to: (order === 'asc' && end) || to,
    limit,
    order,
  }
  const needed = months.filter(
    (one) => one.month >= monthOf(span.from) && one.month <= monthOf(span.to),
  )
  const archived = await readMonths(history, needed, span)
  return mergeArchived(rows, archived.map(toRow), order).slice(0, limit)
}

/** Reads a span from the cell, by a statement with the query's limit, and from the bucket. */
export const readAcross = async <Row extends { time: number }>(
  db: Database,
  query: SpanQuery,
  own: Statement<Row>,
  toRow: (archived: LocationRow) => Row,
): Promise<Row[]> => {
  const months = selectMonths(db, query)
  if (!months) return readAll(own)
  const found = await runBatch(db, { own, months })
  const rows = found.own.results
  const isCut = rows.length >= query.limit
  return addArchived(db, query, found.months.results, { rows, isCut, toRow })
}
