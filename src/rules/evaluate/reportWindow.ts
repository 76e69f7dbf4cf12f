import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../db/open.ts'
import { fixColumns } from '../../db/queries/fixes.ts'
import { type DeviceRef, IS_VISIBLE_DEVICE } from '../../db/queries/visibility.ts'
import { accounts, devices, groupDevices, locations } from '../../db/schema.ts'
import { compile, placeholders, readAll, runBatch } from '../../db/statement.ts'
import { type Fix, type FixRow, toFix } from '../../domain/track/fix.ts'
import type { Segment } from './report.ts'

/* The part of the track around a report, as its rules need it. */

export const MAX_TIME = 9e15

export interface WindowQuery {
  device: DeviceRef
  /** The times of the report, in order. */
  times: number[]
  before: number
  after: number
  wantsRest: boolean
}

export interface TrackWindow {
  retentionDays: number
  groups: string[]
  segments: Segment[]
}

interface Values extends DeviceRef {
  first: number
  last: number
  before: number
  after: number
  within: number
  times: string
  wantsRest: 0 | 1
}

const p = placeholders('first', 'last', 'before', 'after', 'within', 'times', 'wantsRest')

const COLUMNS = fixColumns(sql`${p.wantsRest}`)
const TRACK = sql`${devices} CROSS JOIN ${locations} ON ${locations.deviceKey} = ${devices.key}
  WHERE ${IS_VISIBLE_DEVICE}`

type WindowRow =
  | ({ part: 'before' | 'within' | 'after' } & FixRow)
  | { part: 'device'; time: number; rest: string }

const part = (name: 'before' | 'within' | 'after', where: SQL): SQL =>
  sql`SELECT * FROM (SELECT ${sql.raw(`'${name}'`)} AS part, ${COLUMNS} FROM ${TRACK} AND ${where})`

/**
 * One statement, since each costs time by itself. The first row has the device's groups, as `rest`,
 * and the account's retention, as `time`.
 */
const selectWindow = compile<Values, WindowRow>(
  sql`SELECT 'device' AS part, ${accounts.retentionDays} AS time, NULL AS latitude,
      NULL AS longitude, NULL AS altitude, NULL AS speed, NULL AS course, NULL AS accuracy,
      NULL AS battery, (SELECT json_group_array(${groupDevices.groupId}) FROM ${groupDevices}
        WHERE ${groupDevices.deviceKey} = ${devices.key}) AS rest
    FROM ${devices} JOIN ${accounts} ON ${accounts.id} = ${devices.accountId}
    WHERE ${IS_VISIBLE_DEVICE}
    UNION ALL ${part(
      'before',
      sql`${locations.time} < ${p.first} ORDER BY ${locations.time} DESC LIMIT ${p.before}`,
    )}
    UNION ALL ${part(
      'within',
      sql`${locations.time} BETWEEN ${p.first} AND ${p.last}
        ORDER BY ${locations.time} LIMIT ${p.within}`,
    )}
    UNION ALL ${part(
      'after',
      sql`${locations.time} > ${p.last} ORDER BY ${locations.time} LIMIT ${p.after}`,
    )}`,
)

/** The neighbours of each time by itself, where too many locations lie between them. */
const selectNeighbours = compile<Values, FixRow>(
  sql`SELECT DISTINCT ${COLUMNS} FROM ${devices} CROSS JOIN json_each(${p.times}) given
    CROSS JOIN ${locations} ON ${locations.deviceKey} = ${devices.key}
    WHERE ${IS_VISIBLE_DEVICE} AND ${locations.time}
      BETWEEN ifnull((SELECT min(time) FROM (SELECT near.time FROM ${locations} near
        WHERE near.device_key = ${devices.key} AND near.time < given.value
        ORDER BY near.time DESC LIMIT ${p.before})), given.value)
      AND ifnull((SELECT max(time) FROM (SELECT near.time FROM ${locations} near
        WHERE near.device_key = ${devices.key} AND near.time > given.value
        ORDER BY near.time LIMIT ${p.after})), given.value)
    ORDER BY ${locations.time}`,
)

/** More stored locations among those of a report are read around each by itself. */
const MAX_WITHIN = 2000
export const NEIGHBOURS = 16

/** The parts around each time, merged where they overlap. */
export const segmentsAround = (stored: Fix[], times: number[]): Segment[] => {
  const segments: Segment[] = []
  let next = 0
  for (const time of times) {
    while (next < stored.length && (stored[next] as Fix).time < time) next++
    let end = next
    while (end < stored.length && (stored[end] as Fix).time <= time) end++
    const isStart = next < NEIGHBOURS
    const isEnd = stored.length - end < NEIGHBOURS
    const low = isStart ? 0 : next - NEIGHBOURS
    const high = isEnd ? stored.length : end + NEIGHBOURS
    const from = isStart ? 0 : (stored[low] as Fix).time
    const to = isEnd ? MAX_TIME : (stored[high - 1] as Fix).time
    const last = segments.at(-1)
    if (last && from <= last.to) {
      const known = last.stored.at(-1)?.time ?? -1
      last.stored.push(...stored.slice(low, high).filter((fix) => fix.time > known))
      last.to = Math.max(last.to, to)
      last.isEnd ||= isEnd
    } else segments.push({ from, to, stored: stored.slice(low, high), isStart, isEnd })
  }
  return segments
}

/** Reads the window in one round trip; a second one where the report spans very many locations. */
export const readWindow = async (
  db: Database,
  { device, times, before, after, wantsRest }: WindowQuery,
): Promise<TrackWindow | null> => {
  const values: Values = {
    ...device,
    first: times[0] ?? 0,
    last: times.at(-1) ?? 0,
    before,
    after,
    within: MAX_WITHIN + 1,
    times: '[]',
    wantsRest: wantsRest ? 1 : 0,
  }
  const [{ results: rows }] = await runBatch(db, [selectWindow(db, values)])
  const found = rows.find((row) => row.part === 'device')
  if (!found) return null
  const toFixes = (some: FixRow[]) => some.map((each) => toFix(each, wantsRest))
  const shared = {
    retentionDays: found.time,
    groups: JSON.parse(found.rest) as string[],
  }
  const rowsOf = (name: WindowRow['part']) =>
    rows.filter((row): row is Exclude<WindowRow, { part: 'device' }> => row.part === name)
  const [earlier, within, later] = [rowsOf('before'), rowsOf('within'), rowsOf('after')]
  if (within.length > MAX_WITHIN) {
    const around = {
      ...values,
      times: JSON.stringify(times),
      before: NEIGHBOURS,
      after: NEIGHBOURS,
    }
    const stored = toFixes(await readAll(selectNeighbours(db, around)))
    return { ...shared, segments: segmentsAround(stored, times) }
  }
  const stored = toFixes([...earlier.reverse(), ...within, ...later])
  const isStart = earlier.length < before
  const isEnd = later.length < after
  const segment: Segment = {
    from: isStart ? 0 : (stored[0]?.time ?? 0),
    to: isEnd ? MAX_TIME : (stored.at(-1)?.time ?? MAX_TIME),
    stored,
    isStart,
    isEnd,
  }
  return { ...shared, segments: [segment] }
}
