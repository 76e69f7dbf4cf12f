import { type Placeholder, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { PACKED_COLUMNS } from '../db/queries/locations.ts'
import { isVisible, type Viewer } from '../db/queries/visibility.ts'
import { devices } from '../db/schema.ts'
import { literal, placeholders } from '../db/statement.ts'

const p = placeholders('accountId', 'groupId')
const named = alias(devices, 'named')

/** A viewer whose values are filled in later. */
const LATER = { accountId: p.accountId, groupId: p.groupId }

/**
 * The device that `sent.value` names by its first two members, an id and a folded identifier, if the
 * viewer can see it.
 */
export const devicesOf = (
  list: SQL,
  { accountId, groupId }: Viewer | typeof LATER = LATER,
): SQL => sql`json_each(${list}) sent
  CROSS JOIN ${devices} ON ${devices.key} = ifnull(
    (SELECT ${named.key} FROM ${devices} ${named}
      WHERE ${named.id} = sent.value ->> 0 AND ${named.accountId} = ${accountId}),
    (SELECT ${named.key} FROM ${devices} ${named}
      WHERE ${named.accountId} = ${accountId} AND ${named.identifierKey} = sent.value ->> 1))
    AND ${isVisible(devices.key, groupId)}`

/** A location of a report, among `sentRows`. */
export const SENT = sql`location.value`
/** The positions of its report, and of itself in the report. */
export const SENT_REPORT = sql`${SENT} ->> ${literal(PACKED_COLUMNS.length)}`
export const SENT_AT = sql`${SENT} ->> ${literal(PACKED_COLUMNS.length + 1)}`

/** The LIMIT keeps SQLite from writing out each location once for each of its columns. */
export const sentRows = (rows: Placeholder): SQL =>
  sql`(SELECT value FROM json_each(${rows}) LIMIT -1) location`
