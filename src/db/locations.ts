import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { LOCATION_BYTES } from '../domain/budget.ts'
import {
  type Location,
  NUMBER_FIELDS,
  type NumberName,
  type StoredLocation,
} from '../domain/location.ts'
import { locations } from './schema.ts'
import { commaSeparated, literal } from './statement.ts'

/*
 * How a location is stored. Frequent numbers are integers of a fine unit, half the size of a REAL.
 * A value that is finer still is kept exactly as sent in `rest`, with the fields that have no
 * column.
 */

const SCALED = [
  'latitude',
  'longitude',
  'altitude',
  'speed',
  'course',
  'accuracy',
  'battery',
] as const satisfies NumberName[]
const OWN_COLUMN = new Set<string>(['dateTime', 'source', ...SCALED])

export interface LocationRow extends Record<(typeof SCALED)[number], number | null> {
  time: number
  source: string | null
  rest: string | null
  received_at: number
}

/** The columns of a packed location, in its order. */
export const PACKED_COLUMNS = [
  locations.time,
  ...SCALED.map((name) => locations[name]),
  locations.source,
  locations.rest,
]

const STORED_COLUMNS = [...PACKED_COLUMNS, locations.receivedAt]

/** Every column of a location but its device's key. */
export const LOCATION_COLUMNS: SQL = commaSeparated(STORED_COLUMNS)

export type PackedLocation = (number | string | null)[]

/** All columns but `received_at`, which is the same for a whole report. */
export const packLocation = (location: Location): PackedLocation => {
  const packed: PackedLocation = [location.dateTime]
  let rest: Record<string, unknown> | null = null
  for (const name of SCALED) {
    const value = location[name]
    if (value === undefined) {
      packed.push(null)
      continue
    }
    const { scale } = NUMBER_FIELDS[name]
    const whole = Math.round(value * scale)
    packed.push(whole)
    if (whole / scale !== value) {
      rest ??= {}
      rest[name] = value
    }
  }
  for (const name in location) {
    if (OWN_COLUMN.has(name)) continue
    rest ??= {}
    rest[name] = location[name as keyof Location]
  }
  packed.push(location.source ?? null, rest && JSON.stringify(rest))
  return packed
}

/** An estimate of what these locations take when they are stored. */
export const packedBytes = (rows: PackedLocation[]): number => {
  let bytes = rows.length * LOCATION_BYTES
  for (const row of rows) {
    const rest = row.at(-1)
    if (typeof rest === 'string') bytes += rest.length
  }
  return bytes
}

/** The same estimate of a stored row. */
export const STORED_BYTES: SQL = sql`${literal(LOCATION_BYTES)} + ifnull(length(${locations.rest}), 0)`

export const unpackLocation = (row: LocationRow): StoredLocation => {
  const location: Record<string, unknown> = { dateTime: row.time }
  for (const name of SCALED) {
    const whole = row[name]
    if (whole !== null) location[name] = whole / NUMBER_FIELDS[name].scale
  }
  if (row.rest !== null) Object.assign(location, JSON.parse(row.rest))
  if (row.source !== null) location.source = row.source
  location.receivedAt = row.received_at
  return location as unknown as StoredLocation
}

/** A location as one JSON column, for a subquery; `parseLocation` reads it. */
export const LOCATION_JSON: SQL = sql`json_array(${LOCATION_COLUMNS})`

export const parseLocation = (column: string | null): StoredLocation | null => {
  if (column === null) return null
  const values = JSON.parse(column) as unknown[]
  const row = Object.fromEntries(STORED_COLUMNS.map(({ name }, index) => [name, values[index]]))
  return unpackLocation(row as unknown as LocationRow)
}

/** The last location of a device: one seek to the end of its key range. */
export const selectLastLocation = (deviceKey: SQLWrapper): SQL =>
  sql`(SELECT ${LOCATION_JSON} FROM ${locations} WHERE ${locations.deviceKey} = ${deviceKey}
    ORDER BY ${locations.time} DESC LIMIT 1)`
