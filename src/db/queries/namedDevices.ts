import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { fold } from '../../domain/text/fold.ts'
import { devices } from '../schema.ts'
import { placeholders } from '../statement.ts'
import { isVisible, type Viewer } from './visibility.ts'

/* Devices that are named by their id or by their identifier. */

export type DeviceName = [deviceId: string | null, identifierKey: string | null]

export const nameOf = ({
  deviceId,
  identifier,
}: {
  deviceId: string | null
  identifier: string | null
}): DeviceName => [deviceId, identifier === null ? null : fold(identifier)]

const p = placeholders('accountId', 'groupId')
const named = alias(devices, 'named')

/** A viewer whose values are filled in later. */
const LATER = { accountId: p.accountId, groupId: p.groupId }

/**
 * The devices that a list names, if the viewer can see them: each by its id or, where no device has
 * it, by its folded identifier. The list is JSON; each element `sent.value` begins with a name.
 */
export const devicesNamedIn = (
  list: SQLWrapper,
  { accountId, groupId }: Viewer | typeof LATER = LATER,
): SQL => sql`json_each(${list}) sent
  CROSS JOIN ${devices} ON ${devices.key} = ifnull(
    (SELECT ${named.key} FROM ${devices} ${named}
      WHERE ${named.id} = sent.value ->> 0 AND ${named.accountId} = ${accountId}),
    (SELECT ${named.key} FROM ${devices} ${named}
      WHERE ${named.accountId} = ${accountId} AND ${named.identifierKey} = sent.value ->> 1))
    AND ${isVisible(devices.key, groupId)}`
