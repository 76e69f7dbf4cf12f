import { and, eq, sql } from 'drizzle-orm'
import type { Database } from '../../../db/open.ts'
import { removeRuleTarget } from '../../../db/queries/ruleTargets.ts'
import {
  devices,
  erasures,
  groupDevices,
  silentMarks,
  tombstones,
  users,
} from '../../../db/schema.ts'
import { names, type Statement, statement } from '../../../db/statement.ts'
import type { PostedAs } from '../outbox.ts'

/* Devices that are deleted, and deletions that a restored ledger undoes. */

/** The unary plus keeps the planner from reading all memberships of the account. */
const isMember = (accountId: string, key: number) =>
  sql`${groupDevices.deviceKey} = ${key} AND +${groupDevices.accountId} = ${accountId}`

export const removeDevice = (
  db: Database,
  accountId: string,
  { id, key, at, seq }: PostedAs<'device-gone'>,
): Statement[] => [
  statement(
    db,
    sql`INSERT INTO ${tombstones} (${names(
      tombstones.id,
      tombstones.accountId,
      tombstones.seq,
      tombstones.creation,
      tombstones.groups,
    )})
      SELECT ${id}, ${accountId}, ${seq}, ${at}, json_group_array(${groupDevices.groupId})
      FROM ${groupDevices} WHERE ${isMember(accountId, key)} ON CONFLICT DO NOTHING`,
  ),
  statement(
    db,
    sql`INSERT INTO ${erasures} (${names(
      erasures.id,
      erasures.accountId,
      erasures.deviceKey,
      erasures.creation,
    )})
      SELECT ${id}, ${accountId}, ${key}, ${at} WHERE NOT EXISTS (SELECT 1 FROM ${devices}
        WHERE ${devices.key} = ${key} AND ${devices.accountId} <> ${accountId})
      ON CONFLICT DO NOTHING`,
  ),
  statement(db, db.delete(groupDevices).where(isMember(accountId, key))),
  statement(
    db,
    db
      .update(users)
      .set({ deviceId: null })
      .where(and(eq(users.accountId, accountId), eq(users.deviceId, id))),
  ),
  ...removeRuleTarget(db, { accountId, member: 'devices', id }),
  statement(
    db,
    db
      .delete(silentMarks)
      .where(sql`${silentMarks.deviceKey} = ${key} AND +${silentMarks.accountId} = ${accountId}`),
  ),
  statement(
    db,
    db.delete(devices).where(and(eq(devices.key, key), eq(devices.accountId, accountId))),
  ),
]

/** Undoes the deletion of a device, or of the account, that a restored ledger still has. */
export const undelete = (
  db: Database,
  accountId: string,
  { id }: PostedAs<'undelete'>,
): Statement[] => [
  statement(
    db,
    db.delete(tombstones).where(and(eq(tombstones.accountId, accountId), eq(tombstones.id, id))),
  ),
  statement(
    db,
    db.delete(erasures).where(and(eq(erasures.accountId, accountId), eq(erasures.id, id))),
  ),
]
