import type { Database } from '../db/open.ts'
import { fold } from '../domain/fold.ts'
import { difference, type Group, type GroupRecord } from '../domain/group.ts'
import { groupStatements, readGroup } from './store.ts'

/* Each edit is one atomic batch that ends by reading what it left behind. */

export type GroupRefusal =
  | { ok: false; refusal: 'name-taken' | 'not-found' | 'precondition-failed' | 'group-in-use' }
  | { ok: false; refusal: 'invalid-request'; errors: { pointer: string; detail: string }[] }
export type GroupOutcome = { ok: true; group: Group } | GroupRefusal

const refuse = (refusal: Exclude<GroupRefusal['refusal'], 'invalid-request'>): GroupRefusal => ({ ok: false, refusal })

/** SQL: those of a JSON list of ids that are of no device of the account. */
const strangers = (list: string, accountId: string) =>
  `SELECT e.value AS id FROM json_each(${list}) e LEFT JOIN devices d ON d.id = e.value AND d.account_id = ${accountId} WHERE d.key IS NULL`

const MOST_ERRORS = 20

const listStrangers = (db: D1Database, list: string, accountId: string) =>
  db.prepare(`${strangers('?1', '?2')} LIMIT ${MOST_ERRORS}`).bind(list, accountId)

const nameOrDevices = (record: GroupRecord, unknown: D1Result | undefined): GroupRefusal => {
  const ids = ((unknown?.results ?? []) as { id: string }[]).map(({ id }) => id)
  if (ids.length === 0) return refuse('name-taken')
  const errors = ids.map((id) => ({ pointer: `/devices/${record.devices.indexOf(id)}`, detail: 'is not a device of this account' }))
  return { ok: false, refusal: 'invalid-request', errors }
}

/** A retry after a crash has the same id: it finds the group there and changes nothing. */
export const createGroup = async (
  { $client: db }: Database,
  accountId: string,
  id: string,
  record: GroupRecord,
  now: number,
): Promise<GroupOutcome> => {
  const list = JSON.stringify([...new Set(record.devices)])
  const results = await db.batch([
    db
      .prepare(
        `INSERT INTO groups (id, account_id, name, name_key, description, creation, last_modified, version)
         SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?6, 1 WHERE NOT EXISTS (${strangers('?7', '?2')}) ON CONFLICT DO NOTHING`,
      )
      .bind(id, accountId, record.name, fold(record.name), record.description, now, list),
    db
      .prepare(
        `INSERT INTO group_devices (group_id, device_key, account_id)
         SELECT ?1, d.key, ?2 FROM json_each(?3) e CROSS JOIN devices d ON d.id = e.value WHERE changes() = 1`,
      )
      .bind(id, accountId, list),
    listStrangers(db, list, accountId),
    ...groupStatements(db, accountId, id),
  ])
  const group = readGroup(results)
  return group ? { ok: true, group } : nameOrDevices(record, results[2])
}

/** Nothing is written unless the version is still the one that was read, the name is free and every added device is there. */
const GUARD = `EXISTS (SELECT 1 FROM groups WHERE id = ?1 AND account_id = ?2 AND version = ?3)
  AND NOT EXISTS (SELECT 1 FROM groups WHERE account_id = ?2 AND name_key = ?4 AND id <> ?1)
  AND NOT EXISTS (${strangers('?5', '?2')})`

/** Writes the difference alone. Every statement has the guard, and the one that moves the version comes last. */
export const updateGroup = async (
  { $client: db }: Database,
  accountId: string,
  before: Group,
  record: GroupRecord,
  now: number,
): Promise<GroupOutcome> => {
  const { added, removed } = difference(before.devices, record.devices)
  const isSame = record.name === before.name && record.description === before.description && added.length + removed.length === 0
  if (isSame) return { ok: true, group: before }
  const list = JSON.stringify(added)
  const guarded = [before.id, accountId, before.version, fold(record.name), list]
  const results = await db.batch([
    db
      .prepare(
        `DELETE FROM group_devices WHERE group_id = ?1 AND ${GUARD}
         AND device_key IN (SELECT d.key FROM json_each(?6) e CROSS JOIN devices d ON d.id = e.value)`,
      )
      .bind(...guarded, JSON.stringify(removed)),
    db
      .prepare(
        `INSERT INTO group_devices (group_id, device_key, account_id)
         SELECT ?1, d.key, ?2 FROM json_each(?5) e CROSS JOIN devices d ON d.id = e.value WHERE ${GUARD} ON CONFLICT DO NOTHING`,
      )
      .bind(...guarded),
    db
      .prepare(
        `UPDATE groups SET name = ?6, name_key = ?4, description = ?7, last_modified = ?8, version = version + 1
         WHERE id = ?1 AND ${GUARD} RETURNING version`,
      )
      .bind(...guarded, record.name, record.description, now),
    listStrangers(db, list, accountId),
    ...groupStatements(db, accountId, before.id),
  ])
  const group = readGroup(results)
  if (!group) return refuse('not-found')
  if (results[2]?.results.length === 1) return { ok: true, group }
  return group.version === before.version ? nameOrDevices(record, results[3]) : refuse('precondition-failed')
}

const DELETABLE = `EXISTS (SELECT 1 FROM groups WHERE id = ?1 AND account_id = ?2 AND (?3 IS NULL OR version IN (SELECT value FROM json_each(?3))))
  AND NOT EXISTS (SELECT 1 FROM users WHERE account_id = ?2 AND group_id = ?1)`

/** `versions`: what If-Match names, compared at the moment of the write. */
export const deleteGroup = async (
  { $client: db }: Database,
  accountId: string,
  id: string,
  versions: number[] | null,
): Promise<{ ok: true } | GroupRefusal> => {
  const values = [id, accountId, versions && JSON.stringify(versions)]
  const [standing, , gone] = await db.batch([
    db
      .prepare(
        `SELECT version, EXISTS (SELECT 1 FROM users WHERE account_id = ?2 AND group_id = ?1) AS used
         FROM groups WHERE id = ?1 AND account_id = ?2`,
      )
      .bind(id, accountId),
    db.prepare(`DELETE FROM group_devices WHERE group_id = ?1 AND ${DELETABLE}`).bind(...values),
    db.prepare(`DELETE FROM groups WHERE id = ?1 AND ${DELETABLE} RETURNING id`).bind(...values),
  ])
  if (gone?.results.length === 1) return { ok: true }
  const row = standing?.results[0] as { version: number; used: number } | undefined
  if (!row) return refuse('not-found')
  return refuse(versions && !versions.includes(row.version) ? 'precondition-failed' : 'group-in-use')
}
