import { subscribedToLocations } from '../db/events.ts'
import {
  LOCATION_COLUMNS,
  type LocationRow,
  packLocation,
  unpackLocation,
} from '../db/locations.ts'
import type { Database } from '../db/open.ts'
import { type Viewer, visible } from '../db/visibility.ts'
import { type Day, localDay } from '../domain/day.ts'
import { currentDay, hasEnded } from '../domain/license.ts'
import type { Location, StoredLocation } from '../domain/location.ts'
import { appendReportEvent } from './reportEvent.ts'

/** Whose track is asked for: a device of the account, where the caller may see it. */
export interface TrackOwner extends Viewer {
  deviceId: string
}

/** ?1 device, ?2 account, ?3 group: with these a device row `d` is the one that the caller may see. */
const VISIBLE = `d.id = ?1 AND d.account_id = ?2 AND ${visible('d.key', '?3')}`
const owner = ({ deviceId, accountId, groupId }: TrackOwner) =>
  [deviceId, accountId, groupId] as const

const COLUMNS = LOCATION_COLUMNS.map((name) => `l.${name}`).join(', ')
const SENT = LOCATION_COLUMNS.filter((name) => name !== 'received_at')

/** ?4 now, ?5 the zone that ?6, today, was computed in. A device without an end needs neither. */
const ACTIVE = '(d.ends IS NULL OR (d.ends > a.day AND a.time_zone = ?5 AND d.ends > ?6))'

/** ?2 account, ?4 now: whether someone asks for `location.reported`. */
const HEARD = subscribedToLocations('?2', '?4')

/** Exported, as the two below, `LAST` and `PAGE`, for the benchmark: its bare Worker runs the very same statements. */
export const INSERT = `INSERT INTO locations (device_key, received_at, ${SENT})
  SELECT d.key, ?4, ${SENT.map((_, index) => `value ->> ${index}`)}
  FROM devices d JOIN accounts a ON a.id = d.account_id CROSS JOIN json_each(?7)
  WHERE ${VISIBLE} AND ${ACTIVE} AND ${HEARD} = ?8 ON CONFLICT DO NOTHING`

/** Why nothing was stored, if nothing was; and, for a report of one (?5 its time), the location that stands. */
export const REPORT_STATE = `SELECT d.ends, a.day, a.time_zone, ${HEARD} AS heard, ${COLUMNS}
  FROM devices d JOIN accounts a ON a.id = d.account_id LEFT JOIN locations l ON l.device_key = d.key AND l.time = ?5
  WHERE ${VISIBLE}`

/** A row is written only where the last location does not tell of this arrival: it was late, a repeat, or refused. */
export const CONTACT = `UPDATE devices AS d SET last_contact = ?4 WHERE ${VISIBLE} AND ifnull(d.last_contact, 0) < ?4
  AND (d.ends IS NULL OR EXISTS (SELECT 1 FROM accounts a WHERE a.id = ?2 AND (d.ends <= a.day OR a.time_zone = ?5)))
  AND ifnull((SELECT received_at FROM locations WHERE device_key = d.key ORDER BY time DESC LIMIT 1), 0) < ?4 AND ${HEARD} = ?6`

type Standing = { ends: Day | null; day: Day; time_zone: string; heard: number } & (
  | LocationRow
  | { time: null }
)

/** What the caller believes of the account, to be checked by the report itself. */
export interface AssumedState {
  timeZone: string
  /** Someone asks for `location.reported`. */
  hasSubscribers: boolean
}

export const INITIAL_STATE: AssumedState = { timeZone: 'UTC', hasSubscribers: false }

/** `assumed` is how things really stand. */
export type Reported =
  | { ok: true; accepted: number; stored: StoredLocation | null; assumed: AssumedState }
  | { ok: false; refusal: 'not-found' | 'body-too-large' }
  | { ok: false; refusal: 'device-expired'; assumed: AssumedState }

const MAX_RETRIES = 5
const MAX_PACKED_LENGTH = 1_900_000

/**
 * Stores a report: one round trip, a row a location, and its event only where someone asks for it. Where what the caller believed
 * does not hold, nothing was stored and the report is sent again with what does.
 */
export const storeReport = async (
  database: Database,
  track: TrackOwner,
  locations: Location[],
  eventId: string,
  { timeZone, hasSubscribers }: AssumedState,
  now: number,
  tries = 0,
): Promise<Reported> => {
  const db = database.$client
  const { accountId, deviceId } = track
  const today = localDay(now, timeZone)
  const packed = JSON.stringify(locations.map(packLocation))
  // Numbers such as 1e20 are written out: what came in a mebibyte may be more than D1 takes as one value.
  if (packed.length > MAX_PACKED_LENGTH) return { ok: false, refusal: 'body-too-large' }
  const results = await db.batch<Standing>([
    db.prepare(INSERT).bind(...owner(track), now, timeZone, today, packed, hasSubscribers ? 1 : 0),
    ...(hasSubscribers ? appendReportEvent(db, { accountId, deviceId, eventId, packed }, now) : []),
    db.prepare(CONTACT).bind(...owner(track), now, timeZone, hasSubscribers ? 1 : 0),
    db
      .prepare(REPORT_STATE)
      .bind(...owner(track), now, locations.length === 1 ? (locations[0]?.dateTime ?? null) : null),
  ])
  const standing = results.at(-1)?.results[0]
  if (!standing) return { ok: false, refusal: 'not-found' }
  const { ends, day, time_zone: actual } = standing
  const assumed: AssumedState = { timeZone: actual, hasSubscribers: standing.heard === 1 }
  const held =
    assumed.hasSubscribers === hasSubscribers &&
    (ends === null || ends <= day || actual === timeZone)
  if (!held && tries < MAX_RETRIES)
    return storeReport(database, track, locations, eventId, assumed, now, tries + 1)
  if (hasEnded(ends, currentDay({ day, timeZone: actual }, now)))
    return { ok: false, refusal: 'device-expired', assumed }
  const stored = standing.time === null ? null : unpackLocation(standing)
  return { ok: true, accepted: results[0]?.meta.changes ?? 0, stored, assumed }
}

export const LAST = `SELECT ${COLUMNS} FROM devices d LEFT JOIN locations l
  ON l.device_key = d.key AND l.time = (SELECT max(time) FROM locations WHERE device_key = d.key) WHERE ${VISIBLE}`

/** Undefined where there is no such device, null where it has not reported yet. */
export const findLastLocation = async (
  db: Database,
  track: TrackOwner,
): Promise<StoredLocation | null | undefined> => {
  const row = await db.$client
    .prepare(LAST)
    .bind(...owner(track))
    .first<LocationRow | { time: null }>()
  if (!row) return undefined
  return row.time === null ? null : unpackLocation(row)
}

export interface Span {
  from: number
  to: number
}

export interface TrackPage {
  locations: StoredLocation[]
  /** Whether there may be more after the last of these. */
  more: boolean
}

/** However much a location carries, a page of them fits into memory. */
const MAX_BYTES = 2_000_000

export const PAGE = `SELECT * FROM (
    SELECT *, sum(ifnull(length(rest), 0)) OVER (ORDER BY time ROWS UNBOUNDED PRECEDING) AS bytes FROM (
      SELECT ${COLUMNS} FROM devices d CROSS JOIN locations l ON l.device_key = d.key
      WHERE ${VISIBLE} AND l.time BETWEEN ?4 AND ?5 ORDER BY l.time LIMIT ?6))
  WHERE bytes - ifnull(length(rest), 0) < ${MAX_BYTES} ORDER BY time`

const pageOf = (rows: (LocationRow & { bytes: number })[], limit: number): TrackPage => ({
  locations: rows.slice(0, limit).map(unpackLocation),
  more: rows.length > limit || (rows.at(-1)?.bytes ?? 0) >= MAX_BYTES,
})

export const readTrackPage = async (
  database: Database,
  track: TrackOwner,
  { from, to }: Span,
  limit: number,
): Promise<TrackPage> => {
  const { results } = await database.$client
    .prepare(PAGE)
    .bind(...owner(track), from, to, limit + 1)
    .all<LocationRow & { bytes: number }>()
  return pageOf(results, limit)
}

/** The first page with the device's name, in one round trip; null where there is no such device. */
export const beginTrack = async (
  database: Database,
  track: TrackOwner,
  { from, to }: Span,
  limit: number,
): Promise<(TrackPage & { deviceName: string }) | null> => {
  const db = database.$client
  const [named, page] = await db.batch([
    db.prepare(`SELECT d.name FROM devices d WHERE ${VISIBLE}`).bind(...owner(track)),
    db.prepare(PAGE).bind(...owner(track), from, to, limit + 1),
  ])
  const device = named?.results[0] as { name: string } | undefined
  return device
    ? {
        deviceName: device.name,
        ...pageOf((page?.results ?? []) as (LocationRow & { bytes: number })[], limit),
      }
    : null
}

/** Times and places alone, for a look at the shape of a track. */
export const readShape = async (
  database: Database,
  track: TrackOwner,
  { from, to }: Span,
  limit: number,
): Promise<{ time: number; latitude: number; longitude: number }[]> => {
  const { results } = await database.$client
    .prepare(
      `SELECT l.time, l.latitude / 1e7 AS latitude, l.longitude / 1e7 AS longitude FROM devices d CROSS JOIN locations l ON l.device_key = d.key
       WHERE ${VISIBLE} AND l.time BETWEEN ?4 AND ?5 ORDER BY l.time LIMIT ?6`,
    )
    .bind(...owner(track), from, to, limit)
    .all<{ time: number; latitude: number; longitude: number }>()
  return results
}
