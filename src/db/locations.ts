import { type Location, NUMBERS, type NumberName, type StoredLocation } from '../domain/location.ts'

/*
 * How a location lies in its row. The frequent numbers are whole numbers of a fine unit, half the size of a REAL; a value
 * that is finer still stands exactly as it was sent in `rest`, with the fields that have no column.
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

/** Every column but the device's key, in the order of a packed location; `received_at` comes last. */
export const LOCATION_COLUMNS = [
  'time',
  ...SCALED,
  'source',
  'rest',
  'received_at',
] as const satisfies (keyof LocationRow)[]

export type PackedLocation = (number | string | null)[]

/** All columns but `received_at`, which a report has one of. */
export const packLocation = (location: Location): PackedLocation => {
  const packed: PackedLocation = [location.dateTime]
  let rest: Record<string, unknown> | null = null
  for (const name of SCALED) {
    const value = location[name]
    if (value === undefined) {
      packed.push(null)
      continue
    }
    const { scale } = NUMBERS[name]
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

export const unpackLocation = (row: LocationRow): StoredLocation => {
  const location: Record<string, unknown> = { dateTime: row.time }
  for (const name of SCALED) {
    const whole = row[name]
    if (whole !== null) location[name] = whole / NUMBERS[name].scale
  }
  if (row.rest !== null) Object.assign(location, JSON.parse(row.rest))
  if (row.source !== null) location.source = row.source
  location.receivedAt = row.received_at
  return location as unknown as StoredLocation
}

/** The last location of the device row `d`: the end of the key `(device, time)`, one seek a device, in the same statement. */
export const LAST_LOCATION = `(SELECT json_array(${LOCATION_COLUMNS}) FROM locations WHERE device_key = d.key ORDER BY time DESC LIMIT 1) AS last_location`

export const readLastLocation = (column: string | null): StoredLocation | null => {
  if (column === null) return null
  const values = JSON.parse(column) as unknown[]
  return unpackLocation(
    Object.fromEntries(
      LOCATION_COLUMNS.map((name, index) => [name, values[index]]),
    ) as unknown as LocationRow,
  )
}
