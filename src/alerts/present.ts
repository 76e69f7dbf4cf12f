import {
  type Alert,
  type AlertState,
  type AlertUpdate,
  CHANNELS,
  type MessageSummary,
} from '../domain/message/alert.ts'
import type { Undelivered, UndeliveredReason } from '../domain/message/emergency.ts'
import { iso, isoOrNull } from '../domain/time/iso.ts'

/** An alert as its cell stores it. */
export interface StoredAlert extends Alert, AlertState {
  deviceId: string
  /** In order of time. */
  updates: AlertUpdate[]
  deliveries: MessageSummary[]
}

const isSent = ({ status }: MessageSummary): boolean => status !== 'suppressed'

export const presentSummary = (message: MessageSummary) => {
  const { id, kind, channel, to, status, reason } = message
  return { id, kind, channel, to, status, reason, resetAt: isoOrNull(message.resetAt) }
}

export const presentAlert = (alert: StoredAlert) => {
  const { acknowledgedAt, acknowledgedBy, cancelledAt, cancelledBy, deliveries } = alert
  return {
    id: alert.id,
    deviceId: alert.deviceId,
    dateTime: iso(alert.dateTime),
    latitude: alert.latitude,
    longitude: alert.longitude,
    positionTime: isoOrNull(alert.positionTime),
    positionSource: alert.positionSource,
    text: alert.text,
    alerts: [alert.name],
    emergency: alert.emergency,
    late: alert.late,
    ...(alert.ruleId && { ruleId: alert.ruleId }),
    ...(alert.zoneId && { zoneId: alert.zoneId }),
    notifications: CHANNELS.filter((channel) =>
      deliveries.some((delivery) => delivery.channel === channel && isSent(delivery)),
    ),
    acknowledged: acknowledgedAt !== null,
    acknowledgedAt: isoOrNull(acknowledgedAt),
    acknowledgedBy,
    cancelled: cancelledAt !== null,
    cancelledAt: isoOrNull(cancelledAt),
    cancelledBy,
    updates: alert.updates.map((update) => ({ ...update, dateTime: iso(update.dateTime) })),
    deliveries: deliveries.map(presentSummary),
  }
}

/** An alert is changed when it is acknowledged and when it is cancelled, once each. */
export const versionOf = ({ acknowledgedAt, cancelledAt }: StoredAlert): number =>
  1 + (acknowledgedAt === null ? 0 : 1) + (cancelledAt === null ? 0 : 1)

const NOT_SENT: Record<UndeliveredReason, string> = {
  'daily-limit-reached': 'the device has reached its daily limits',
  'message-budget-reached': 'the account has used up its messages of the day',
  'nobody-to-tell': 'no user of the account receives its alerts by these channels',
  'not-accepted': 'no provider has accepted its messages',
  'not-delivered': 'none of its messages is known to have arrived',
  'device-expired': 'the device has expired',
}

/** Tells whoever raised an emergency that it sends no message of the device. */
export const warningFor = (
  { emergency, deliveries }: StoredAlert,
  undelivered: Undelivered | null,
): { warning?: string } => {
  if (!emergency || deliveries.some(isSent)) return {}
  const reason =
    undelivered?.reason ?? (deliveries.length > 0 ? 'daily-limit-reached' : 'nobody-to-tell')
  const notices = undelivered?.notices ?? 0
  const notified =
    notices === 0
      ? 'No administrator or emergency contact is notified either. Tell someone by other means.'
      : `The account’s administrators and emergency contacts are sent ${notices} ${notices === 1 ? 'message' : 'messages'}. Tell someone by other means too.`
  return { warning: `No message is sent for this SOS: ${NOT_SENT[reason]}. ${notified}` }
}
