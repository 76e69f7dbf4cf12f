import { type SQL, sql } from 'drizzle-orm'
import { type Fix, type FixRow, pickCompared, placeInRest, toFix } from '../../domain/track/fix.ts'
import { LOCATION_COLUMNS, type PackedLocation } from './locations.ts'

/* Locations as rules evaluate them, read from rows or taken from a report. */

/** The compared members without a column, as `fixColumns` is given them. */
export const packMembers = (members: readonly string[]): string =>
  JSON.stringify(members.map(placeInRest))

/** The columns of a fix. Of the rest, which may be large, only the compared members are read. */
export const fixColumns = (members: SQL) => {
  const { source: _source, receivedAt: _receivedAt, rest, ...columns } = LOCATION_COLUMNS
  const compared = sql<string | null>`CASE WHEN ${members} <> '[]' AND ${rest} IS NOT NULL THEN (
    SELECT json_group_object(own.key, ${rest} -> own.fullkey)
    FROM json_each('["$","$.attributes"]') place, json_each(${rest}, place.value) own
    WHERE own.type IN ('integer', 'real')
      AND place.value || '.' || own.key IN (SELECT value FROM json_each(${members}))) END`
  return { ...columns, rest: compared }
}

type Numbers = [number, ...(number | null)[]]

/**
 * A location of a report, as its row will have it. By the positions of `packLocation`: a loop over
 * names takes three times as long, and a report has up to a thousand.
 */
export const packedFix = (packed: PackedLocation, members: readonly string[] = []): Fix => {
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
  }
  const fix = toFix(row)
  fix.rest = pickCompared(packed.at(-1) as string | null, members)
  return fix
}
