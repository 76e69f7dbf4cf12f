import { type SQL, sql } from 'drizzle-orm'
import { LOCATION_COLUMNS, type LocationRow } from '../db/queries/locations.ts'
import { devicesNamedIn } from '../db/queries/namedDevices.ts'
import { IS_VISIBLE_DEVICE } from '../db/queries/visibility.ts'
import { accounts, devices, locations } from '../db/schema.ts'
import { compile } from '../db/statement.ts'
import type { Day } from '../domain/time/day.ts'
import { hasSubscribers, isAsEvaluated, isAssumed } from './guard.ts'
import { IS_ZONE_ASSUMED, p, type Values } from './values.ts'

/* The state that a batch finds, read before it writes. */

export interface DeviceRow {
  part: number
  key: number
  id: string
  ends: Day | null
  source_id: string | null
}

export interface StateRow {
  day: Day
  time_zone: string
  retention_days: number
  emergency: string | null
  rules_version: string | null
  subscribed: number
  is_current: number
}

/** The state of the account, and whether it is as assumed. */
const stateColumns = (isZoneAssumed?: SQL): SQL => sql`${accounts.day}, ${accounts.timeZone},
  ${accounts.retentionDays}, ${accounts.emergency}, ${accounts.rulesVersion},
  ${hasSubscribers(p)} AS subscribed,
  (${isAssumed(p, isZoneAssumed)} AND (${p.isProbed} = 0 OR ${isAsEvaluated(p)})) AS is_current`

const DEVICE_COLUMNS = sql`${devices.key} AS key, ${devices.id} AS id, ${devices.ends} AS ends,
  ${devices.sourceId} AS source_id`

export const selectState = compile<Values, StateRow>(
  sql`SELECT ${stateColumns()} FROM ${accounts} WHERE ${accounts.id} = ${p.accountId}`,
)

/** The devices that are named, by the positions of their names. */
export const selectDevices = compile<Pick<Values, 'refs' | 'accountId' | 'groupId'>, DeviceRow>(
  sql`SELECT sent.key AS part, ${DEVICE_COLUMNS} FROM ${devicesNamedIn(p.refs)}`,
)

/** The device is null when there is none, the location when it has none at that time. */
export type StateOfOne = StateRow & { [Name in keyof DeviceRow]: DeviceRow[Name] | null } & (
    | LocationRow
    | { time: null }
  )

/** Of one device: its account and itself, with what it has at the time of its only location. */
export const selectStateOfOne = compile<Values, StateOfOne>(
  sql`SELECT ${stateColumns(IS_ZONE_ASSUMED)}, 0 AS part, ${DEVICE_COLUMNS}, ${LOCATION_COLUMNS}
    FROM ${accounts}
    LEFT JOIN ${devices} ON ${IS_VISIBLE_DEVICE}
    LEFT JOIN ${locations}
      ON ${locations.deviceKey} = ${devices.key} AND ${locations.time} = ${p.time}
    WHERE ${accounts.id} = ${p.accountId}`,
)
