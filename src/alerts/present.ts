import { type Alert, CHANNELS, type Delivery, SOS } from '../domain/alert.ts'
import { iso, isoOrNull } from '../domain/iso.ts'

/** An alert as its cell stores it. */
export interface StoredAlert extends Alert {
  deviceId: string
  acknowledgedAt: number | null
  acknowledgedBy: string | null
  deliveries: Delivery[]
}

const isSent = ({ status }: Delivery): boolean => status !== 'suppressed'

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
      deliveries.some((delivery) => delivery.channel === channel && isSent(delivery)),
    ),
    acknowledged: acknowledgedAt !== null,
    acknowledgedAt: isoOrNull(acknowledgedAt),
    acknowledgedBy,
    deliveries: deliveries.map(presentDelivery),
  }
}

/** An alert changes only once: when it is acknowledged. */
export const versionOf = ({ acknowledgedAt }: StoredAlert): number =>
  acknowledgedAt === null ? 1 : 2

/** Tells whoever raised an SOS that nobody receives a message. */
export const warningFor = ({ name, deliveries }: StoredAlert): { warning?: string } => {
  if (name !== SOS || deliveries.some(isSent)) return {}
  const reason =
    deliveries.length > 0
      ? 'the device has reached its daily limits'
      : 'no user of the account receives its alerts by these channels'
  return { warning: `No message is sent for this SOS: ${reason}. Tell someone by other means.` }
}
