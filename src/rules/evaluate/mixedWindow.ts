import { sql } from 'drizzle-orm'
import type { Database } from '../../db/open.ts'
import { fixColumns } from '../../db/queries/fixes.ts'
import type { Viewer } from '../../db/queries/visibility.ts'
import { accounts, devices, groupDevices, locations } from '../../db/schema.ts'
import { compile, literal, placeholders, readAll, runBatch } from '../../db/statement.ts'
import type { Day } from '../../domain/time/day.ts'
import { type Fix, type FixRow, toFix } from '../../domain/track/fix.ts'
import { devicesOf } from '../../ingest/mixedDevices.ts'
import type { Segment } from './report.ts'
import { MAX_TIME } from './reportWindow.ts'

/* The parts of the tracks of many devices around their locations of one report. */

/** The locations from `first` to `last` of a device, and so many before and after them. */
export interface Span {
  deviceId: string | null
  identifierKey: string | null
  first: number
  last: number
}

export interface WindowSize {
  before: number
  after: number
}

export interface SpanRows {
  stored: Fix[]
  /** Nothing is stored before, or after, what was read. */
  isStart: boolean
  isEnd: boolean
}

export interface DeviceState {
  /** The position of its span. */
  report: number
  key: number
  id: string
  ends: Day | null
  max_speed: number
  groups: string
  day: Day
  retention_days: number
  /** Whether more locations lie in the span than are read. */
  is_wide: 0 | 1
}

interface Values extends Viewer, WindowSize {
  spans: string
  wantsRest: 0 | 1
}

const p = placeholders('accountId', 'spans', 'before', 'after', 'wantsRest')
const [FIRST, LAST] = [sql`sent.value ->> 2`, sql`sent.value ->> 3`]

/** More are read around each location by itself. */
const MAX_WITHIN = 200

const IS_WIDE = sql`EXISTS (SELECT 1 FROM ${locations} inner_one
  WHERE inner_one.device_key = ${devices.key} AND inner_one.time BETWEEN ${FIRST} AND ${LAST}
  LIMIT 1 OFFSET ${literal(MAX_WITHIN)})`

const selectDevices = compile<Values, DeviceState>(
  sql`SELECT sent.key AS report, ${devices.key} AS key, ${devices.id} AS id, ${devices.ends} AS ends,
      ${devices.maxSpeed}, ${accounts.day}, ${accounts.retentionDays},
      (SELECT json_group_array(${groupDevices.groupId}) FROM ${groupDevices}
        WHERE ${groupDevices.deviceKey} = ${devices.key}) AS groups,
      ${IS_WIDE} AS is_wide
    FROM ${accounts} CROSS JOIN ${devicesOf(sql`${p.spans}`)}
    WHERE ${accounts.id} = ${p.accountId}`,
)

/** A span with `first` after `last` is of a report without locations: nothing is read. */
const selectWindows = compile<Values, FixRow & { report: number }>(
  sql`SELECT sent.key AS report, ${fixColumns(sql`${p.wantsRest}`)}
    FROM ${devicesOf(sql`${p.spans}`)}
    CROSS JOIN ${locations} ON ${locations.deviceKey} = ${devices.key}
    WHERE ${FIRST} <= ${LAST} AND NOT ${IS_WIDE} AND ${locations.time}
      BETWEEN ifnull((SELECT min(time) FROM (SELECT near.time FROM ${locations} near
        WHERE near.device_key = ${devices.key} AND near.time < ${FIRST}
        ORDER BY near.time DESC LIMIT ${p.before})), ${FIRST})
      AND ifnull((SELECT max(time) FROM (SELECT near.time FROM ${locations} near
        WHERE near.device_key = ${devices.key} AND near.time > ${LAST}
        ORDER BY near.time LIMIT ${p.after})), ${LAST})
    ORDER BY sent.key, ${locations.time}`,
)

export interface WindowQuery extends WindowSize {
  viewer: Viewer
  spans: Span[]
  wantsRest: boolean
}

const valuesOf = ({ viewer, spans, wantsRest, before, after }: WindowQuery): Values => ({
  accountId: viewer.accountId,
  groupId: viewer.groupId,
  before,
  after,
  wantsRest: wantsRest ? 1 : 0,
  spans: JSON.stringify(
    spans.map(({ deviceId, identifierKey, first, last }) => [deviceId, identifierKey, first, last]),
  ),
})

/** The rows of each span, by its position. */
const toSpanRows = (
  { spans, before, after, wantsRest }: WindowQuery,
  rows: (FixRow & { report: number })[],
): SpanRows[] => {
  const bySpan = Map.groupBy(rows, ({ report }) => report)
  return spans.map(({ first, last }, at) => {
    const stored = (bySpan.get(at) ?? []).map((row) => toFix(row, wantsRest))
    const earlier = stored.filter(({ time }) => time < first).length
    const later = stored.filter(({ time }) => time > last).length
    return { stored, isStart: earlier < before, isEnd: later < after }
  })
}

/** The devices of the spans, and the locations around each span that is not too wide. */
export const readDeviceWindows = async (
  db: Database,
  query: WindowQuery,
): Promise<{ found: DeviceState[]; windows: SpanRows[] }> => {
  const values = valuesOf(query)
  const [found, rows] = await runBatch(db, [selectDevices(db, values), selectWindows(db, values)])
  return { found: found.results, windows: toSpanRows(query, rows.results) }
}

/** How many locations one statement may read. */
const MAX_ROWS = 8192

/** The locations around each span, in as many statements as their number needs. */
export const readWindows = async (db: Database, query: WindowQuery): Promise<SpanRows[]> => {
  const windows: SpanRows[] = []
  const perSpan = query.before + query.after + 1
  const step = Math.max(1, Math.floor(MAX_ROWS / perSpan))
  for (let at = 0; at < query.spans.length; at += step) {
    const some = { ...query, spans: query.spans.slice(at, at + step) }
    windows.push(...toSpanRows(some, await readAll(selectWindows(db, valuesOf(some)))))
  }
  return windows
}

export const toSegment = ({ stored, isStart, isEnd }: SpanRows): Segment => ({
  from: isStart ? 0 : (stored[0]?.time ?? 0),
  to: isEnd ? MAX_TIME : (stored.at(-1)?.time ?? MAX_TIME),
  stored,
  isStart,
  isEnd,
})
