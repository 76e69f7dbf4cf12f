import { sql } from 'drizzle-orm'
import type { Database } from '../../../db/open.ts'
import { devices, groupDevices, groups, tombstones, unclaimed } from '../../../db/schema.ts'
import { compile, names, placeholders, type Statement, statement } from '../../../db/statement.ts'
import {
  type DayUsage,
  DEFAULT_MAX_SPEED,
  type Device,
  NO_RESERVE,
} from '../../../domain/account/device.ts'
import { endsOf } from '../../../domain/account/license.ts'
import { fold } from '../../../domain/text/fold.ts'
import type { PostedAs } from '../outbox.ts'
import { updateMemberships } from './memberships.ts'
import { type Columns, compileUpsert } from './upsert.ts'

/** The columns of a device's row that no edit writes. */
const OTHERS = ['usageDate', 'emailsSent', 'smsSent', 'sourceId', 'lastContact'] as const

type DeviceColumns = Columns<typeof devices, (typeof OTHERS)[number] | 'seq'>

export const toDeviceColumns = (accountId: string, device: Device): DeviceColumns => {
  const { key, id, name, description, min, identifier, model, tags, limits } = device
  const { expires, expirationDate, dailyEmailLimit, dailySmsLimit } = limits
  const { emergencyReserve = NO_RESERVE } = limits
  return {
    key,
    id,
    accountId,
    name,
    nameKey: fold(name),
    description,
    min,
    identifier,
    identifierKey: identifier === null ? null : fold(identifier),
    model,
    tags,
    expires,
    expirationDate,
    ends: endsOf(limits),
    dailyEmailLimit,
    dailySmsLimit,
    emailReserve: emergencyReserve.email,
    smsReserve: emergencyReserve.sms,
    maxSpeed: device.maxSpeed ?? DEFAULT_MAX_SPEED,
    creation: device.creation,
    lastModified: device.lastModified,
    version: device.version,
  }
}

/** A deleted device's tombstone keeps a late repeat from bringing the row back. */
const upsertDevice = compileUpsert({
  table: devices,
  others: OTHERS,
  key: devices.key,
  owner: devices.accountId,
  seq: devices.seq,
  unless: sql`EXISTS (SELECT 1 FROM ${tombstones}
    WHERE ${tombstones.accountId} = ${sql.placeholder('accountId')}
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

/** An effect that was posted before counters were kept by channel. */
interface OldUsage {
  emailsSent: number
  smsSent: number
}

/** The counters of a day. Channels without a limit of the device have none in the cell. */
export const toUsageColumns = (usage: DayUsage | (Omit<DayUsage, 'sent'> & OldUsage)) =>
  'sent' in usage
    ? { emailsSent: usage.sent.Email ?? 0, smsSent: usage.sent.SMS ?? 0 }
    : { emailsSent: usage.emailsSent, smsSent: usage.smsSent }

const u = placeholders('key', 'accountId', 'date', 'emailsSent', 'smsSent', 'contact', 'seq')

/** Counters change without an edit, so they carry the number of their own effect. */
const updateUsage = compile<Record<keyof typeof u, string | number>>(
  sql`UPDATE ${devices} SET ${names(devices.usageDate)} = ${u.date},
      ${names(devices.emailsSent)} = ${u.emailsSent}, ${names(devices.smsSent)} = ${u.smsSent},
      ${names(devices.seq)} = ${u.seq}, ${names(devices.lastContact)} =
        nullif(max(ifnull(${devices.lastContact}, 0), ${u.contact}), 0)
    WHERE ${devices.key} = ${u.key} AND ${devices.accountId} = ${u.accountId}
      AND ${devices.seq} < ${u.seq}`,
)

export const writeUsage = (
  db: Database,
  accountId: string,
  { key, usage, contact = 0, seq }: PostedAs<'usage'>,
): Statement =>
  updateUsage(db, { key, accountId, date: usage.date, ...toUsageColumns(usage), contact, seq })

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
): Statement => updateContact(db, { key, accountId, at })
