import { LAST_LOCATION, readLastLocation } from '../db/locations.ts'
import type { Database } from '../db/open.ts'
import { inGroup, type Viewer, visible } from '../db/visible.ts'
import type { Channel, Recipient } from '../domain/alert.ts'

export interface Circumstances {
  /** Whether the caller may see the device; the ledger says whether there is one. */
  seen: boolean
  place: { latitude: number; longitude: number } | null
  recipients: Recipient[]
}

interface UserRow {
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

/** Nobody is told twice by the same channel, though two users may share a phone. */
const byChannel = (users: UserRow[], channel: Channel): Recipient[] => {
  const told = new Map<string, Recipient>()
  for (const { email, phone, notify_email, notify_sms, time_zone: timeZone } of users) {
    const to = channel === 'Email' ? (notify_email ? email : null) : notify_sms ? phone : null
    if (to !== null && !told.has(to)) told.set(to, { channel, to, timeZone })
  }
  return [...told.values()]
}

/** What the ledger cannot know when an alert is raised: who is to be told, and where the device was last. One round trip. */
export const readCircumstances = async (
  database: Database,
  { accountId, groupId }: Viewer,
  deviceId: string,
  channels: Channel[],
  now: number,
): Promise<Circumstances> => {
  const db = database.$client
  const [devices, users] = await db.batch([
    db
      .prepare(`SELECT ${visible('d.key', '?3')} AS seen, ${LAST_LOCATION} FROM devices d WHERE d.id = ?1 AND d.account_id = ?2`)
      .bind(deviceId, accountId, groupId),
    db.prepare(RECIPIENTS).bind(accountId, deviceId, now),
  ])
  const device = devices?.results[0] as { seen: number; last_location: string | null } | undefined
  return {
    seen: device ? device.seen === 1 : groupId === null,
    place: readLastLocation(device?.last_location ?? null),
    recipients: channels.flatMap((channel) => byChannel((users?.results ?? []) as unknown as UserRow[], channel)),
  }
}
