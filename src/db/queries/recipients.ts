import { sql } from 'drizzle-orm'
import { type Channel, onePerAddress, type Recipient } from '../../domain/message/alert.ts'
import { contactRecipients, parseEmergencySettings } from '../../domain/message/emergency.ts'
import type { Database } from '../open.ts'
import { accounts, alerts, devices, users } from '../schema.ts'
import { compile, literal, placeholders, runBatch } from '../statement.ts'
import { isInGroup } from './visibility.ts'

/* Who receives a device's alerts: read when one is raised, and again when a message is resent. */

export interface RecipientRow {
  id: string
  email: string
  phone: string | null
  notify_email: number
  notify_sms: number
  time_zone: string
}

const p = placeholders('accountId', 'deviceId', 'now', 'alertId')

const DEVICE_KEY = sql`(SELECT ${devices.key} FROM ${devices}
  WHERE ${devices.id} = ${p.deviceId} AND ${devices.accountId} = ${p.accountId})`

/** The query's columns, and users who are active now and can see the device. */
const SELECT_ACTIVE = sql`SELECT ${users.id}, ${users.email}, ${users.phone}, ${users.notifyEmail},
    ${users.notifySms}, ${users.timeZone}
  FROM ${users}
  WHERE ${users.accountId} = ${p.accountId} AND ${users.disabled} = 0
    AND ifnull(${users.fromTime}, ${p.now}) <= ${p.now}
    AND (${users.expires} IS NULL OR ${users.expires} > ${p.now})
    AND (${users.groupId} IS NULL OR ${isInGroup(DEVICE_KEY, users.groupId)})`

interface DeviceNow {
  accountId: string
  deviceId: string
  now: number
}

/** Users who are active now, can see the device and want messages by any channel. */
export const selectRecipients = compile<DeviceNow, RecipientRow>(
  sql`${SELECT_ACTIVE}
      AND (${users.notifyEmail} = 1 OR (${users.notifySms} = 1 AND ${users.phone} IS NOT NULL))
    ORDER BY ${users.id}`,
)

const MAX_ADMINISTRATORS = 100

/** Administrators who are active now and can see the device. */
export const selectAdministrators = compile<DeviceNow, RecipientRow>(
  sql`${SELECT_ACTIVE}
      AND instr(${users.privileges}, '"admin"') > 0
    ORDER BY ${users.id} LIMIT ${literal(MAX_ADMINISTRATORS)}`,
)

/**
 * Administrators get notices about emergencies by every address they have: an emergency that has
 * reached nobody must not fail because of what they chose for ordinary alerts.
 */
export const toAdministrators = (rows: RecipientRow[]): Recipient[] =>
  onePerAddress(
    rows.flatMap(({ id: userId, email, phone, time_zone: timeZone }) => [
      { channel: 'Email' as const, to: email, timeZone, userId },
      ...(phone === null ? [] : [{ channel: 'SMS' as const, to: phone, timeZone, userId }]),
    ]),
  )

const addressOf = (user: RecipientRow, channel: Channel): string | null => {
  if (channel === 'Email') return user.notify_email ? user.email : null
  return user.notify_sms ? user.phone : null
}

/** One recipient for each address, though two users may share a phone. */
export const recipientsBy = (users: RecipientRow[], channel: Channel): Recipient[] => {
  const byAddress = new Map<string, Recipient>()
  for (const user of users) {
    const to = addressOf(user, channel)
    if (to !== null && !byAddress.has(to))
      byAddress.set(to, { channel, to, timeZone: user.time_zone, userId: user.id })
  }
  return [...byAddress.values()]
}

const selectAcknowledged = compile<{ accountId: string; alertId: string }, { at: number | null }>(
  sql`SELECT ${alerts.acknowledgedAt} AS at FROM ${alerts}
    WHERE ${alerts.id} = ${p.alertId} AND ${alerts.accountId} = ${p.accountId}`,
)

/** The users who may get messages about the device now, and whether its alert is acknowledged. */
export const readRoundState = async (
  db: Database,
  about: DeviceNow,
  alertId: string,
): Promise<{ userIds: Set<string>; isAcknowledged: boolean }> => {
  const [{ results: users }, { results: administrators }, { results: found }] = await runBatch(db, [
    selectRecipients(db, about),
    selectAdministrators(db, about),
    selectAcknowledged(db, { accountId: about.accountId, alertId }),
  ])
  const userIds = new Set([...users, ...administrators].map(({ id }) => id))
  return { userIds, isAcknowledged: found.some(({ at }) => at !== null) }
}

interface Address {
  accountId: string
  deviceId: string
  channel: Channel
  to: string
  /** Of a notice or an escalation, which also go to administrators and emergency contacts. */
  isOfNotice: boolean
}

const selectSettings = compile<{ accountId: string }, { emergency: string | null; zone: string }>(
  sql`SELECT ${accounts.emergency}, ${accounts.timeZone} AS zone FROM ${accounts}
    WHERE ${accounts.id} = ${p.accountId}`,
)

/** Whether a message about the device that is sent now would go to this address. */
export const isRecipient = async (
  db: Database,
  { accountId, deviceId, channel, to, isOfNotice }: Address,
  now: number,
): Promise<boolean> => {
  const [{ results: users }, { results: administrators }, { results: settings }] = await runBatch(
    db,
    [
      selectRecipients(db, { accountId, deviceId, now }),
      selectAdministrators(db, { accountId, deviceId, now }),
      selectSettings(db, { accountId }),
    ],
  )
  const contacts = settings.flatMap(({ emergency, zone }) =>
    contactRecipients(parseEmergencySettings(emergency), zone),
  )
  return [
    ...recipientsBy(users, channel),
    ...(isOfNotice ? [...toAdministrators(administrators), ...contacts] : []),
  ].some((recipient) => recipient.channel === channel && recipient.to === to)
}
