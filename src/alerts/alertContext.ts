import { sql } from 'drizzle-orm'
import { parseLocation, selectLastLocation } from '../db/locations.ts'
import type { Database } from '../db/open.ts'
import { recipientsBy, selectRecipients } from '../db/recipients.ts'
import { devices } from '../db/schema.ts'
import { compile, placeholders, runBatch } from '../db/statement.ts'
import { type DeviceRef, isVisible } from '../db/visibility.ts'
import type { Channel, Recipient } from '../domain/alert.ts'

export interface AlertContext {
  /** Whether the caller can see the device. Only the ledger knows whether it exists. */
  isVisible: boolean
  place: { latitude: number; longitude: number } | null
  recipients: Recipient[]
}

const p = placeholders('deviceId', 'accountId', 'groupId')

const selectDevice = compile<DeviceRef, { visible: number; last_location: string | null }>(
  sql`SELECT ${isVisible(devices.key, p.groupId)} AS visible,
      ${selectLastLocation(devices.key)} AS last_location
    FROM ${devices} WHERE ${devices.id} = ${p.deviceId} AND ${devices.accountId} = ${p.accountId}`,
)

/** What the ledger does not know when an alert is raised: its recipients and the last location. */
export const readAlertContext = async (
  db: Database,
  { deviceId, accountId, groupId }: DeviceRef,
  { channels, now }: { channels: Channel[]; now: number },
): Promise<AlertContext> => {
  const [{ results: found }, { results: users }] = await runBatch(db, [
    selectDevice(db, { deviceId, accountId, groupId }),
    selectRecipients(db, { accountId, deviceId, now }),
  ])
  const [device] = found
  return {
    isVisible: device ? device.visible === 1 : groupId === null,
    place: parseLocation(device?.last_location ?? null),
    recipients: channels.flatMap((channel) => recipientsBy(users, channel)),
  }
}
