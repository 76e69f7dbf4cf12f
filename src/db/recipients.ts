import type { Channel, Recipient } from '../domain/alert.ts'
import type { Database } from './open.ts'
import { inGroup } from './visibility.ts'

/* Who is to be told of a device's alerts. Asked when one is raised, and again when one of its messages is sent by hand. */

export interface UserRow {
  email: string
  phone: string | null
  notify_email: number
  notify_sms: number
  time_zone: string
}

/** ?1 account, ?2 device, ?3 now: users who may act at this moment, see the device and want to be told by any channel. */
const RECIPIENTS = `SELECT email, phone, notify_email, notify_sms, time_zone FROM users u
  WHERE account_id = ?1 AND disabled = 0 AND ifnull(from_time, ?3) <= ?3 AND (expires IS NULL OR expires > ?3)
    AND (notify_email = 1 OR (notify_sms = 1 AND phone IS NOT NULL))
    AND (group_id IS NULL OR ${inGroup('(SELECT key FROM devices WHERE id = ?2 AND account_id = ?1)', 'u.group_id')})
  ORDER BY id`

export const selectRecipients = (
  db: D1Database,
  accountId: string,
  deviceId: string,
  now: number,
): D1PreparedStatement => db.prepare(RECIPIENTS).bind(accountId, deviceId, now)

/** Nobody is told twice by the same channel, though two users may share a phone. */
export const recipientsBy = (users: UserRow[], channel: Channel): Recipient[] => {
  const told = new Map<string, Recipient>()
  for (const { email, phone, notify_email, notify_sms, time_zone: timeZone } of users) {
    const to = channel === 'Email' ? (notify_email ? email : null) : notify_sms ? phone : null
    if (to !== null && !told.has(to)) told.set(to, { channel, to, timeZone })
  }
  return [...told.values()]
}

/** Whether an alert of the device that is raised now would be told to this address. */
export const wouldBeTold = async (
  { $client: db }: Database,
  {
    accountId,
    deviceId,
    channel,
    to,
  }: { accountId: string; deviceId: string; channel: Channel; to: string },
  now: number,
): Promise<boolean> => {
  const { results } = await selectRecipients(db, accountId, deviceId, now).all<UserRow>()
  return recipientsBy(results, channel).some((recipient) => recipient.to === to)
}
