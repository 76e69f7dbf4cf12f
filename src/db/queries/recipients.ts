import { and, eq, type SQL, sql } from 'drizzle-orm'
import {
  CHANNELS,
  type Channel,
  MAX_RECIPIENTS,
  onePerAddress,
  type Position,
  type Recipient,
} from '../../domain/message/alert.ts'
import {
  chosenRecipients,
  type RecipientUser,
  recipientsAt,
} from '../../domain/message/channels/channels.ts'
import { contactRecipients, parseEmergencySettings } from '../../domain/message/emergency.ts'
import type { Database } from '../open.ts'
import { json, nullable, select } from '../query.ts'
import { accounts, accountUsage, alerts, devices, pushSubscriptions, users } from '../schema.ts'
import { compile, literal, type Placeholders, runBatch } from '../statement.ts'
import { parseLocation, selectLastLocation } from './locations.ts'
import { isInGroup } from './visibility.ts'

/* Who receives a device's alerts: read when one is raised, and again when a message is resent. */

interface DeviceNow {
  accountId: string
  deviceId: string
  now: number
}

/** Those of the users who are active now and can see the device. */
const selectActive = (p: Placeholders<DeviceNow>, rest: SQL) => {
  const deviceKey = sql`(SELECT ${devices.key} FROM ${devices}
    WHERE ${devices.id} = ${p.deviceId} AND ${devices.accountId} = ${p.accountId})`
  return select(
    {
      id: users.id,
      email: users.email,
      phone: users.phone,
      notifyEmail: users.notifyEmail,
      notifySms: users.notifySms,
      notifyPush: users.notifyPush,
      notifyVoice: users.notifyVoice,
      push: json<string[]>(sql`(SELECT json_group_array(${pushSubscriptions.id})
        FROM ${pushSubscriptions} WHERE ${pushSubscriptions.accountId} = ${users.accountId}
          AND ${pushSubscriptions.userId} = ${users.id})`),
      timeZone: users.timeZone,
    },
    sql`FROM ${users}
      WHERE ${users.accountId} = ${p.accountId} AND ${users.disabled} = 0
        AND ifnull(${users.fromTime}, ${p.now}) <= ${p.now}
        AND (${users.expires} IS NULL OR ${users.expires} > ${p.now})
        AND (${users.groupId} IS NULL OR ${isInGroup(deviceKey, users.groupId)})
        ${rest}`,
  )
}

export const selectRecipients = compile((p: Placeholders<DeviceNow>) =>
  selectActive(p, sql`ORDER BY ${users.id}`),
)

const MAX_ADMINISTRATORS = 100

export const selectAdministrators = compile((p: Placeholders<DeviceNow>) =>
  selectActive(
    p,
    sql`AND instr(${users.privileges}, '"admin"') > 0
      ORDER BY ${users.id} LIMIT ${literal(MAX_ADMINISTRATORS)}`,
  ),
)

/**
 * Administrators get notices about emergencies by every address they have: an emergency that has
 * reached nobody must not fail because of what they chose for ordinary alerts.
 */
export const toAdministrators = (users: RecipientUser[]): Recipient[] =>
  onePerAddress(
    users.flatMap((user) => recipientsAt(user, { timeZone: user.timeZone, userId: user.id })),
  )

const selectLast = compile((p: Placeholders<DeviceNow>) =>
  select(
    { location: selectLastLocation(devices.key) },
    sql`FROM ${devices} WHERE ${devices.id} = ${p.deviceId} AND ${devices.accountId} = ${p.accountId}`,
  ),
)

/** What the cell knows when an emergency is sent again. */
export interface RoundState {
  /** The users who may get messages about the device now. */
  userIds: Set<string>
  /** Those who get its alerts. */
  recipients: Recipient[]
  administrators: Recipient[]
  /** Which effect acknowledged the alert. */
  acknowledgedSeq: number
  lastLocation: Position | null
}

export const readRoundState = async (
  db: Database,
  about: DeviceNow,
  alertId: string,
): Promise<RoundState> => {
  const { active, administrators, alert, last } = await runBatch(db, {
    last: selectLast(db, about),
    active: selectRecipients(db, about),
    administrators: selectAdministrators(db, about),
    alert: db
      .select({ acknowledgedAt: alerts.acknowledgedAt, seq: alerts.seq })
      .from(alerts)
      .where(and(eq(alerts.id, alertId), eq(alerts.accountId, about.accountId))),
  })
  // Each by itself: of two with one address, both may get messages.
  const chosen = active.results.filter((user) => chosenRecipients([user], CHANNELS).length > 0)
  const userIds = new Set([...chosen, ...administrators.results].map(({ id }) => id))
  const [row] = alert.results
  const location = parseLocation(last.results[0]?.location ?? null)
  return {
    userIds,
    recipients: chosenRecipients(chosen.slice(0, MAX_RECIPIENTS), CHANNELS),
    administrators: toAdministrators(administrators.results),
    acknowledgedSeq: row && row.acknowledgedAt !== null ? row.seq : 0,
    lastLocation: location && { ...location, time: location.dateTime },
  }
}

interface Address {
  accountId: string
  deviceId: string
  channel: Channel
  to: string
  /** Of a notice or an escalation, which also go to administrators and emergency contacts. */
  isOfNotice: boolean
}

export const selectSettings = compile((p: Placeholders<{ accountId: string }>) =>
  select(
    {
      emergency: accounts.emergency,
      timeZone: accounts.timeZone,
      retentionDays: accounts.retentionDays,
      storedBytes: nullable(accountUsage.storageBytes),
    },
    sql`FROM ${accounts} LEFT JOIN ${accountUsage} ON ${accountUsage.accountId} = ${accounts.id}
      WHERE ${accounts.id} = ${p.accountId}`,
  ),
)

/** Whether a message about the device that is sent now would go to this address. */
export const isRecipient = async (
  db: Database,
  { accountId, deviceId, channel, to, isOfNotice }: Address,
  now: number,
): Promise<boolean> => {
  const { active, administrators, settings } = await runBatch(db, {
    active: selectRecipients(db, { accountId, deviceId, now }),
    administrators: selectAdministrators(db, { accountId, deviceId, now }),
    settings: selectSettings(db, { accountId }),
  })
  const contacts = settings.results.flatMap(({ emergency, timeZone }) =>
    contactRecipients(parseEmergencySettings(emergency), timeZone, CHANNELS),
  )
  return [
    ...chosenRecipients(active.results, [channel]),
    ...(isOfNotice ? [...toAdministrators(administrators.results), ...contacts] : []),
  ].some((recipient) => recipient.channel === channel && recipient.to === to)
}
