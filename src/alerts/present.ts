import { type Alert, CHANNELS, type Delivery, SOS } from '../domain/alert.ts'
import { iso, isoOrNull } from '../domain/iso.ts'

/** An alert as its cell has it. */
export interface StoredAlert extends Alert {
  deviceId: string
  acknowledgedAt: number | null
  acknowledgedBy: string | null
  deliveries: Delivery[]
}

const goesOut = ({ status }: Delivery): boolean => status !== 'suppressed'

export const presentDelivery = ({ id, channel, to, status, reason, resetAt }: Delivery) => ({
  id,
  channel,
  to,
  status,
  reason,
  resetAt: isoOrNull(resetAt),
})

export const presentAlert = (alert: StoredAlert) => {
  const {
    id,
    deviceId,
    dateTime,
    latitude,
    longitude,
    text,
    name,
    acknowledgedAt,
    acknowledgedBy,
    deliveries,
  } = alert
  return {
    id,
    deviceId,
    dateTime: iso(dateTime),
    latitude,
    longitude,
    text,
    alerts: [name],
    notifications: CHANNELS.filter((channel) =>
      deliveries.some((delivery) => delivery.channel === channel && goesOut(delivery)),
    ),
    acknowledged: acknowledgedAt !== null,
    acknowledgedAt: isoOrNull(acknowledgedAt),
    acknowledgedBy,
    deliveries: deliveries.map(presentDelivery),
  }
}

/** Only an acknowledgement edits an alert. */
export const versionOf = ({ acknowledgedAt }: StoredAlert): number =>
  acknowledgedAt === null ? 1 : 2

/** An SOS that reaches nobody must say so to whoever raised it. */
export const warningFor = ({ name, deliveries }: StoredAlert): { warning?: string } => {
  if (name !== SOS || deliveries.some(goesOut)) return {}
  const why =
    deliveries.length > 0
      ? 'the daily limits of the device are reached'
      : 'no user of the account is to be told of it by these channels'
  return { warning: `No message goes out for this SOS: ${why}. Tell someone by other means.` }
}
