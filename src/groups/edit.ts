import { and, eq, isNull, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { touchAfter } from '../db/queries/rulesVersion.ts'
import { removeRuleTarget } from '../db/queries/ruleTargets.ts'
import { insertSelect, select } from '../db/query.ts'
import { devices, groupDevices, groups, users } from '../db/schema.ts'
import { runBatch, valuesOf } from '../db/statement.ts'
import { difference, type Group, type GroupRecord } from '../domain/account/group.ts'
import { fold } from '../domain/text/fold.ts'
import { selectGroup, toFoundGroup } from './store.ts'

/* Each edit is one atomic batch that ends by reading what it left behind. */

type FieldError = { pointer: string; detail: string }
export type GroupRefusal =
  | {
      ok: false
      refusal: 'name-taken' | 'group-not-found' | 'precondition-failed' | 'group-in-use'
    }
  | { ok: false; refusal: 'invalid-request'; errors: FieldError[] }
export type GroupOutcome = { ok: true; group: Group } | GroupRefusal

const refuse = (refusal: Exclude<GroupRefusal['refusal'], 'invalid-request'>): GroupRefusal => ({
  ok: false,
  refusal,
})

const MAX_ERRORS = 20

/** The ids of a JSON list that belong to no device of the account. */
const unknownIds = (list: string, accountId: string): SQL =>
  sql`SELECT listed.value AS id FROM json_each(${list}) listed
    LEFT JOIN ${devices} ON ${devices.id} = listed.value AND ${devices.accountId} = ${accountId}
    WHERE ${isNull(devices.key)}`

const selectUnknownIds = (list: string, accountId: string) =>
  select({ id: sql<string>`id` }, sql`FROM (${unknownIds(list, accountId)}) LIMIT ${MAX_ERRORS}`)

const nameOrDevices = (record: GroupRecord, unknown: { id: string }[]): GroupRefusal => {
  if (unknown.length === 0) return refuse('name-taken')
  const errors = unknown.map(({ id }) => ({
    pointer: `/devices/${record.devices.indexOf(id)}`,
    detail: 'is not a device of this account',
  }))
  return { ok: false, refusal: 'invalid-request', errors }
}

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

interface NewGroup {
  accountId: string
  id: string
  record: GroupRecord
  now: number
}

/** A retry after a crash has the same id: it finds the group and changes nothing. */
export const createGroup = async (
  db: Database,
  { accountId, id, record, now }: NewGroup,
): Promise<GroupOutcome> => {
  const { name, description } = record
  const list = JSON.stringify([...new Set(record.devices)])
  const isKnown = sql`NOT EXISTS (${unknownIds(list, accountId)})`
  const isNew = sql`NOT EXISTS (SELECT 1 FROM ${groups} WHERE ${groups.id} = ${id})`
  const isNameFree = sql`NOT EXISTS (SELECT 1 FROM ${groups}
    WHERE ${groups.accountId} = ${accountId} AND ${groups.nameKey} = ${fold(name)})`
  const { unknown, ...found } = await runBatch(db, {
    // Before the group: a retry finds it, and its members may have changed since.
    joined: insertMembers(id, accountId, list, sql`${isKnown} AND ${isNew} AND ${isNameFree}`),
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
      sql`WHERE ${isKnown} ON CONFLICT DO NOTHING`,
    ),
    unknown: selectUnknownIds(list, accountId),
    ...selectGroup(db, accountId, id),
  })
  const group = toFoundGroup(found)
  return group ? { ok: true, group } : nameOrDevices(record, unknown.results)
}

interface GroupEdit {
  accountId: string
  before: Group
  record: GroupRecord
  now: number
}

/** True while the version is the one read, the name is free and every added device exists. */
const isWritable = ({ accountId, before, record }: GroupEdit, added: string): SQL =>
  sql`EXISTS (SELECT 1 FROM ${groups} WHERE ${groups.id} = ${before.id}
      AND ${groups.accountId} = ${accountId} AND ${groups.version} = ${before.version})
    AND NOT EXISTS (SELECT 1 FROM ${groups} WHERE ${groups.accountId} = ${accountId}
      AND ${groups.nameKey} = ${fold(record.name)} AND ${groups.id} <> ${before.id})
    AND NOT EXISTS (${unknownIds(added, accountId)})`

/** Writes only the difference. Every statement has the guard; the last one moves the version. */
export const updateGroup = async (db: Database, edit: GroupEdit): Promise<GroupOutcome> => {
  const { accountId, before, record, now } = edit
  const { name, description } = record
  const { added, removed } = difference(before.devices, record.devices)
  const isSameText = name === before.name && description === before.description
  if (isSameText && added.length + removed.length === 0) return { ok: true, group: before }
  const list = JSON.stringify(added)
  const guard = isWritable(edit, list)
  const update = db
    .update(groups)
    .set({ name, nameKey: fold(name), description, lastModified: now, version: before.version + 1 })
    .where(and(eq(groups.id, before.id), guard))
  const { written, unknown, ...found } = await runBatch(db, {
    removed: db.delete(groupDevices).where(
      sql`${groupDevices.groupId} = ${before.id} AND ${guard}
        AND ${groupDevices.deviceKey} IN (SELECT ${devices.key}
          FROM json_each(${JSON.stringify(removed)}) listed
          CROSS JOIN ${devices} ON ${devices.id} = listed.value)`,
    ),
    added: insertMembers(before.id, accountId, list, guard),
    written: touchAfter(db, accountId, update),
    unknown: selectUnknownIds(list, accountId),
    ...selectGroup(db, accountId, before.id),
  })
  const group = toFoundGroup(found)
  if (!group) return refuse('group-not-found')
  if (written[0].meta.changes === 1) return { ok: true, group }
  return group.version === before.version
    ? nameOrDevices(record, unknown.results)
    : refuse('precondition-failed')
}

interface GroupDeletion {
  accountId: string
  id: string
  /** What If-Match names, compared at the moment of the write. */
  versions: number[] | null
}

export const deleteGroup = async (
  db: Database,
  { accountId, id, versions }: GroupDeletion,
): Promise<{ ok: true } | GroupRefusal> => {
  const own = and(eq(groups.id, id), eq(groups.accountId, accountId))
  const isUsed = sql`EXISTS (SELECT 1 FROM ${users}
    WHERE ${users.accountId} = ${accountId} AND ${users.groupId} = ${id})`
  const isExpected = versions ? sql`${groups.version} IN ${valuesOf(versions)}` : sql`true`
  const isDeletable = sql`EXISTS (SELECT 1 FROM ${groups} WHERE ${own} AND ${isExpected})
    AND NOT ${isUsed}`
  const { before, deleted } = await runBatch(db, {
    before: db.select({ version: groups.version }).from(groups).where(own),
    members: db.delete(groupDevices).where(and(eq(groupDevices.groupId, id), isDeletable)),
    deleted: db.delete(groups).where(and(eq(groups.id, id), isDeletable)),
    rules: removeRuleTarget(db, {
      accountId,
      member: 'groups',
      id,
      guard: sql`NOT EXISTS (SELECT 1 FROM ${groups} WHERE ${own})`,
    }),
  })
  if (deleted.meta.changes === 1) return { ok: true }
  const [row] = before.results
  if (!row) return refuse('group-not-found')
  const isOutdated = versions && !versions.includes(row.version)
  return refuse(isOutdated ? 'precondition-failed' : 'group-in-use')
}
