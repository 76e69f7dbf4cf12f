import { type SQL, sql } from 'drizzle-orm'
import { type Fix, type FixRow, toFix } from '../domain/fix.ts'
import { PACKED_COLUMNS, type PackedLocation } from './locations.ts'
import { locations } from './schema.ts'
import { commaSeparated } from './statement.ts'

/* Locations as rules judge them, read from rows or taken from a report. */

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

const COLUMN_NAMES = PACKED_COLUMNS.map(({ name }) => name)

/** A location of a report, as its row will have it. */
export const packedFix = (packed: PackedLocation, wantsRest: boolean): Fix => {
  const row: Record<string, unknown> = {}
  for (const [index, name] of COLUMN_NAMES.entries()) row[name] = packed[index] ?? null
  return toFix(row as unknown as FixRow, wantsRest)
}
