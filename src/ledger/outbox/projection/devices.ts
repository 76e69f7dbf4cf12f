import { and, eq, getTableColumns, sql } from 'drizzle-orm'
import type { Database } from '../../../db/open.ts'
import { removeRuleTarget } from '../../../db/queries/ruleTargets.ts'
import {
  devices,
  erasures,
  groupDevices,
  groups,
  silentMarks,
  tombstones,
  unclaimed,
  users,
} from '../../../db/schema.ts'
import { compile, names, type Statement, statement } from '../../../db/statement.ts'
import { DEFAULT_MAX_SPEED, type Device, NO_RESERVE } from '../../../domain/account/device.ts'
import { endsOf } from '../../../domain/account/license.ts'
import { fold } from '../../../domain/text/fold.ts'
import type { PostedAs } from '../outbox.ts'
import { updateMemberships } from './memberships.ts'
import { type Columns, compileUpsert } from './upsert.ts'

/** A device's row, without the day's counters, `source_id`, `last_contact` and the effect's number. */
export const toDeviceColumns = (accountId: string, device: Device): Columns => ({
  key: device.key,
  id: device.id,
  account_id: accountId,
  name: device.name,
  name_key: fold(device.name),
  description: device.description,
  min: device.min,
  identifier: device.identifier,
  identifier_key: device.identifier === null ? null : fold(device.identifier),
  model: device.model,
  tags: JSON.stringify(device.tags),
  expires: device.limits.expires ? 1 : 0,
  expiration_date: device.limits.expirationDate,
  ends: endsOf(device.limits),
  daily_email_limit: device.limits.dailyEmailLimit,
  daily_sms_limit: device.limits.dailySmsLimit,
  email_reserve: (device.limits.emergencyReserve ?? NO_RESERVE).email,
  sms_reserve: (device.limits.emergencyReserve ?? NO_RESERVE).sms,
  max_speed: device.maxSpeed ?? DEFAULT_MAX_SPEED,
  creation: device.creation,
  last_modified: device.lastModified,
  version: device.version,
})

const { usageDate, emailsSent, smsSent, sourceId, lastContact, ...recordColumns } =
  getTableColumns(devices)

/** A deleted device's tombstone keeps a late repeat from bringing the row back. */
const upsertDevice = compileUpsert({
  table: devices,
  columns: Object.values(recordColumns),
  key: devices.key,
  owner: devices.accountId,
  seq: devices.seq,
  unless: sql`EXISTS (SELECT 1 FROM ${tombstones}
    WHERE ${tombstones.accountId} = ${sql.placeholder('account_id')}
      AND ${tombstones.id} = ${sql.placeholder('id')})`,
})

/** Joins the creator's group before the row exists: a late repeat finds the row and joins nothing. */
const joinGroup = (
  db: Database,
  accountId: string,
  { id, key, name, creation }: Device,
  groupId: string,
): Statement[] => [
  statement(
    db,
    sql`INSERT INTO ${groupDevices} (${names(
      groupDevices.groupId,
      groupDevices.deviceKey,
      groupDevices.accountId,
      groupDevices.nameKey,
      groupDevices.creation,
    )})
      SELECT ${groups.id}, ${key}, ${accountId}, ${fold(name)}, ${creation} FROM ${groups}
      WHERE ${groups.id} = ${groupId} AND ${groups.accountId} = ${accountId}
        AND NOT EXISTS (SELECT 1 FROM ${devices} WHERE ${devices.key} = ${key})
        AND NOT EXISTS (SELECT 1 FROM ${tombstones}
          WHERE ${tombstones.accountId} = ${accountId} AND ${tombstones.id} = ${id})
      ON CONFLICT DO NOTHING`,
  ),
  statement(
    db,
    db
      .update(groups)
      .set({
        version: sql`${groups.version} + 1`,
        lastModified: sql`max(${groups.lastModified}, ${creation})`,
      })
      .where(sql`${groups.id} = ${groupId} AND changes() = 1`),
  ),
]

/** Reports that waited for a device with this identifier are to be moved to it. */
const claimReports = compile<{
  accountId: string
  identifierKey: string
  key: number
  now: number
}>(
  sql`UPDATE ${unclaimed} SET claimed_at = ${sql.placeholder('now')}
    WHERE ${unclaimed.accountId} = ${sql.placeholder('accountId')}
      AND ${unclaimed.identifierKey} = ${sql.placeholder('identifierKey')}
      AND ${unclaimed.claimedAt} IS NULL
      AND EXISTS (SELECT 1 FROM ${devices} WHERE ${devices.key} = ${sql.placeholder('key')}
        AND ${devices.identifierKey} = ${unclaimed.identifierKey})`,
)

export const writeDevice = (
  db: Database,
  accountId: string,
  { device, joins, seq }: PostedAs<'device'>,
): Statement[] => [
  ...(joins === undefined ? [] : joinGroup(db, accountId, device, joins)),
  upsertDevice(db, { ...toDeviceColumns(accountId, device), seq }),
  // Nothing was renamed before the first edit.
  ...(device.version === 1 ? [] : [updateMemberships(db, { key: device.key })]),
  ...(device.identifier === null
    ? []
    : [
        claimReports(db, {
          accountId,
          identifierKey: fold(device.identifier),
          key: device.key,
          now: device.lastModified,
        }),
      ]),
]

/** Counters change without an edit, so they carry the number of their own effect. */
const updateUsage = compile<{
  key: number
  accountId: string
  date: string
  emails: number
  sms: number
  contact: number
  seq: number
}>(
  sql`UPDATE ${devices} SET usage_date = ${sql.placeholder('date')},
      emails_sent = ${sql.placeholder('emails')}, sms_sent = ${sql.placeholder('sms')},
      seq = ${sql.placeholder('seq')},
      last_contact = nullif(max(ifnull(last_contact, 0), ${sql.placeholder('contact')}), 0)
    WHERE ${devices.key} = ${sql.placeholder('key')}
      AND ${devices.accountId} = ${sql.placeholder('accountId')}
      AND ${devices.seq} < ${sql.placeholder('seq')}`,
)

export const writeUsage = (
  db: Database,
  accountId: string,
  { key, usage, contact = 0, seq }: PostedAs<'usage'>,
): Statement[] => {
  const { date, emailsSent: emails, smsSent: sms } = usage
  return [updateUsage(db, { key, accountId, date, emails, sms, contact, seq })]
}

const updateContact = compile<{ key: number; accountId: string; at: number }>(
  sql`UPDATE ${devices} SET last_contact = ${sql.placeholder('at')}
    WHERE ${devices.key} = ${sql.placeholder('key')}
      AND ${devices.accountId} = ${sql.placeholder('accountId')}
      AND ifnull(${devices.lastContact}, 0) < ${sql.placeholder('at')}`,
)

export const writeContact = (
  db: Database,
  accountId: string,
  { key, at }: PostedAs<'contact'>,
): Statement[] => [updateContact(db, { key, accountId, at })]

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
