import { sql } from 'drizzle-orm'
import { keptSince } from '../../domain/account/account.ts'
import {
  type Channel,
  MAX_RECIPIENTS,
  type Position,
  type Recipient,
} from '../../domain/message/alert.ts'
import { chosenRecipients } from '../../domain/message/channels/channels.ts'
import { parseEmergencySettings } from '../../domain/message/emergency.ts'
import type { StoredLocation } from '../../domain/track/location.ts'
import type { Database } from '../open.ts'
import { select } from '../query.ts'
import { devices } from '../schema.ts'
import { compile, type Placeholders, runBatch } from '../statement.ts'
import { parseLocation, selectLastLocation } from './locations.ts'
import {
  selectAdministrators,
  selectRecipients,
  selectSettings,
  toAdministrators,
} from './recipients.ts'
import { type DeviceRef, isVisible } from './visibility.ts'

export interface AlertContext {
  /** Whether the caller can see the device. Only the ledger knows whether it exists. */
  isVisible: boolean
  lastKnown: Position | null
  recipients: Recipient[]
  /** How many users are left out because an alert has at most `MAX_RECIPIENTS`. */
  recipientsOmitted: number
  /** Names of alerts that are emergencies. */
  emergencyAlerts: string[]
  /** Whom the account's notices about an emergency of this device go to. */
  administrators: Recipient[]
  /** What the account stores. */
  storedBytes: number
  /** Alerts before this time would not be stored. */
  keptSince: number
}

const selectDevice = compile((p: Placeholders<DeviceRef>) =>
  select(
    {
      isVisible: isVisible(devices.key, p.groupId).mapWith(Boolean),
      lastLocation: selectLastLocation(devices.key),
    },
    sql`FROM ${devices} WHERE ${devices.id} = ${p.deviceId}
      AND ${devices.accountId} = ${p.accountId}`,
  ),
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

/** Leaves out the same users each time: the last ones by id, and administrators after all others. */
const limitRecipients = <User extends { id: string }>(
  chosen: User[],
  administratorIds: ReadonlySet<string>,
): User[] => {
  let left = MAX_RECIPIENTS - chosen.filter(({ id }) => administratorIds.has(id)).length
  return chosen.filter(({ id }) => administratorIds.has(id) || left-- > 0).slice(0, MAX_RECIPIENTS)
}

/** What the ledger does not know when an alert is raised: its recipients and the last location. */
export const readAlertContext = async (
  db: Database,
  { deviceId, accountId, groupId }: DeviceRef,
  { channels, now }: { channels: readonly Channel[]; now: number },
): Promise<AlertContext> => {
  const { found, active, administrators, settings } = await runBatch(db, {
    found: selectDevice(db, { deviceId, accountId, groupId }),
    active: selectRecipients(db, { accountId, deviceId, now }),
    administrators: selectAdministrators(db, { accountId, deviceId, now }),
    settings: selectSettings(db, { accountId }),
  })
  const [device] = found.results
  const lastLocation = parseLocation(device?.lastLocation ?? null)
  const chosen = active.results.filter((user) => chosenRecipients([user], channels).length > 0)
  const notified = limitRecipients(chosen, new Set(administrators.results.map(({ id }) => id)))
  const [account] = settings.results
  const { emergencyAlerts } = parseEmergencySettings(account?.emergency ?? null)
  return {
    isVisible: device?.isVisible ?? groupId === null,
    lastKnown: lastLocation && toPosition(lastLocation),
    recipients: chosenRecipients(notified, channels),
    recipientsOmitted: chosen.length - notified.length,
    emergencyAlerts,
    administrators: toAdministrators(administrators.results),
    storedBytes: account?.storedBytes ?? 0,
    keptSince: account ? keptSince(now, account.retentionDays) : 0,
  }
}
