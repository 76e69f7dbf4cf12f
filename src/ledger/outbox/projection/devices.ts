import { sql } from 'drizzle-orm'
import type { Database } from '../../../db/open.ts'
import { insertSelect, updateSet } from '../../../db/query.ts'
import { devices, groupDevices, groups, tombstones, unclaimed } from '../../../db/schema.ts'
import { compile, type Placeholders, type Runnable } from '../../../db/statement.ts'
import {
  type DayUsage,
  DEFAULT_MAX_SPEED,
  type Device,
  NO_RESERVE,
} from '../../../domain/account/device.ts'
import { endsOf } from '../../../domain/account/license.ts'
import { fold } from '../../../domain/text/fold.ts'
import type { Write } from '../outbox.ts'
import { updateMemberships } from './memberships.ts'
import { type Columns, compileUpsert } from './upsert.ts'

/** The columns of a device's row that no edit writes. */
const OTHERS = ['usageDate', 'emailsSent', 'smsSent', 'sourceId', 'lastContact'] as const

type DeviceColumns = Columns<typeof devices, (typeof OTHERS)[number] | 'seq'>

export const toDeviceColumns = (accountId: string, device: Device): DeviceColumns => {
  const { name, identifier, limits } = device
  const { emergencyReserve = NO_RESERVE } = limits
  return {
    ...device,
    ...limits,
    accountId,
    nameKey: fold(name),
    identifierKey: identifier === null ? null : fold(identifier),
    ends: endsOf(limits),
    emailReserve: emergencyReserve.email,
    smsReserve: emergencyReserve.sms,
    maxSpeed: device.maxSpeed ?? DEFAULT_MAX_SPEED,
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
): Runnable[] => [
  insertSelect(
    groupDevices,
    { groupId, deviceKey: key, accountId, nameKey: fold(name), creation },
    sql`FROM ${groups} WHERE ${groups.id} = ${groupId} AND ${groups.accountId} = ${accountId}
        AND NOT EXISTS (SELECT 1 FROM ${devices} WHERE ${devices.key} = ${key})
        AND NOT EXISTS (SELECT 1 FROM ${tombstones}
          WHERE ${tombstones.accountId} = ${accountId} AND ${tombstones.id} = ${id})
      ON CONFLICT DO NOTHING`,
  ),
  db
    .update(groups)
    .set({
      version: sql`${groups.version} + 1`,
      lastModified: sql`max(${groups.lastModified}, ${creation})`,
    })
    .where(sql`${groups.id} = ${groupId} AND changes() = 1`),
]

type Claim = { accountId: string; identifierKey: string; key: number; now: number }

/** Reports that waited for a device with this identifier are to be moved to it. */
const claimReports = compile((p: Placeholders<Claim>) =>
  updateSet(
    unclaimed,
    { importDueAt: p.now },
    sql`${unclaimed.accountId} = ${p.accountId} AND ${unclaimed.identifierKey} = ${p.identifierKey}
      AND ${unclaimed.importDueAt} IS NULL
      AND EXISTS (SELECT 1 FROM ${devices} WHERE ${devices.key} = ${p.key}
        AND ${devices.identifierKey} = ${unclaimed.identifierKey})`,
  ),
)

export const writeDevice: Write<'device'> = (db, accountId, { device, joins, seq }) => {
  const columns = toDeviceColumns(accountId, device)
  const { key, identifierKey, lastModified: now, version } = columns
  return [
    ...(joins === undefined ? [] : joinGroup(db, accountId, device, joins)),
    upsertDevice(db, { ...columns, seq }),
    // Nothing was renamed before the first edit.
    ...(version === 1 ? [] : [updateMemberships(db, { key })]),
    ...(identifierKey === null ? [] : [claimReports(db, { accountId, identifierKey, key, now })]),
  ]
}

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

type OfDevice = { key: number; accountId: string }
const isDevice = ({ key, accountId }: Placeholders<OfDevice>) =>
  sql`${devices.key} = ${key} AND ${devices.accountId} = ${accountId}`

type Usage = OfDevice & OldUsage & { date: string; contact: number; seq: number }

/** Counters change without an edit, so they carry the number of their own effect. */
const updateUsage = compile((p: Placeholders<Usage>) =>
  updateSet(
    devices,
    {
      usageDate: p.date,
      emailsSent: p.emailsSent,
      smsSent: p.smsSent,
      seq: p.seq,
      lastContact: sql`nullif(max(ifnull(${devices.lastContact}, 0), ${p.contact}), 0)`,
    },
    sql`${isDevice(p)} AND ${devices.seq} < ${p.seq}`,
  ),
)

export const writeUsage: Write<'usage'> = (db, accountId, { key, usage, contact = 0, seq }) => [
  updateUsage(db, { key, accountId, date: usage.date, ...toUsageColumns(usage), contact, seq }),
]

const updateContact = compile((p: Placeholders<OfDevice & { at: number }>) =>
  updateSet(
    devices,
    { lastContact: p.at },
    sql`${isDevice(p)} AND ifnull(${devices.lastContact}, 0) < ${p.at}`,
  ),
)

export const writeContact: Write<'contact'> = (db, accountId, { key, at }) => [
  updateContact(db, { key, accountId, at }),
]
