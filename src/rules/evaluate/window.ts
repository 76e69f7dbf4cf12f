import { sql } from 'drizzle-orm'
import type { Database } from '../../db/open.ts'
import { fixColumns, packMembers } from '../../db/queries/fixes.ts'
import { type DeviceName, devicesNamedIn } from '../../db/queries/namedDevices.ts'
import type { Viewer } from '../../db/queries/visibility.ts'
import { json, select } from '../../db/query.ts'
import { accounts, devices, groupDevices, locations, stays } from '../../db/schema.ts'
import { compile, type Placeholders, type RowOf, readAll, runBatch } from '../../db/statement.ts'
import { type Fix, firstFrom, toFix } from '../../domain/track/fix.ts'
import type { Segment } from './crossings.ts'

/* The parts of tracks around new locations, as they are stored. */

export const MAX_TIME = 9e15

/** The part of a device's track that new locations are evaluated by. */
export interface TrackWindow {
  retentionDays: number
  groups: string[]
  segments: Segment[]
}

/** The locations from `first` to `last` of a device, and so many before and after them. */
export interface Span {
  name: DeviceName
  first: number
  last: number
}

export interface WindowQuery {
  viewer: Viewer
  spans: Span[]
  before: number
  after: number
  /** The members without a column that rules compare. */
  members: readonly string[]
  /** Whether the stays of the devices are read. */
  hasStays?: boolean
}

interface Values extends Viewer {
  spans: string
  before: number
  after: number
  within: number
  members: string
  hasStays: 0 | 1
}

/** The position of a span among those that are asked for. */
const SPAN = sql<number>`sent.key`
const [FIRST, LAST] = [sql`sent.value ->> 2`, sql`sent.value ->> 3`]

/** Whether more locations lie in the span than are read. */
const isWide = (p: Placeholders<Values>) =>
  sql`EXISTS (SELECT 1 FROM ${locations} inner_one
    WHERE inner_one.device_key = ${devices.key} AND inner_one.time BETWEEN ${FIRST} AND ${LAST}
    LIMIT 1 OFFSET ${p.within})`.mapWith(Boolean)

const selectDevices = compile((p: Placeholders<Values>) =>
  select(
    {
      span: SPAN,
      key: devices.key,
      id: devices.id,
      ends: devices.ends,
      maxSpeed: devices.maxSpeed,
      day: accounts.day,
      retentionDays: accounts.retentionDays,
      groups: json<string[]>(sql`(SELECT json_group_array(${groupDevices.groupId})
        FROM ${groupDevices} WHERE ${groupDevices.deviceKey} = ${devices.key})`),
      stays: sql<string | null>`CASE WHEN ${p.hasStays} THEN (SELECT ${stays.record}
        FROM ${stays} WHERE ${stays.deviceKey} = ${devices.key}) END`,
      isWide: isWide(p),
    },
    sql`FROM ${accounts} CROSS JOIN ${devicesNamedIn(p.spans)}
      WHERE ${accounts.id} = ${p.accountId}`,
  ),
)

/** A span with `first` after `last` has no locations: nothing is read. */
const selectWindows = compile((p: Placeholders<Values>) =>
  select(
    { span: SPAN, ...fixColumns(sql`${p.members}`) },
    sql`FROM ${devicesNamedIn(p.spans)}
      CROSS JOIN ${locations} ON ${locations.deviceKey} = ${devices.key}
      WHERE ${FIRST} <= ${LAST} AND NOT ${isWide(p)} AND ${locations.time}
        BETWEEN ifnull((SELECT min(time) FROM (SELECT near.time FROM ${locations} near
          WHERE near.device_key = ${devices.key} AND near.time < ${FIRST}
          ORDER BY near.time DESC LIMIT ${p.before})), ${FIRST})
        AND ifnull((SELECT max(time) FROM (SELECT near.time FROM ${locations} near
          WHERE near.device_key = ${devices.key} AND near.time > ${LAST}
          ORDER BY near.time LIMIT ${p.after})), ${LAST})
      ORDER BY sent.key, ${locations.time}`,
  ),
)

/** More stored locations in a span are read around each location by itself. */
const maxWithin = (spans: number): number => Math.max(200, Math.floor(2000 / Math.max(1, spans)))

const valuesOf = ({ viewer, spans, members, hasStays, before, after }: WindowQuery): Values => ({
  accountId: viewer.accountId,
  groupId: viewer.groupId,
  before,
  after,
  within: maxWithin(spans.length),
  members: packMembers(members),
  hasStays: hasStays ? 1 : 0,
  spans: JSON.stringify(spans.map(({ name, first, last }) => [...name, first, last])),
})

/** The part of the track that was read for each span, by its position. */
const toSegments = (
  { spans, before, after }: WindowQuery,
  rows: RowOf<typeof selectWindows>[],
): Segment[] => {
  const bySpan = Map.groupBy(rows, ({ span }) => span)
  return spans.map(({ first, last }, at) => {
    const stored = (bySpan.get(at) ?? []).map(toFix)
    const isStart = stored.filter(({ time }) => time < first).length < before
    const isEnd = stored.filter(({ time }) => time > last).length < after
    return {
      from: isStart ? 0 : (stored[0]?.time ?? 0),
      to: isEnd ? MAX_TIME : (stored.at(-1)?.time ?? MAX_TIME),
      stored,
      isStart,
      isEnd,
    }
  })
}

/** The devices of the spans, and the locations around each span that is not too wide. */
export const readDeviceWindows = async (db: Database, query: WindowQuery) => {
  const values = valuesOf(query)
  const { found, rows } = await runBatch(db, {
    found: selectDevices(db, values),
    rows: selectWindows(db, values),
  })
  return { found: found.results, segments: toSegments(query, rows.results) }
}

/** What reading one location takes, in the units of slices. */
export const ROW_UNITS = 5
/** How many locations one statement may read. */
const MAX_ROWS = 8192

/** The locations around each span, in as many statements as their number needs. */
export const readWindows = async (db: Database, query: WindowQuery): Promise<Segment[]> => {
  const segments: Segment[] = []
  const perSpan = query.before + query.after + 1
  const step = Math.max(1, Math.floor(MAX_ROWS / perSpan))
  for (let at = 0; at < query.spans.length; at += step) {
    const some = { ...query, spans: query.spans.slice(at, at + step) }
    segments.push(...toSegments(some, await readAll(selectWindows(db, valuesOf(some)))))
  }
  return segments
}

/** Joins parts of one track that overlap. Those that overlap no other stay what they are. */
export const joinSegments = (parts: readonly Segment[]): Segment[] => {
  const joined: Segment[] = []
  for (const part of parts.toSorted((a, b) => a.from - b.from)) {
    const last = joined.at(-1)
    if (!last || part.from > last.to) {
      joined.push(part)
      continue
    }
    const known = last.stored.at(-1)?.time ?? -1
    const stored = last.stored.concat(part.stored.filter(({ time }) => time > known))
    const end = part.to > last.to ? { to: part.to, isEnd: part.isEnd } : {}
    joined.splice(-1, 1, { ...last, ...end, stored })
  }
  return joined
}

/** The fixes of the window next to an instant, and the one at it. */
export const findNeighbours = ({ segments }: TrackWindow, time: number) => {
  let [before, at, after]: (Fix | null)[] = [null, null, null]
  for (const { stored } of segments) {
    const index = firstFrom(stored, time)
    const next = stored[index]
    before = stored[index - 1] ?? before
    if (next?.time === time) at = next
    after ??= (next?.time === time ? stored[index + 1] : next) ?? null
  }
  return { before: before ?? null, at: at ?? null, after: after ?? null }
}
