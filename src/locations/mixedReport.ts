import { type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { isSubscribedToLocations } from '../db/events.ts'
import { PACKED_COLUMNS, packedBytes, packLocation } from '../db/locations.ts'
import type { Database } from '../db/open.ts'
import { accounts, devices, locations } from '../db/schema.ts'
import {
  commaSeparated,
  compile,
  literal,
  names,
  placeholders,
  readAll,
  runBatch,
} from '../db/statement.ts'
import { isVisible, type Viewer } from '../db/visibility.ts'
import { keptSince } from '../domain/account.ts'
import { type Day, localDay } from '../domain/day.ts'
import { fold } from '../domain/fold.ts'
import { currentDay, hasEnded } from '../domain/license.ts'
import type { Location, MIXED_REJECTIONS } from '../domain/location.ts'
import { appendMixedEvents } from './mixedEvents.ts'
import { type AssumedState, MAX_PACKED_LENGTH, MAX_RETRIES, oldestOf } from './report.ts'
import {
  compareWithStored,
  type SentLocation,
  type StoredRow,
  statusesOf,
} from './reportOutcome.ts'

/* A report of many devices: the statements of `report.ts`, for a list of devices at once. */

/** The locations of one device, which is named by its id or its identifier. */
export interface DeviceReport {
  deviceId: string | null
  identifier: string | null
  eventId: string
  locations: Location[]
}

export interface MixedReport {
  viewer: Viewer
  reports: DeviceReport[]
  assumed: AssumedState
  now: number
}

export type MixedStatus = 'accepted' | (typeof MIXED_REJECTIONS)[number]

export type MixedOutcome =
  | {
      ok: true
      /** Of each report, the status of each of its locations. */
      statuses: MixedStatus[][]
      counts: { accepted: number }
      storedBytes: number
      actual: AssumedState
    }
  | { ok: false; refusal: 'body-too-large' | 'unavailable' | 'account-not-found' }

interface MixedValues extends Viewer {
  now: number
  timeZone: string
  today: Day
  hasSubscribers: 0 | 1
  /** `[deviceId, identifierKey, eventId]` of each report. */
  refs: string
  /** `[deviceId, identifierKey, packed locations]` of each report. */
  groups: string
  oldest: number
}

const p = placeholders(
  'accountId',
  'groupId',
  'now',
  'timeZone',
  'today',
  'hasSubscribers',
  'refs',
  'groups',
  'oldest',
)

const named = alias(devices, 'named')

/** The device that `sent.value` names, if the viewer can see it. */
const devicesOf = (list: SQL): SQL => sql`json_each(${list}) sent
  CROSS JOIN ${devices} ON ${devices.key} = ifnull(
    (SELECT ${named.key} FROM ${devices} ${named}
      WHERE ${named.id} = sent.value ->> 0 AND ${named.accountId} = ${p.accountId}),
    (SELECT ${named.key} FROM ${devices} ${named}
      WHERE ${named.accountId} = ${p.accountId} AND ${named.identifierKey} = sent.value ->> 1))
    AND ${isVisible(devices.key, p.groupId)}`

const HAS_SUBSCRIBERS = isSubscribedToLocations(p.accountId, p.now)
/** False when the report assumes a wrong state: then none of its statements writes. */
const IS_AS_ASSUMED = sql`(${accounts.timeZone} = ${p.timeZone}
  AND ${HAS_SUBSCRIBERS} = ${p.hasSubscribers})`
const IS_ACTIVE = sql`(${devices.ends} IS NULL
  OR (${devices.ends} > ${accounts.day} AND ${devices.ends} > ${p.today}))`
const KEPT_SINCE = sql`(${p.now} - ${accounts.retentionDays} * 86400000)`
const SENT = sql`location.value`

const insertLocations = compile<MixedValues>(
  sql`INSERT INTO ${locations}
      (${names(locations.deviceKey, locations.receivedAt, ...PACKED_COLUMNS)})
    SELECT ${devices.key}, ${p.now},
      ${commaSeparated(PACKED_COLUMNS.map((_, index) => sql`${SENT} ->> ${literal(index)}`))}
    FROM ${accounts} CROSS JOIN ${devicesOf(sql`${p.groups}`)}
    CROSS JOIN json_each(sent.value, '$[2]') location
    WHERE ${accounts.id} = ${p.accountId} AND ${IS_AS_ASSUMED} AND ${IS_ACTIVE}
      AND (${p.oldest} >= ${KEPT_SINCE} OR ${SENT} ->> 0 >= ${KEPT_SINCE})
    ON CONFLICT DO NOTHING`,
)

const LAST_RECEIVED = sql`(SELECT ${locations.receivedAt} FROM ${locations}
  WHERE ${locations.deviceKey} = ${devices.key} ORDER BY ${locations.time} DESC LIMIT 1)`

/** Writes only where the last location does not show this arrival: late, repeated or refused. */
const updateLastContact = compile<MixedValues>(
  sql`UPDATE ${devices} SET ${names(devices.lastContact)} = ${p.now}
    WHERE ${names(devices.key)} IN (SELECT ${devices.key}
      FROM ${accounts} CROSS JOIN ${devicesOf(sql`${p.refs}`)}
      WHERE ${accounts.id} = ${p.accountId} AND ${IS_AS_ASSUMED}
        AND ifnull(${devices.lastContact}, 0) < ${p.now} AND ifnull(${LAST_RECEIVED}, 0) < ${p.now})`,
)

interface StateRow {
  day: Day
  time_zone: string
  retention_days: number
  subscribed: number
}

const selectState = compile<MixedValues, StateRow>(
  sql`SELECT ${accounts.day}, ${accounts.timeZone}, ${accounts.retentionDays},
      ${HAS_SUBSCRIBERS} AS subscribed
    FROM ${accounts} WHERE ${accounts.id} = ${p.accountId}`,
)

interface NamedDevice {
  /** The position of its report. */
  report: number
  key: number
  ends: Day | null
}

const selectDevices = compile<MixedValues, NamedDevice>(
  sql`SELECT sent.key AS report, ${devices.key} AS key, ${devices.ends} AS ends
    FROM ${devicesOf(sql`${p.refs}`)}`,
)

const selectStored = compile<MixedValues, StoredRow & { report: number; at: number }>(
  sql`SELECT sent.key AS report, location.key AS at, ${compareWithStored(SENT)}
    FROM ${devicesOf(sql`${p.groups}`)} CROSS JOIN json_each(sent.value, '$[2]') location
    CROSS JOIN ${locations}
      ON ${locations.deviceKey} = ${devices.key} AND ${locations.time} = ${SENT} ->> 0`,
)

const valuesOf = ({ viewer, reports, now }: MixedReport) => {
  const { accountId, groupId } = viewer
  const packed = reports.map(({ locations: reported }) => reported.map(packLocation))
  const nameOf = ({ deviceId, identifier }: DeviceReport) => [
    deviceId,
    identifier === null ? null : fold(identifier),
  ]
  return {
    accountId,
    groupId,
    now,
    packed,
    refs: JSON.stringify(reports.map((report) => [...nameOf(report), report.eventId])),
    groups: JSON.stringify(reports.map((report, at) => [...nameOf(report), packed[at]])),
    oldest: Math.min(...reports.map((report) => oldestOf(report.locations))),
  }
}

const writeReport = async (
  db: Database,
  base: ReturnType<typeof valuesOf>,
  { timeZone, hasSubscribers }: AssumedState,
) => {
  const { packed, ...rest } = base
  const today = localDay(base.now, timeZone)
  const values = { ...rest, timeZone, today, hasSubscribers: hasSubscribers ? 1 : 0 } as const
  const results = await runBatch(db, [
    insertLocations(db, values),
    ...(hasSubscribers ? appendMixedEvents(db, values) : []),
    updateLastContact(db, values),
    selectState(db, values),
    selectDevices(db, values),
  ])
  return {
    values,
    accepted: results[0]?.meta.changes ?? 0,
    state: results.at(-2)?.results[0] as StateRow | undefined,
    found: (results.at(-1)?.results ?? []) as NamedDevice[],
  }
}

interface Written {
  values: MixedValues
  accepted: number
  state: StateRow
  found: NamedDevice[]
}

/** What became of each location. The stored ones are read only when some were not accepted. */
const findStatuses = async (
  db: Database,
  { reports, now }: MixedReport,
  { values, accepted, state, found }: Written,
): Promise<MixedStatus[][]> => {
  const { day, time_zone: timeZone, retention_days: retentionDays } = state
  const today = currentDay({ day, timeZone }, now)
  const byReport = new Map(found.map((device) => [device.report, device]))
  const sent: (SentLocation & { report: number; at: number })[] = []
  const statuses = reports.map(({ locations: reported }, report) => {
    const device = byReport.get(report)
    const status: MixedStatus = !device
      ? 'unknown'
      : hasEnded(device.ends, today)
        ? 'refused'
        : 'accepted'
    if (device && status === 'accepted')
      for (const [at, location] of reported.entries())
        sent.push({ deviceKey: device.key, location, report, at })
    return reported.map((): MixedStatus => status)
  })
  if (sent.length === accepted) return statuses
  const places = new Map(sent.map(({ report, at }, index) => [`${report} ${at}`, index]))
  const stored = new Map<number, StoredRow>()
  for (const row of await readAll(selectStored(db, values))) {
    const index = places.get(`${row.report} ${row.at}`)
    if (index !== undefined) stored.set(index, row)
  }
  const since = keptSince(now, retentionDays)
  const judged = statusesOf({ sent, keptSince: since, accepted }, stored)
  for (const [index, { report, at }] of sent.entries()) {
    const ofReport = statuses[report]
    if (ofReport) ofReport[at] = judged[index] ?? 'duplicate'
  }
  return statuses
}

/** Stores a report of many devices in one round trip, as `storeReport` does for one device. */
export const storeMixedReport = async (
  db: Database,
  report: MixedReport,
): Promise<MixedOutcome> => {
  const base = valuesOf(report)
  if (base.groups.length > MAX_PACKED_LENGTH) return { ok: false, refusal: 'body-too-large' }
  let { assumed } = report
  for (let retries = 0; ; retries++) {
    const { state, ...written } = await writeReport(db, base, assumed)
    if (!state) return { ok: false, refusal: 'account-not-found' }
    const actual = { timeZone: state.time_zone, hasSubscribers: state.subscribed === 1 }
    if (actual.timeZone !== assumed.timeZone || actual.hasSubscribers !== assumed.hasSubscribers) {
      if (retries === MAX_RETRIES) return { ok: false, refusal: 'unavailable' }
      assumed = actual
      continue
    }
    const { accepted } = written
    const rows = base.packed.flat()
    return {
      ok: true,
      statuses: await findStatuses(db, report, { ...written, state }),
      counts: { accepted },
      storedBytes: Math.round((accepted / rows.length) * packedBytes(rows)),
      actual,
    }
  }
}
