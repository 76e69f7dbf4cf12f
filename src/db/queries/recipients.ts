import { sql } from 'drizzle-orm'
import {
  CHANNELS,
  type Channel,
  onePerAddress,
  type Recipient,
} from '../../domain/message/alert.ts'
import {
  chosenRecipients,
  type RecipientUser,
  recipientsAt,
} from '../../domain/message/channels/channels.ts'
import { contactRecipients, parseEmergencySettings } from '../../domain/message/emergency.ts'
import type { Database } from '../open.ts'
import { accounts, alerts, devices, users } from '../schema.ts'
import { compile, literal, placeholders, runBatch } from '../statement.ts'
import { isInGroup } from './visibility.ts'

/* Who receives a device's alerts: read when one is raised, and again when a message is resent. */

const p = placeholders('accountId', 'deviceId', 'now', 'alertId')

const DEVICE_KEY = sql`(SELECT ${devices.key} FROM ${devices}
  WHERE ${devices.id} = ${p.deviceId} AND ${devices.accountId} = ${p.accountId})`

/** The query's columns, and users who are active now and can see the device. */
const SELECT_ACTIVE = sql`SELECT ${users.id}, ${users.email}, ${users.phone}, ${users.notifyEmail} AS "notifyEmail",
    ${users.notifySms} AS "notifySms", ${users.timeZone} AS "timeZone"
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

/** Users who are active now and can see the device. */
export const selectRecipients = compile<DeviceNow, RecipientUser>(
  sql`${SELECT_ACTIVE} ORDER BY ${users.id}`,
)

const MAX_ADMINISTRATORS = 100

/** Administrators who are active now and can see the device. */
export const selectAdministrators = compile<DeviceNow, RecipientUser>(
  sql`${SELECT_ACTIVE}
      AND instr(${users.privileges}, '"admin"') > 0
    ORDER BY ${users.id} LIMIT ${literal(MAX_ADMINISTRATORS)}`,
)

/**
 * Administrators get notices about emergencies by every address they have: an emergency that has
 * reached nobody must not fail because of what they chose for ordinary alerts.
 */
export const toAdministrators = (users: RecipientUser[]): Recipient[] =>
  onePerAddress(
    users.flatMap((user) => recipientsAt(user, { timeZone: user.timeZone, userId: user.id })),
  )

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
  const recipients = [...chosenRecipients(users, CHANNELS), ...toAdministrators(administrators)]
  const userIds = new Set(recipients.flatMap(({ userId }) => userId ?? []))
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
    ...chosenRecipients(users, [channel]),
    ...(isOfNotice ? [...toAdministrators(administrators), ...contacts] : []),
  ].some((recipient) => recipient.channel === channel && recipient.to === to)
}
