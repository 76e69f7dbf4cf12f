import { and, eq, gt, isNull, or, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { appendEvents } from '../db/queries/events.ts'
import {
  type Creation,
  type Deletion,
  deleteOwned,
  type Edit,
  editOutcome,
  refuse,
} from '../db/queries/owned.ts'
import { checkReferences, refuseUnknown } from '../db/queries/references.ts'
import { insertSelect } from '../db/query.ts'
import { devices, groups, keys, users } from '../db/schema.ts'
import { runBatch } from '../db/statement.ts'
import type { UserRecord } from '../domain/account/user.ts'
import { emailKey } from '../domain/message/email.ts'
import { fold } from '../domain/text/fold.ts'
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

/** Checks the user's group and device. `isWritable` also says that the e-mail address is free. */
const checkRecord = (accountId: string, id: string, record: UserRecord) => {
  const { areKnown, selectErrors } = checkReferences(accountId, [
    { table: groups, what: 'group', pointer: '/group', ids: record.groupId },
    { table: devices, what: 'device', pointer: '/deviceId', ids: record.deviceId },
  ])
  const isWritable = sql`${areKnown} AND NOT EXISTS (SELECT 1 FROM ${users}
    WHERE ${users.accountId} = ${accountId} AND ${users.emailKey} = ${emailKey(record.email)}
      AND ${users.id} <> ${id})`
  return { isWritable, selectErrors }
}

interface Password {
  /** The hash of a new password; null for none, or to keep the one it has. */
  password: string | null
}

/** A retry after a crash has the same id: it finds the user and changes nothing. */
export const createUser = async (db: Database, user: Creation<UserRecord> & Password) => {
  const { accountId, id, record, password, now } = user
  const { isWritable, selectErrors } = checkRecord(accountId, id, record)
  const times = { creation: now, modification: now }
  const row = { id, accountId, ...toColumns(record), password, ...times, version: 1 }
  const { errors, found } = await runBatch(db, {
    inserted: insertSelect(users, row, sql`WHERE ${isWritable} ON CONFLICT DO NOTHING`),
    errors: selectErrors,
    found: ownUsers.selectOne(accountId, id),
  })
  const [created] = found.results
  return created
    ? { ok: true as const, row: created }
    : refuseUnknown(errors, refuse('email-taken'))
}

type UserEdit = Edit<User, UserRecord> & Password

/** True once the user is disabled or has this new password: then all its sessions end. */
const endsSessions = ({ accountId, before, password }: UserEdit): SQL =>
  sql`EXISTS (SELECT 1 FROM ${users}
    WHERE ${users.id} = ${before.id} AND ${users.accountId} = ${accountId}
      AND (${users.disabled} = 1 OR ${users.password} = ${password}))`

/** Writes only while the version is the one that was read. */
export const updateUser = async (db: Database, edit: UserEdit) => {
  const { accountId, before, record, password, now } = edit
  const columns = toColumns(record)
  const isSame = JSON.stringify(columns) === JSON.stringify(toColumns(before))
  if (password === null && isSame) return { ok: true as const, row: before }
  const { isWritable, selectErrors } = checkRecord(accountId, before.id, record)
  const { written, errors, found } = await runBatch(db, {
    written: db
      .update(users)
      .set({
        ...columns,
        ...(password !== null && { password }),
        modification: now,
        version: before.version + 1,
      })
      .where(
        sql`${ownUsers.isOwn(accountId, before.id)} AND ${users.version} = ${before.version}
          AND ${isWritable}`,
      ),
    errors: selectErrors,
    sessions: endSessionsIf(db, accountId, before.id, endsSessions(edit)),
    found: ownUsers.selectOne(accountId, before.id),
  })
  const rows = { before, after: found.results[0] }
  return editOutcome('user', written.meta.changes === 1, rows, () =>
    refuseUnknown(errors, refuse('email-taken')),
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
        db.delete(keys).where(ofUser),
        endSessionsIf(db, accountId, id, isGone),
      ]
    },
  })
}
