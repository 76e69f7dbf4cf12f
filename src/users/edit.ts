import { and, eq, gt, isNull, or, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { appendEvents } from '../db/queries/events.ts'
import { insertSelect, select } from '../db/query.ts'
import { devices, groups, keys, users } from '../db/schema.ts'
import { runBatch, valuesOf } from '../db/statement.ts'
import type { UserRecord } from '../domain/account/user.ts'
import { emailKey } from '../domain/message/email.ts'
import { fold } from '../domain/text/fold.ts'
import { endSessionsIf } from '../sessions/store.ts'
import { findUser, type User } from './store.ts'

/* Each edit is one atomic batch, which checks the user's group, device and e-mail as it writes. */

export type UserRefusal =
  | { ok: false; refusal: 'email-taken' | 'user-not-found' | 'precondition-failed' }
  | { ok: false; refusal: 'invalid-request'; errors: { pointer: string; detail: string }[] }
export type UserOutcome = { ok: true; user: User } | UserRefusal

const refuse = (refusal: Exclude<UserRefusal['refusal'], 'invalid-request'>): UserRefusal => ({
  ok: false,
  refusal,
})

const toColumns = (record: UserRecord) => ({
  name: record.name,
  nameKey: fold(record.name),
  email: record.email,
  emailKey: emailKey(record.email) ?? '',
  country: record.country,
  timeZone: record.timeZone,
  phone: record.phone,
  notifyEmail: record.notify.email,
  notifySms: record.notify.sms,
  description: record.description,
  message: record.message,
  disabled: record.disabled,
  disabledMessage: record.disabledMessage,
  tags: record.tags,
  privileges: record.privileges,
  groupId: record.groupId,
  deviceId: record.deviceId,
  adminDevices: record.adminDevices,
  fromTime: record.from,
  expires: record.expires,
})

interface UserWrite {
  accountId: string
  id: string
  record: UserRecord
}

type Referenced = typeof groups | typeof devices

const existsIn = (table: Referenced, accountId: string, id: string | null): SQL =>
  id === null
    ? sql`true`
    : sql`EXISTS (SELECT 1 FROM ${table}
        WHERE ${table.id} = ${id} AND ${table.accountId} = ${accountId})`

/** The conditions of a write. Selected again after it, they show which one failed. */
const checksOf = ({ accountId, id, record }: UserWrite) => ({
  group: existsIn(groups, accountId, record.groupId),
  device: existsIn(devices, accountId, record.deviceId),
  email: sql`NOT EXISTS (SELECT 1 FROM ${users} WHERE ${users.accountId} = ${accountId}
    AND ${users.emailKey} = ${emailKey(record.email)} AND ${users.id} <> ${id})`,
})

const selectChecks = (write: UserWrite) => {
  const { group, device, email } = checksOf(write)
  const { accountId, id, record } = write
  const own = and(eq(users.id, id), eq(users.accountId, accountId))
  const ownGroup = sql`${groups.id} = ${record.groupId} AND ${groups.accountId} = ${accountId}`
  return select(
    {
      group: sql<number>`${group}`,
      device: sql<number>`${device}`,
      email: sql<number>`${email}`,
      version: sql<number | null>`(SELECT ${users.version} FROM ${users} WHERE ${own})`,
      groupName: sql<string | null>`(SELECT ${groups.name} FROM ${groups} WHERE ${ownGroup})`,
    },
    sql``,
  )
}

const isWritable = (write: UserWrite): SQL => {
  const { group, device, email } = checksOf(write)
  return sql`${group} AND ${device} AND ${email}`
}

const refusalOf = ({ group, device }: { group: number; device: number }): UserRefusal => {
  const errors = [
    ...(group ? [] : [{ pointer: '/group', detail: 'is not a group of this account' }]),
    ...(device ? [] : [{ pointer: '/deviceId', detail: 'is not a device of this account' }]),
  ]
  return errors.length > 0
    ? { ok: false, refusal: 'invalid-request', errors }
    : refuse('email-taken')
}

interface NewUser extends UserWrite {
  /** A password hash, or null for a user without a password. */
  password: string | null
  now: number
}

/** A retry after a crash has the same id: it finds the user and changes nothing. */
export const createUser = async (db: Database, user: NewUser): Promise<UserOutcome> => {
  const { accountId, id, record, password, now } = user
  const times = { creation: now, modification: now }
  const row = { id, accountId, ...toColumns(record), password, ...times, version: 1 }
  const { checks } = await runBatch(db, {
    inserted: insertSelect(users, row, sql`WHERE ${isWritable(user)} ON CONFLICT DO NOTHING`),
    checks: selectChecks(user),
  })
  const [checked] = checks.results
  if (checked?.version === null) return refusalOf(checked)
  const created = await findUser(db, accountId, id)
  return created ? { ok: true, user: created } : refuse('user-not-found')
}

interface UserEdit {
  accountId: string
  before: User
  record: UserRecord
  /** The hash of a new password; null keeps the one it has. */
  password: string | null
  now: number
}

/** True once the user is disabled or has this new password: then all its sessions end. */
const endsSessions = ({ accountId, before, password }: UserEdit): SQL =>
  sql`EXISTS (SELECT 1 FROM ${users}
    WHERE ${users.id} = ${before.id} AND ${users.accountId} = ${accountId}
      AND (${users.disabled} = 1 OR ${users.password} = ${password}))`

/** Writes only while the version is the one that was read. */
export const updateUser = async (db: Database, edit: UserEdit): Promise<UserOutcome> => {
  const { accountId, before, record, password, now } = edit
  const columns = toColumns(record)
  const isSame = JSON.stringify(columns) === JSON.stringify(toColumns(before))
  if (password === null && isSame) return { ok: true, user: before }
  const write = { accountId, id: before.id, record }
  const isUnchanged = and(
    eq(users.id, before.id),
    eq(users.accountId, accountId),
    eq(users.version, before.version),
  )
  const { written, checks } = await runBatch(db, {
    written: db
      .update(users)
      .set({
        ...columns,
        ...(password !== null && { password }),
        modification: now,
        version: before.version + 1,
      })
      .where(and(isUnchanged, isWritable(write))),
    checks: selectChecks(write),
    sessions: endSessionsIf(db, accountId, before.id, endsSessions(edit)),
  })
  const [checked] = checks.results
  if (checked && written.meta.changes === 1) {
    const { groupName } = checked
    const changed = { groupName, modification: now, version: before.version + 1 }
    return { ok: true, user: { ...before, ...record, ...changed } }
  }
  if (!checked || checked.version === null) return refuse('user-not-found')
  return checked.version === before.version ? refusalOf(checked) : refuse('precondition-failed')
}

interface UserDeletion {
  accountId: string
  id: string
  /** The versions of If-Match, compared as the user is deleted. */
  versions: number[] | null
  now: number
}

/** Deletes the user with its sessions and keys, each of which gets its `key.revoked` event. */
export const deleteUser = async (
  db: Database,
  { accountId, id, versions, now }: UserDeletion,
): Promise<{ ok: true } | UserRefusal> => {
  const own = and(eq(users.id, id), eq(users.accountId, accountId))
  const isExpected = versions ? sql`${users.version} IN ${valuesOf(versions)}` : sql`true`
  const isDeletable = sql`EXISTS (SELECT 1 FROM ${users} WHERE ${own} AND ${isExpected})`
  const ofUser = and(eq(keys.accountId, accountId), eq(keys.userId, id), isDeletable)
  const isLive = or(isNull(keys.expires), gt(keys.expires, now))
  const revoked = sql`SELECT 'evt_' || ${keys.id} || '_revoked' AS id, ${keys.id} AS place, NULL AS device_id,
    json_object('keyId', ${keys.id}) AS data FROM ${keys} WHERE ${and(ofUser, isLive)}`
  const { before, deleted } = await runBatch(db, {
    before: db.select({ id: users.id }).from(users).where(own),
    revoked: appendEvents(db, { accountId, type: 'key.revoked', time: now, rows: revoked }),
    keys: db.delete(keys).where(ofUser),
    sessions: endSessionsIf(db, accountId, id, isDeletable),
    deleted: db.delete(users).where(and(eq(users.id, id), isDeletable)),
  })
  if (deleted.meta.changes === 1) return { ok: true }
  return refuse(before.results.length === 1 ? 'precondition-failed' : 'user-not-found')
}
