import { sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { isVisible } from '../db/queries/visibility.ts'
import { select } from '../db/query.ts'
import { accounts, devices, groupDevices, groups, locations, shares } from '../db/schema.ts'
import { compile, literal, type Placeholders, readAll, readFirst } from '../db/statement.ts'
import { permits } from '../domain/admin/status.ts'
import type { Place } from '../domain/message/alert.ts'
import {
  isOpen,
  MAX_SHARED_DEVICES,
  MAX_SHARED_POINTS,
  MAX_TRACK_POINTS,
  roundPlace,
  roundTime,
  type ShareRecord,
} from '../domain/share/share.ts'
import { NUMBER_FIELDS } from '../domain/track/location.ts'

/* What an opened share shows: names, places and times, and no id. */

const selectOpened = compile((p: Placeholders<{ hash: string }>) =>
  select(
    {
      id: shares.id,
      accountId: shares.accountId,
      record: shares.record,
      password: shares.password,
      groupId: shares.groupId,
      status: accounts.status,
      timeZone: accounts.timeZone,
      isSandbox: sql<boolean>`${accounts.sandbox} IS NOT NULL`.mapWith(Boolean),
    },
    sql`FROM ${shares} CROSS JOIN ${accounts} ON ${accounts.id} = ${shares.accountId}
        AND ${accounts.deletedAt} IS NULL
      WHERE ${shares.hash} = ${p.hash}`,
  ),
)

/** Null for a share that does not exist or is not open, or whose account may not read. */
export const findOpened = async (db: Database, hash: string, now: number) => {
  const found = await readFirst(selectOpened(db, { hash }))
  return found && isOpen(found.record, now) && permits(found.status, 'read') ? found : null
}
export type OpenedShare = NonNullable<Awaited<ReturnType<typeof findOpened>>>

interface Selection {
  accountId: string
  devices: string
  groups: string
  groupId: string | null
  since: number
  until: number
}

const DEGREES = NUMBER_FIELDS.latitude.scale
const LIMIT = literal(MAX_SHARED_DEVICES + 1)

/** The devices with their newest location of the time that is shown. */
const selectDevices = compile((p: Placeholders<Selection>) => {
  const listed = sql`SELECT ${devices.key} AS key FROM json_each(${p.devices}) listed
    CROSS JOIN ${devices} ON ${devices.id} = listed.value AND ${devices.accountId} = ${p.accountId}`
  const grouped = sql`SELECT ${groupDevices.deviceKey} AS key FROM json_each(${p.groups}) listed
    CROSS JOIN ${groups} ON ${groups.id} = listed.value AND ${groups.accountId} = ${p.accountId}
    CROSS JOIN ${groupDevices} ON ${groupDevices.groupId} = ${groups.id} LIMIT ${LIMIT}`
  return select(
    {
      key: devices.key,
      name: devices.name,
      newest: sql<string | null>`(SELECT json_array(${locations.time}, ${locations.latitude},
        ${locations.longitude}) FROM ${locations} WHERE ${locations.deviceKey} = ${devices.key}
        AND ${locations.time} BETWEEN ${p.since} AND ${p.until}
        ORDER BY ${locations.time} DESC LIMIT 1)`,
    },
    sql`FROM (${listed} UNION SELECT key FROM (${grouped}) LIMIT ${LIMIT}) shared
      CROSS JOIN ${devices} ON ${devices.key} = shared.key
      WHERE ${isVisible(devices.key, p.groupId)} ORDER BY ${devices.nameKey}, ${devices.key}`,
  )
})

interface Tracks {
  keys: string
  since: number
  until: number
  limit: number
}

/** The newest locations of each device. */
const selectTracks = compile((p: Placeholders<Tracks>) =>
  select(
    {
      key: sql<number>`listed.value`,
      points: sql<string>`(SELECT json_group_array(json_array(time, latitude, longitude)) FROM (
        SELECT ${locations.time}, ${locations.latitude}, ${locations.longitude} FROM ${locations}
        WHERE ${locations.deviceKey} = listed.value
          AND ${locations.time} BETWEEN ${p.since} AND ${p.until}
        ORDER BY ${locations.time} DESC LIMIT ${p.limit}))`,
    },
    sql`FROM json_each(${p.keys}) listed`,
  ),
)

export interface SharedPoint extends Place {
  time: number
}
export interface SharedDevice {
  name: string
  newest: SharedPoint | null
  /** In order of time; empty without a history. */
  track: SharedPoint[]
}
export interface SharedView {
  devices: SharedDevice[]
  /** Whether there are more devices than are shown. */
  isCut: boolean
}

type Point = [time: number, latitude: number, longitude: number]

const toPoint = ([time, latitude, longitude]: Point, { precision }: ShareRecord): SharedPoint => ({
  time: roundTime(time, precision),
  ...roundPlace({ latitude: latitude / DEGREES, longitude: longitude / DEGREES }, precision),
})

const isSamePlace = (a: Place, b: Place | undefined): boolean =>
  a.latitude === b?.latitude && a.longitude === b.longitude

/** Without repeats of a rounded place, whose times would tell more than the place. */
const toTrack = (points: Point[], record: ShareRecord): SharedPoint[] => {
  const track = points.toReversed().map((point) => toPoint(point, record))
  return record.precision === 'exact'
    ? track
    : track.filter((point, index) => !isSamePlace(point, track[index - 1]))
}

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

export const readView = async (
  db: Database,
  { accountId, groupId, record }: OpenedShare,
  now: number,
): Promise<SharedView> => {
  const newest = Math.min(now - record.delayMinutes * MINUTE_MS, record.until ?? now)
  // A rounded time is shown once its span has passed: the moment at which the view changes must not
  // give the exact time of a location.
  const end = roundTime(newest + 1, record.precision)
  const until = end - 1
  const since = record.from ?? 0
  const lists = { devices: JSON.stringify(record.devices), groups: JSON.stringify(record.groups) }
  const found = await readAll(selectDevices(db, { accountId, groupId, ...lists, since, until }))
  const rows = found.slice(0, MAX_SHARED_DEVICES)
  const tracks = new Map<number, SharedPoint[]>()
  if (record.history > 0 && rows.length > 0) {
    const limit = Math.min(MAX_TRACK_POINTS, Math.floor(MAX_SHARED_POINTS / rows.length))
    const begin = Math.max(since, end - record.history * HOUR_MS)
    const keys = JSON.stringify(rows.map(({ key }) => key))
    for (const { key, points } of await readAll(
      selectTracks(db, { keys, since: begin, until, limit }),
    ))
      tracks.set(key, toTrack(JSON.parse(points) as Point[], record))
  }
  return {
    devices: rows.map(({ key, name, newest }) => ({
      name,
      newest: newest === null ? null : toPoint(JSON.parse(newest) as Point, record),
      track: tracks.get(key) ?? [],
    })),
    isCut: found.length > rows.length,
  }
}

/** Adds to the views of a share, which are no edit. */
export const addViews = async (
  db: Database,
  { id, accountId }: Pick<OpenedShare, 'id' | 'accountId'>,
  { views, viewedAt }: { views: number; viewedAt: number },
): Promise<void> => {
  await db.run(sql`UPDATE ${shares} SET views = views + ${views},
    last_viewed = max(ifnull(last_viewed, 0), ${viewedAt})
    WHERE ${shares.id} = ${id} AND ${shares.accountId} = ${accountId}`)
}
