import { LAST_LOCATION, readLastLocation } from '../db/locations.ts'
import type { Database } from '../db/open.ts'
import { recipientsBy, selectRecipients, type UserRow } from '../db/recipients.ts'
import { type Viewer, visible } from '../db/visibility.ts'
import type { Channel, Recipient } from '../domain/alert.ts'

export interface AlertContext {
  /** Whether the caller may see the device; the ledger says whether there is one. */
  isVisible: boolean
  place: { latitude: number; longitude: number } | null
  recipients: Recipient[]
}

/** What the ledger cannot know when an alert is raised: who is to be told, and where the device was last. One round trip. */
export const readAlertContext = async (
  database: Database,
  { accountId, groupId }: Viewer,
  deviceId: string,
  channels: Channel[],
  now: number,
): Promise<AlertContext> => {
  const db = database.$client
  const [devices, users] = await db.batch([
    db
      .prepare(
        `SELECT ${visible('d.key', '?3')} AS seen, ${LAST_LOCATION} FROM devices d WHERE d.id = ?1 AND d.account_id = ?2`,
      )
      .bind(deviceId, accountId, groupId),
    selectRecipients(db, accountId, deviceId, now),
  ])
  const device = devices?.results[0] as { seen: number; last_location: string | null } | undefined
  return {
    isVisible: device ? device.seen === 1 : groupId === null,
    place: readLastLocation(device?.last_location ?? null),
    recipients: channels.flatMap((channel) =>
      recipientsBy((users?.results ?? []) as unknown as UserRow[], channel),
    ),
  }
}
