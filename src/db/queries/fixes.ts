import { type SQL, sql } from 'drizzle-orm'
import { type Fix, type FixRow, toFix } from '../../domain/track/fix.ts'
import { LOCATION_COLUMNS, type PackedLocation } from './locations.ts'

/* Locations as rules evaluate them, read from rows or taken from a report. */

/** The columns of a fix. `wantsRest` is a condition: the rest is large and seldom needed. */
export const fixColumns = (wantsRest: SQL) => {
  const { source: _source, receivedAt: _receivedAt, rest, ...columns } = LOCATION_COLUMNS
  return { ...columns, rest: sql<string | null>`CASE WHEN ${wantsRest} THEN ${rest} END` }
}

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
