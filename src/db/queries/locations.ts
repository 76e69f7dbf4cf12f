import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { LOCATION_BYTES } from '../../domain/account/budget.ts'
import { countMembers } from '../../domain/text/json.ts'
import { type Location, NUMBER_FIELDS, type StoredLocation } from '../../domain/track/location.ts'
import type { InferRow } from '../query.ts'
import { locations } from '../schema.ts'
import { commaSeparated, literal } from '../statement.ts'

/*
 * How a location is stored. Frequent numbers are integers of a fine unit, half the size of a REAL.
 * A value that is finer still is kept exactly as sent in `rest`, with the fields that have no
 * column.
 */

/** Every column of a location but its device's key. */
export const LOCATION_COLUMNS = {
  time: locations.time,
  latitude: locations.latitude,
  longitude: locations.longitude,
  altitude: locations.altitude,
  speed: locations.speed,
  course: locations.course,
  accuracy: locations.accuracy,
  battery: locations.battery,
  source: locations.source,
  rest: locations.rest,
  receivedAt: locations.receivedAt,
}
const { receivedAt: _receivedAt, ...packedColumns } = LOCATION_COLUMNS

export type LocationRow = InferRow<typeof LOCATION_COLUMNS>
/** A row of a LEFT JOIN. */
export type MaybeLocationRow = { [Name in keyof LocationRow]: LocationRow[Name] | null }

/** The columns of a packed location, in its order. */
export const PACKED_COLUMNS = Object.values(packedColumns)
const STORED_NAMES = Object.keys(LOCATION_COLUMNS)

const SCALES = new Map(
  Object.entries(NUMBER_FIELDS).flatMap(([name, field]): [string, number][] =>
    'scale' in field ? [[name, field.scale]] : [],
  ),
)

export type PackedLocation = (number | string | null)[]
/** The index of `rest` in a packed location. */
export const REST_INDEX = PACKED_COLUMNS.length - 1

/** The values that have no column, or that their column cannot hold exactly; null without any. */
const restOf = (location: Location): string | null => {
  let rest: Record<string, unknown> | null = null
  for (const name in location) {
    const value = location[name as keyof Location]
    const scale = SCALES.get(name)
    const isInColumn =
      scale === undefined
        ? name === 'dateTime' || name === 'source'
        : Math.round((value as number) * scale) / scale === value
    if (isInColumn || value === undefined) continue
    rest ??= {}
    rest[name] = value
  }
  return rest && JSON.stringify(rest)
}

/** An estimate of what these locations take when they are stored. */
export const packedBytes = (lists: PackedLocation[][]): number => {
  let bytes = 0
  for (const rows of lists)
    for (const { [REST_INDEX]: rest } of rows)
      bytes += LOCATION_BYTES + (typeof rest === 'string' ? rest.length : 0)
  return bytes
}

/** The same estimate of a stored row. */
export const STORED_BYTES: SQL = sql`${literal(LOCATION_BYTES)} + ifnull(length(${locations.rest}), 0)`

/** A number in its fine unit; one that is finer still goes into `rest` as well. */
const toUnits = (value: number | undefined, scale: number): number | null =>
  value === undefined ? null : Math.round(value * scale)

/** 1 when the column holds the number exactly. */
const isExact = (units: number | null, scale: number, value: number | undefined): 0 | 1 =>
  units !== null && units / scale === value ? 1 : 0

const [DEGREES, HUNDREDTHS] = [NUMBER_FIELDS.latitude.scale, NUMBER_FIELDS.altitude.scale]

/**
 * All columns but `received_at`, which is the same for a whole report. Spelled out for speed too;
 * when every member is exactly in its column, none has to be looked at by name.
 */
export const packLocation = (location: Location): PackedLocation => {
  const { dateTime, latitude, longitude, altitude, speed, course, accuracy, battery, source } =
    location
  const latitudeUnits = toUnits(latitude, DEGREES)
  const longitudeUnits = toUnits(longitude, DEGREES)
  const altitudeUnits = toUnits(altitude, HUNDREDTHS)
  const speedUnits = toUnits(speed, HUNDREDTHS)
  const courseUnits = toUnits(course, HUNDREDTHS)
  const accuracyUnits = toUnits(accuracy, HUNDREDTHS)
  const batteryUnits = toUnits(battery, HUNDREDTHS)
  const inColumns =
    (source === undefined ? 1 : 2) +
    isExact(latitudeUnits, DEGREES, latitude) +
    isExact(longitudeUnits, DEGREES, longitude) +
    isExact(altitudeUnits, HUNDREDTHS, altitude) +
    isExact(speedUnits, HUNDREDTHS, speed) +
    isExact(courseUnits, HUNDREDTHS, course) +
    isExact(accuracyUnits, HUNDREDTHS, accuracy) +
    isExact(batteryUnits, HUNDREDTHS, battery)
  return [
    dateTime,
    latitudeUnits,
    longitudeUnits,
    altitudeUnits,
    speedUnits,
    courseUnits,
    accuracyUnits,
    batteryUnits,
    source ?? null,
    inColumns === countMembers(location) ? null : restOf(location),
  ]
}

/** Spelled out: a loop over names takes three times as long, and a page has a thousand rows. */
export const unpackLocation = (row: LocationRow): StoredLocation => {
  const fields: Partial<StoredLocation> = { dateTime: row.time }
  fields.latitude = row.latitude / NUMBER_FIELDS.latitude.scale
  fields.longitude = row.longitude / NUMBER_FIELDS.longitude.scale
  if (row.altitude !== null) fields.altitude = row.altitude / NUMBER_FIELDS.altitude.scale
  if (row.speed !== null) fields.speed = row.speed / NUMBER_FIELDS.speed.scale
  if (row.course !== null) fields.course = row.course / NUMBER_FIELDS.course.scale
  if (row.accuracy !== null) fields.accuracy = row.accuracy / NUMBER_FIELDS.accuracy.scale
  if (row.battery !== null) fields.battery = row.battery / NUMBER_FIELDS.battery.scale
  if (row.rest !== null) Object.assign(fields, JSON.parse(row.rest))
  if (row.source !== null) fields.source = row.source
  fields.receivedAt = row.receivedAt
  return fields as StoredLocation
}

export const unpackFound = (row: MaybeLocationRow): StoredLocation | null =>
  row.time === null ? null : unpackLocation(row as LocationRow)

/** A location as one JSON column, for a subquery; `parseLocation` reads it. */
export const LOCATION_JSON: SQL = sql`json_array(${commaSeparated(Object.values(LOCATION_COLUMNS))})`

const toRow = (values: readonly unknown[]): LocationRow =>
  Object.fromEntries(
    STORED_NAMES.map((name, index) => [name, values[index]]),
  ) as unknown as LocationRow

/** A packed location as its row will be. */
export const rowOfPacked = (packed: PackedLocation, receivedAt: number): LocationRow =>
  toRow([...packed, receivedAt])

export const parseLocation = (column: string | null): StoredLocation | null =>
  column === null ? null : unpackLocation(toRow(JSON.parse(column) as unknown[]))

/** The last location of a device: one seek to the end of its key range. */
export const selectLastLocation = (deviceKey: SQLWrapper): SQL<string | null> =>
  sql`(SELECT ${LOCATION_JSON} FROM ${locations} WHERE ${locations.deviceKey} = ${deviceKey}
    ORDER BY ${locations.time} DESC LIMIT 1)`
