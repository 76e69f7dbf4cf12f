import { sql } from 'drizzle-orm'
import { LOCATION_COLUMNS } from '../db/queries/locations.ts'
import { devicesNamedIn } from '../db/queries/namedDevices.ts'
import { IS_VISIBLE_DEVICE } from '../db/queries/visibility.ts'
import { nullables, select } from '../db/query.ts'
import { accounts, devices, locations } from '../db/schema.ts'
import { compile, type Placeholders, type RowOf } from '../db/statement.ts'
import { hasSubscribers, isAsEvaluated } from './guard.ts'
import { p, type Values } from './values.ts'

/* The state that a batch finds, read before it writes. */

/** `isProbed`: whether it must show that devices and tracks are as evaluated, since no INSERT will. */
const stateColumns = (isProbed: boolean, isOne: boolean) => ({
  day: accounts.day,
  timeZone: accounts.timeZone,
  retentionDays: accounts.retentionDays,
  emergency: accounts.emergency,
  rulesVersion: accounts.rulesVersion,
  hasSubscribers: hasSubscribers(p).mapWith(Boolean),
  isAsEvaluated: (isProbed ? isAsEvaluated(p, isOne) : sql`1`).mapWith(Boolean),
})

const DEVICE_COLUMNS = {
  key: devices.key,
  id: devices.id,
  ends: devices.ends,
  sourceId: devices.sourceId,
}

const stateOfMany = (isProbed: boolean) =>
  compile((_: Placeholders<Values>) =>
    select(
      stateColumns(isProbed, false),
      sql`FROM ${accounts} WHERE ${accounts.id} = ${p.accountId}`,
    ),
  )
export type StateRow = RowOf<ReturnType<typeof stateOfMany>>

/** The devices that are named, by the positions of their names. */
export const selectDevices = compile(
  (names: Placeholders<Pick<Values, 'refs' | 'accountId' | 'groupId'>>) =>
    select(
      { part: sql<number>`sent.key`, ...DEVICE_COLUMNS },
      sql`FROM ${devicesNamedIn(names.refs)}`,
    ),
)
export type DeviceRow = RowOf<typeof selectDevices>

/**
 * Of one device: its account and itself, with what it has at the time of its only location. The
 * device is null when there is none, the location when it has none at that time.
 */
const stateOfOne = (isProbed: boolean) =>
  compile((_: Placeholders<Values>) =>
    select(
      {
        ...stateColumns(isProbed, true),
        part: sql<number>`0`,
        ...nullables(DEVICE_COLUMNS),
        ...nullables(LOCATION_COLUMNS),
      },
      sql`FROM ${accounts}
        LEFT JOIN ${devices} ON ${IS_VISIBLE_DEVICE}
        LEFT JOIN ${locations}
          ON ${locations.deviceKey} = ${devices.key} AND ${locations.time} = ${p.time}
        WHERE ${accounts.id} = ${p.accountId}`,
    ),
  )
export type StateOfOne = RowOf<ReturnType<typeof stateOfOne>>

export const SELECT_STATE = {
  ofOne: { plain: stateOfOne(false), probed: stateOfOne(true) },
  ofMany: { plain: stateOfMany(false), probed: stateOfMany(true) },
}
