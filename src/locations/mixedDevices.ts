import { type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { devices } from '../db/schema.ts'
import { placeholders } from '../db/statement.ts'
import { isVisible, type Viewer } from '../db/visibility.ts'

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
