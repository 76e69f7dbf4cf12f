import { and, eq, gt, isNull, or, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { auditEach } from '../db/queries/audit.ts'
import { appendEvents } from '../db/queries/events.ts'
import {
  type Creation,
  createOwned,
  type Deletion,
  deleteOwned,
  type Edit,
  refuse,
  updateOwned,
} from '../db/queries/owned.ts'
import type { Reference } from '../db/queries/references.ts'
import { accounts, devices, groups, keys, users } from '../db/schema.ts'
import { DEFAULT_MAX_USERS } from '../domain/account/budget.ts'
import type { UserRecord } from '../domain/account/user.ts'
import { emailKey } from '../domain/message/email.ts'
import { fold } from '../domain/text/fold.ts'
import { deleteNetworks } from '../keys/store.ts'
import { endSessionsIf } from '../sessions/store.ts'
import { ownUsers, type User } from './store.ts'

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
  notifyPush: record.notify.push,
  notifyVoice: record.notify.voice,
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

/** The conditions of a write: the group and the device exist, and the e-mail address is free. */
const conditionsOf = (accountId: string, id: string, record: UserRecord) => ({
  references: [
    { table: groups, what: 'group', pointer: '/group', ids: record.groupId },
    { table: devices, what: 'device', pointer: '/deviceId', ids: record.deviceId },
  ] satisfies Reference[],
  condition: sql`NOT EXISTS (SELECT 1 FROM ${users} WHERE ${users.accountId} = ${accountId}
    AND ${users.emailKey} = ${emailKey(record.email)} AND ${users.id} <> ${id})`,
  otherwise: 'email-taken' as const,
})

interface Password {
  /** The hash of a new password; null for none, or to keep the one it has. */
  password: string | null
}

/** What the audit compares: a password only shows that it was set. */
const auditedOf = ({ record, password }: { record: UserRecord } & Password): object =>
  password === null ? record : { ...record, password: '' }

const isFull = (accountId: string): SQL<number> =>
  sql`((SELECT count(*) FROM ${users} WHERE ${users.accountId} = ${accountId}) >= ifnull(
    (SELECT ${accounts.maxUsers} FROM ${accounts} WHERE ${accounts.id} = ${accountId}),
    ${DEFAULT_MAX_USERS}))`

export const createUser = async (db: Database, user: Creation<UserRecord> & Password) => {
  const { accountId, id, record, password, now } = user
  const { condition, ...conditions } = conditionsOf(accountId, id, record)
  const outcome = await createOwned(
    db,
    ownUsers,
    { ...user, record: auditedOf(user) },
    {
      set: { ...toColumns(record), password, creation: now, modification: now },
      ...conditions,
      condition: sql`${condition} AND NOT ${isFull(accountId)}`,
    },
  )
  if (outcome.ok || outcome.refusal !== 'email-taken') return outcome
  const { isAtLimit } = (await db.get<{ isAtLimit: number }>(
    sql`SELECT ${isFull(accountId)} AS isAtLimit`,
  )) ?? { isAtLimit: 0 }
  return isAtLimit ? refuse('user-limit-reached') : outcome
}

type UserEdit = Edit<User, UserRecord> & Password

/** True once the user is disabled or has this new password: then all its sessions end. */
const endsSessions = ({ accountId, before, password }: UserEdit): SQL =>
  sql`EXISTS (SELECT 1 FROM ${users}
    WHERE ${users.id} = ${before.id} AND ${users.accountId} = ${accountId}
      AND (${users.disabled} = 1 OR ${users.password} = ${password}))`

/** Writes nothing when nothing changes. */
export const updateUser = async (db: Database, edit: UserEdit) => {
  const { accountId, before, record, password, now } = edit
  const columns = toColumns(record)
  const isSame = JSON.stringify(columns) === JSON.stringify(toColumns(before))
  if (password === null && isSame) return { ok: true as const, row: before }
  return updateOwned(
    db,
    ownUsers,
    { ...edit, record: auditedOf(edit) },
    {
      set: {
        ...columns,
        ...(password !== null && { password }),
        ...(record.disabled && !before.disabled && { lastDisabled: now }),
        modification: now,
      },
      ...conditionsOf(accountId, before.id, record),
      thereafter: endSessionsIf(db, accountId, before.id, endsSessions(edit)),
    },
  )
}

/** Deletes the user with its sessions and keys, each of which gets its `key.revoked` event. */
export const deleteUser = (db: Database, deletion: Deletion) => {
  const { accountId, id, now } = deletion
  return deleteOwned(db, ownUsers, deletion, {
    thereafter: (isGone) => {
      const ofUser = and(eq(keys.accountId, accountId), eq(keys.userId, id), isGone)
      const isLive = or(isNull(keys.expires), gt(keys.expires, now))
      const revoked = sql`SELECT 'evt_' || ${keys.id} || '_revoked' AS id, ${keys.id} AS place,
        NULL AS device_id, json_object('keyId', ${keys.id}) AS data
        FROM ${keys} WHERE ${and(ofUser, isLive)}`
      return [
        ...appendEvents(db, { accountId, type: 'key.revoked', time: now, rows: revoked }),
        ...auditEach(db, {
          accountId,
          now,
          action: 'key.revoked',
          type: 'key',
          resourceId: sql`${keys.id}`,
          rows: sql`FROM ${keys} WHERE ${and(ofUser, isLive)}`,
        }),
        deleteNetworks(db, sql`SELECT ${keys.id} FROM ${keys} WHERE ${ofUser}`),
        db.delete(keys).where(ofUser),
        ...endSessionsIf(db, accountId, id, isGone),
      ]
    },
  })
}
