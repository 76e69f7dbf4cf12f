import { type SQL, sql } from 'drizzle-orm'
import { type Fix, type FixRow, toFix } from '../../domain/track/fix.ts'
import { locations } from '../schema.ts'
import { commaSeparated } from '../statement.ts'
import type { PackedLocation } from './locations.ts'

/* Locations as rules evaluate them, read from rows or taken from a report. */

/** The columns of a fix. `wantsRest` is a condition: the rest is large and seldom needed. */
export const fixColumns = (wantsRest: SQL): SQL =>
  sql`${commaSeparated([
    locations.time,
    locations.latitude,
    locations.longitude,
    locations.altitude,
    locations.speed,
    locations.course,
    locations.accuracy,
    locations.battery,
  ])}, CASE WHEN ${wantsRest} THEN ${locations.rest} END AS rest`

/** The same for `select`. */
export const fixFields = (wantsRest: SQL) => ({
  time: locations.time,
  latitude: locations.latitude,
  longitude: locations.longitude,
  altitude: locations.altitude,
  speed: locations.speed,
  course: locations.course,
  accuracy: locations.accuracy,
  battery: locations.battery,
  rest: sql<string | null>`CASE WHEN ${wantsRest} THEN ${locations.rest} END`,
})

type Numbers = [number, ...(number | null)[]]

/**
 * A location of a report, as its row will have it. By the positions of `packLocation`: a loop over
 * names takes three times as long, and a report has up to a thousand.
 */
export const packedFix = (packed: PackedLocation, wantsRest: boolean): Fix => {
  const [time, latitude, longitude, altitude, speed, course, accuracy, battery] = packed as Numbers
  const row: FixRow = {
    time,
    latitude: latitude ?? null,
    longitude: longitude ?? null,
    altitude: altitude ?? null,
    speed: speed ?? null,
    course: course ?? null,
    accuracy: accuracy ?? null,
    battery: battery ?? null,
    rest: packed.at(-1) as string | null,
  }
  return toFix(row, wantsRest)
}
