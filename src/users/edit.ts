import { and, eq, gt, isNull, or, sql } from 'drizzle-orm'
import { appendEvents } from '../db/events.ts'
import type { Database } from '../db/open.ts'
import { keys, users } from '../db/schema.ts'
import { runBatch, statement, valuesOf } from '../db/statement.ts'
import { emailKey } from '../domain/email.ts'
import { fold } from '../domain/fold.ts'
import { sameJson } from '../domain/json.ts'
import type { UserRecord } from '../domain/user.ts'
import { findUser, type User } from './store.ts'

/* Each edit is one atomic batch; a user's group, device and e-mail are checked at the moment of the write. */

export type UserRefusal =
  | { ok: false; refusal: 'email-taken' | 'not-found' | 'precondition-failed' }
  | { ok: false; refusal: 'invalid-request'; errors: { pointer: string; detail: string }[] }
export type UserOutcome = { ok: true; user: User } | UserRefusal

const refuse = (refusal: Exclude<UserRefusal['refusal'], 'invalid-request'>): UserRefusal => ({
  ok: false,
  refusal,
})

const columnsOf = (record: UserRecord): Record<string, string | number | null> => ({
  name: record.name,
  name_key: fold(record.name),
  email: record.email,
  email_key: emailKey(record.email),
  country: record.country,
  time_zone: record.timeZone,
  phone: record.phone,
  notify_email: Number(record.notify.email),
  notify_sms: Number(record.notify.sms),
  description: record.description,
  message: record.message,
  disabled: Number(record.disabled),
  disabled_message: record.disabledMessage,
  tags: JSON.stringify(record.tags),
  privileges: JSON.stringify(record.privileges),
  group_id: record.group,
  device_id: record.deviceId,
  admin_devices: record.adminDevices,
  from_time: record.from,
  expires: record.expires,
})

/** What must hold of a user's references; the same answers tell afterwards which of them did not. */
const REFERENCES = {
  group: '(?3 IS NULL OR EXISTS (SELECT 1 FROM groups WHERE id = ?3 AND account_id = ?2))',
  device: '(?4 IS NULL OR EXISTS (SELECT 1 FROM devices WHERE id = ?4 AND account_id = ?2))',
  email: 'NOT EXISTS (SELECT 1 FROM users WHERE account_id = ?2 AND email_key = ?5 AND id <> ?1)',
}
const GUARD = Object.values(REFERENCES).join(' AND ')
const referencesOf = (accountId: string, id: string, { group, deviceId, email }: UserRecord) =>
  [id, accountId, group, deviceId, emailKey(email)] as const

interface Check {
  group: number
  device: number
  email: number
  version: number | null
}

const check = (db: D1Database, values: readonly (string | null)[]) =>
  db
    .prepare(
      `SELECT ${REFERENCES.group} AS "group", ${REFERENCES.device} AS device, ${REFERENCES.email} AS email,
         (SELECT version FROM users WHERE id = ?1 AND account_id = ?2) AS version`,
    )
    .bind(...values)

const refusalOf = ({ group, device }: Check): UserRefusal => {
  const errors = [
    ...(group ? [] : [{ pointer: '/group', detail: 'is not a group of this account' }]),
    ...(device ? [] : [{ pointer: '/deviceId', detail: 'is not a device of this account' }]),
  ]
  return errors.length > 0
    ? { ok: false, refusal: 'invalid-request', errors }
    : refuse('email-taken')
}

/** A retry after a crash has the same id: it finds the user there and changes nothing. */
export const createUser = async (
  database: Database,
  accountId: string,
  id: string,
  record: UserRecord,
  password: string | null,
  now: number,
): Promise<UserOutcome> => {
  const db = database.$client
  const references = referencesOf(accountId, id, record)
  const columns = { ...columnsOf(record), password, creation: now, modification: now, version: 1 }
  const places = Object.keys(columns).map((_, index) => `?${references.length + index + 1}`)
  const [, found] = await db.batch([
    db
      .prepare(
        `INSERT INTO users (id, account_id, ${Object.keys(columns).join(', ')}) SELECT ?1, ?2, ${places.join(', ')} WHERE ${GUARD} ON CONFLICT DO NOTHING`,
      )
      .bind(...references, ...Object.values(columns)),
    check(db, references),
  ])
  const checked = found?.results[0] as unknown as Check
  if (checked.version === null) return refusalOf(checked)
  const user = await findUser(database, accountId, id)
  return user ? { ok: true, user } : refuse('not-found')
}

/** Written only while the version is still the one that was read. A null password stays as it is. */
export const updateUser = async (
  { $client: db }: Database,
  accountId: string,
  before: User,
  record: UserRecord,
  password: string | null,
  now: number,
): Promise<UserOutcome> => {
  if (password === null && sameJson(columnsOf(before), columnsOf(record)))
    return { ok: true, user: before }
  const references = referencesOf(accountId, before.id, record)
  const columns = { ...columnsOf(record), modification: now }
  const changes = Object.keys(columns).map(
    (name, index) => `${name} = ?${references.length + 3 + index}`,
  )
  const [written, found] = await db.batch([
    db
      .prepare(
        `UPDATE users SET version = version + 1, password = coalesce(?7, password), ${changes.join(', ')}
         WHERE id = ?1 AND account_id = ?2 AND version = ?6 AND ${GUARD} RETURNING id`,
      )
      .bind(...references, before.version, password, ...Object.values(columns)),
    check(db, references),
  ])
  if (written?.results.length === 1)
    return {
      ok: true,
      user: { ...before, ...record, modification: now, version: before.version + 1 },
    }
  const checked = found?.results[0] as unknown as Check
  if (checked.version === null) return refuse('not-found')
  return checked.version === before.version ? refusalOf(checked) : refuse('precondition-failed')
}

/** The user's keys go with it. `versions`: what If-Match names, compared at the moment of the write. */
export const deleteUser = async (
  db: Database,
  accountId: string,
  id: string,
  versions: number[] | null,
  now: number,
): Promise<{ ok: true } | UserRefusal> => {
  const own = and(eq(users.id, id), eq(users.accountId, accountId))
  const isExpected = versions ? sql`${users.version} IN ${valuesOf(versions)}` : sql`true`
  const isDeletable = sql`EXISTS (SELECT 1 FROM ${users} WHERE ${own} AND ${isExpected})`
  const ofUser = and(eq(keys.accountId, accountId), eq(keys.userId, id), isDeletable)
  const rows = sql`SELECT 'evt_' || ${keys.id} || '_revoked' AS id,
      json_object('keyId', ${keys.id}) AS data
    FROM ${keys} WHERE ${and(ofUser, or(isNull(keys.expires), gt(keys.expires, now)))}`
  const [, , , deleted, left] = await runBatch(db, [
    ...appendEvents(db, { accountId, type: 'key.revoked', time: now, rows }),
    statement(db, db.delete(keys).where(ofUser)),
    statement(
      db,
      db
        .delete(users)
        .where(and(eq(users.id, id), isDeletable))
        .returning({ id: users.id }),
    ),
    statement(db, sql`SELECT 1 FROM ${users} WHERE ${own}`),
  ])
  if (deleted.results.length === 1) return { ok: true }
  return refuse(left.results.length === 1 ? 'precondition-failed' : 'not-found')
}
