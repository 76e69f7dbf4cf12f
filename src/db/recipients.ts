import { sql } from 'drizzle-orm'
import type { Channel, Recipient } from '../domain/alert.ts'
import type { Database } from './open.ts'
import { devices, users } from './schema.ts'
import { compile, placeholders, readAll } from './statement.ts'
import { isInGroup } from './visibility.ts'

/* Who receives a device's alerts: read when one is raised, and again when a message is resent. */

export interface RecipientRow {
  email: string
  phone: string | null
  notify_email: number
  notify_sms: number
  time_zone: string
}

const p = placeholders('accountId', 'deviceId', 'now')

const DEVICE_KEY = sql`(SELECT ${devices.key} FROM ${devices}
  WHERE ${devices.id} = ${p.deviceId} AND ${devices.accountId} = ${p.accountId})`

/** Users who are active now, can see the device and want messages by any channel. */
export const selectRecipients = compile<
  { accountId: string; deviceId: string; now: number },
  RecipientRow
>(
  sql`SELECT ${users.email}, ${users.phone}, ${users.notifyEmail}, ${users.notifySms},
      ${users.timeZone}
    FROM ${users}
    WHERE ${users.accountId} = ${p.accountId} AND ${users.disabled} = 0
      AND ifnull(${users.fromTime}, ${p.now}) <= ${p.now}
      AND (${users.expires} IS NULL OR ${users.expires} > ${p.now})
      AND (${users.notifyEmail} = 1 OR (${users.notifySms} = 1 AND ${users.phone} IS NOT NULL))
      AND (${users.groupId} IS NULL OR ${isInGroup(DEVICE_KEY, users.groupId)})
    ORDER BY ${users.id}`,
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
      byAddress.set(to, { channel, to, timeZone: user.time_zone })
  }
  return [...byAddress.values()]
}

interface Address {
  accountId: string
  deviceId: string
  channel: Channel
  to: string
}

/** Whether an alert that the device raises now would be sent to this address. */
export const isRecipient = async (
  db: Database,
  { accountId, deviceId, channel, to }: Address,
  now: number,
): Promise<boolean> => {
  const rows = await readAll(selectRecipients(db, { accountId, deviceId, now }))
  return recipientsBy(rows, channel).some((recipient) => recipient.to === to)
}
