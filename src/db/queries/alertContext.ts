import { sql } from 'drizzle-orm'
import type { Channel, Position, Recipient } from '../../domain/message/alert.ts'
import { chosenRecipients } from '../../domain/message/channels/channels.ts'
import { parseEmergencySettings } from '../../domain/message/emergency.ts'
import type { StoredLocation } from '../../domain/track/location.ts'
import type { Database } from '../open.ts'
import { accounts, devices } from '../schema.ts'
import { compile, placeholders, runBatch } from '../statement.ts'
import { parseLocation, selectLastLocation } from './locations.ts'
import { selectAdministrators, selectRecipients, toAdministrators } from './recipients.ts'
import { type DeviceRef, isVisible } from './visibility.ts'

export interface AlertContext {
  /** Whether the caller can see the device. Only the ledger knows whether it exists. */
  isVisible: boolean
  lastKnown: Position | null
  recipients: Recipient[]
  /** Names of alerts that are emergencies. */
  emergencyAlerts: string[]
  /** Whom the account's notices about an emergency of this device go to. */
  administrators: Recipient[]
}

const p = placeholders('deviceId', 'accountId', 'groupId')

const selectSettings = compile<DeviceRef, { emergency: string | null }>(
  sql`SELECT ${accounts.emergency} FROM ${accounts} WHERE ${accounts.id} = ${p.accountId}`,
)

const selectDevice = compile<DeviceRef, { visible: number; last_location: string | null }>(
  sql`SELECT ${isVisible(devices.key, p.groupId)} AS visible,
      ${selectLastLocation(devices.key)} AS last_location
    FROM ${devices} WHERE ${devices.id} = ${p.deviceId} AND ${devices.accountId} = ${p.accountId}`,
)

export const toPosition = (
  location: Pick<
    StoredLocation,
    'dateTime' | 'latitude' | 'longitude' | 'speed' | 'course' | 'accuracy'
  >,
): Position => {
  const { dateTime: time, latitude, longitude, speed, course, accuracy } = location
  return { time, latitude, longitude, speed, course, accuracy }
}

/** What the ledger does not know when an alert is raised: its recipients and the last location. */
export const readAlertContext = async (
  db: Database,
  { deviceId, accountId, groupId }: DeviceRef,
  { channels, now }: { channels: readonly Channel[]; now: number },
): Promise<AlertContext> => {
  const device = { deviceId, accountId, groupId }
  const [
    { results: found },
    { results: users },
    { results: administrators },
    { results: settings },
  ] = await runBatch(db, [
    selectDevice(db, device),
    selectRecipients(db, { accountId, deviceId, now }),
    selectAdministrators(db, { accountId, deviceId, now }),
    selectSettings(db, device),
  ])
  const [row] = found
  const lastLocation = parseLocation(row?.last_location ?? null)
  return {
    isVisible: row ? row.visible === 1 : groupId === null,
    lastKnown: lastLocation && toPosition(lastLocation),
    recipients: chosenRecipients(users, channels),
    emergencyAlerts: parseEmergencySettings(settings[0]?.emergency ?? null).emergencyAlerts,
    administrators: toAdministrators(administrators),
  }
}
