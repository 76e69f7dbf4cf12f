import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { auditWrite } from '../db/queries/audit.ts'
import {
  type Creation,
  type Deletion,
  deleteOwned,
  type Edit,
  editOutcome,
  refuse,
} from '../db/queries/owned.ts'
import { checkReferences, refuseUnknown } from '../db/queries/references.ts'
import { removeRuleTarget } from '../db/queries/rules/targets.ts'
import { touchIfChanged } from '../db/queries/rules/version.ts'
import { insertSelect } from '../db/query.ts'
import { devices, groupDevices, groups, users } from '../db/schema.ts'
import { runBatch } from '../db/statement.ts'
import { difference, type Group, type GroupRecord } from '../domain/account/group.ts'
import { changesBetween } from '../domain/admin/audit.ts'
import { fold } from '../domain/text/fold.ts'
import { ownGroups, selectGroup, toFoundGroup } from './store.ts'

const checkDevices = (accountId: string, ids: string[], before?: string[]) =>
  checkReferences(accountId, [{ table: devices, what: 'device', pointer: '/devices', ids, before }])

/** Puts the devices of a JSON list into a group, if the guard holds. */
const insertMembers = (groupId: string, accountId: string, list: string, guard: SQL): SQL =>
  insertSelect(
    groupDevices,
    {
      groupId,
      deviceKey: devices.key,
      accountId,
      nameKey: devices.nameKey,
      creation: devices.creation,
    },
    sql`FROM json_each(${list}) listed CROSS JOIN ${devices} ON ${devices.id} = listed.value
      WHERE ${guard} ON CONFLICT DO NOTHING`,
  )

/** A retry after a crash has the same id: it finds the group and changes nothing. */
export const createGroup = async (
  db: Database,
  { accountId, id, record, now }: Creation<GroupRecord>,
) => {
  const { name, description } = record
  const list = JSON.stringify([...new Set(record.devices)])
  const { areKnown, selectErrors } = checkDevices(accountId, record.devices)
  const isNew = sql`NOT EXISTS (SELECT 1 FROM ${groups} WHERE ${groups.id} = ${id})`
  const isNameFree = sql`NOT EXISTS (SELECT 1 FROM ${groups}
    WHERE ${groups.accountId} = ${accountId} AND ${groups.nameKey} = ${fold(name)})`
  const { errors, ...found } = await runBatch(db, {
    // Before the group: a retry finds it, and its members may have changed since.
    joined: insertMembers(id, accountId, list, sql`${areKnown} AND ${isNew} AND ${isNameFree}`),
    inserted: insertSelect(
      groups,
      {
        id,
        accountId,
        name,
        nameKey: fold(name),
        description,
        creation: now,
        lastModified: now,
        version: 1,
      },
      sql`WHERE ${areKnown} ON CONFLICT DO NOTHING`,
    ),
    audited: auditWrite(db, {
      accountId,
      now,
      action: 'group.created',
      resource: { type: 'group', id },
      changes: changesBetween(null, record),
    }),
    errors: selectErrors,
    ...selectGroup(accountId, id),
  })
  const row = toFoundGroup(found)
  return row ? { ok: true as const, row } : refuseUnknown(errors, refuse('name-taken'))
}

type GroupEdit = Edit<Group, GroupRecord>

/** True while the version is the one read and the name is free. */
const isWritable = ({ accountId, before, record }: GroupEdit): SQL =>
  sql`EXISTS (SELECT 1 FROM ${groups}
      WHERE ${ownGroups.isOwn(accountId, before.id)} AND ${groups.version} = ${before.version})
    AND NOT EXISTS (SELECT 1 FROM ${groups} WHERE ${groups.accountId} = ${accountId}
      AND ${groups.nameKey} = ${fold(record.name)} AND ${groups.id} <> ${before.id})`

/** Writes only the difference. Every statement has the guard; the last one moves the version. */
export const updateGroup = async (db: Database, edit: GroupEdit) => {
  const { accountId, before, record, now } = edit
  const { name, description } = record
  const { added, removed } = difference(before.devices, record.devices)
  const isSameText = name === before.name && description === before.description
  if (isSameText && added.length + removed.length === 0) return { ok: true as const, row: before }
  const { areKnown, selectErrors } = checkDevices(accountId, record.devices, before.devices)
  const guard = sql`${isWritable(edit)} AND ${areKnown}`
  const names = { name, nameKey: fold(name), description }
  const { written, errors, ...found } = await runBatch(db, {
    removed: db.delete(groupDevices).where(
      sql`${groupDevices.groupId} = ${before.id} AND ${guard}
        AND ${groupDevices.deviceKey} IN (SELECT ${devices.key}
          FROM json_each(${JSON.stringify(removed)}) listed
          CROSS JOIN ${devices} ON ${devices.id} = listed.value)`,
    ),
    added: insertMembers(before.id, accountId, JSON.stringify(added), guard),
    written: db
      .update(groups)
      .set({ ...names, lastModified: now, version: before.version + 1 })
      .where(and(eq(groups.id, before.id), guard)),
    audited: auditWrite(db, {
      accountId,
      now,
      action: 'group.updated',
      resource: { type: 'group', id: before.id },
      changes: changesBetween(before, record),
    }),
    touched: touchIfChanged(db, accountId),
    errors: selectErrors,
    ...selectGroup(accountId, before.id),
  })
  const rows = { before, after: toFoundGroup(found) }
  const refusal = refuseUnknown(errors, refuse('name-taken'))
  return editOutcome('group', written.meta.changes > 0, rows, refusal)
}

export const deleteGroup = (db: Database, deletion: Deletion) => {
  const { accountId, id } = deletion
  return deleteOwned(db, ownGroups, deletion, {
    inUse: {
      refusal: 'group-in-use',
      condition: sql`EXISTS (SELECT 1 FROM ${users}
        WHERE ${users.accountId} = ${accountId} AND ${users.groupId} = ${id})`,
    },
    thereafter: (isGone) => [
      db.delete(groupDevices).where(
        sql`${groupDevices.groupId} = ${id} AND ${groupDevices.accountId} = ${accountId}
          AND ${isGone}`,
      ),
      ...removeRuleTarget(db, { accountId, member: 'groups', id, guard: isGone }),
    ],
  })
}
