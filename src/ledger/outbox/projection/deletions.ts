import { and, eq, sql } from 'drizzle-orm'
import { removeRuleTarget } from '../../../db/queries/rules/targets.ts'
import { insertSelect } from '../../../db/query.ts'
import {
  devices,
  erasures,
  groupDevices,
  groups,
  silentMarks,
  stays,
  tombstones,
  users,
  watches,
} from '../../../db/schema.ts'
import { fold } from '../../../domain/text/fold.ts'
import type { Write } from '../outbox.ts'

/* Devices that are deleted, and deletions that a restored ledger undoes. */

/** The unary plus keeps the planner from reading all rows of the account. */
const isOfDevice = (
  table: typeof groupDevices | typeof silentMarks | typeof stays | typeof watches,
  accountId: string,
  key: number,
) => sql`${table.deviceKey} = ${key} AND +${table.accountId} = ${accountId}`

export const removeDevice: Write<'device-gone'> = (db, accountId, effect) => {
  const { id, key, at, eraseAt = at, device = null, seq } = effect
  return [
    insertSelect(
      tombstones,
      {
        id,
        accountId,
        seq,
        creation: at,
        device,
        groups: sql`json_group_array(${groupDevices.groupId})`,
      },
      sql`FROM ${groupDevices} WHERE ${isOfDevice(groupDevices, accountId, key)}
      ON CONFLICT DO NOTHING`,
    ),
    insertSelect(
      erasures,
      { id, accountId, deviceKey: key, creation: eraseAt },
      sql`WHERE NOT EXISTS (SELECT 1 FROM ${devices}
        WHERE ${devices.key} = ${key} AND ${devices.accountId} <> ${accountId})
      ON CONFLICT DO NOTHING`,
    ),
    db
      .update(users)
      .set({ deviceId: null })
      .where(and(eq(users.accountId, accountId), eq(users.deviceId, id))),
    ...removeRuleTarget(db, { accountId, member: 'devices', id }),
    ...[groupDevices, silentMarks, stays, watches].map((table) =>
      db.delete(table).where(isOfDevice(table, accountId, key)),
    ),
    db.delete(devices).where(and(eq(devices.key, key), eq(devices.accountId, accountId))),
  ]
}

/** Brings a device back to the groups that it was in, as far as they exist. The row follows. */
export const restoreDevice: Write<'device-back'> = (db, accountId, effect) => {
  const { id, key, name, creation, seq } = effect
  return [
    insertSelect(
      groupDevices,
      {
        groupId: groups.id,
        deviceKey: key,
        accountId,
        nameKey: fold(name),
        creation,
      },
      sql`FROM ${tombstones}, json_each(${tombstones.groups}) last
        CROSS JOIN ${groups} ON ${groups.id} = last.value AND ${groups.accountId} = ${accountId}
        WHERE ${tombstones.accountId} = ${accountId} AND ${tombstones.id} = ${id}
          AND ${tombstones.seq} < ${seq} ON CONFLICT DO NOTHING`,
    ),
    db.delete(erasures).where(
      sql`${erasures.accountId} = ${accountId} AND ${erasures.id} = ${id}
          AND EXISTS (SELECT 1 FROM ${tombstones} WHERE ${tombstones.accountId} = ${accountId}
            AND ${tombstones.id} = ${id} AND ${tombstones.seq} < ${seq})`,
    ),
    db.delete(tombstones).where(
      sql`${tombstones.accountId} = ${accountId} AND ${tombstones.id} = ${id}
          AND ${tombstones.seq} < ${seq}`,
    ),
  ]
}

/** Undoes the deletion of a device, or of the account, that a restored ledger still has. */
export const undelete: Write<'undelete'> = (db, accountId, { id }) =>
  [tombstones, erasures].map((table) =>
    db.delete(table).where(and(eq(table.accountId, accountId), eq(table.id, id))),
  )
