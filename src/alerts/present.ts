import {
  type Alert,
  type AlertLogEntry,
  type AlertState,
  type AlertUpdate,
  CHANNELS,
  type MessageSummary,
  nameOfState,
} from '../domain/message/alert.ts'
import type { Undelivered, UndeliveredReason } from '../domain/message/emergency.ts'
import type { NewestPlace } from '../domain/message/newestPlace.ts'
import { countOf } from '../domain/text/countOf.ts'
import { iso, isoOrNull } from '../domain/time/iso.ts'

/** An alert as its cell stores it. */
export interface StoredAlert extends Alert, AlertState {
  deviceId: string
  /** In order of time. */
  updates: AlertUpdate[]
  deliveries: MessageSummary[]
  /** How many it has, those that are not shown too. */
  messages: number
  /** When it arrived; null for alerts of earlier releases. */
  receivedAt: number | null
  /** The number of the last effect that changed it. */
  seq: number
  /** What happened since it was raised. Only a single alert has it. */
  log?: AlertLogEntry[]
  /** Of a single alert. */
  newest?: NewestPlace | null
}

const presentPlace = ({ latitude, longitude, time, source, words = null }: NewestPlace) => ({
  latitude,
  longitude,
  dateTime: iso(time),
  source,
  place: words,
})

const isSent = ({ status }: MessageSummary): boolean => status !== 'suppressed'

export const presentSummary = (message: MessageSummary) => {
  const { id, kind, channel, to, status, reason } = message
  return { id, kind, channel, to, status, reason, resetAt: isoOrNull(message.resetAt) }
}

const presentDelivery = (message: MessageSummary) => ({
  ...presentSummary(message),
  name: message.name ?? null,
  userId: message.userId ?? null,
  changedAt: iso(message.changedAt ?? 0),
})

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
    place: alert.place ?? null,
    text: alert.text,
    alerts: [alert.name],
    emergency: alert.emergency,
    late: alert.late,
    ...(alert.ruleId && { ruleId: alert.ruleId }),
    ...(alert.zoneId && { zoneId: alert.zoneId }),
    notifications: CHANNELS.filter((channel) =>
      deliveries.some((delivery) => delivery.channel === channel && isSent(delivery)),
    ),
    test: alert.test === true,
    state: nameOfState(alert),
    acknowledged: acknowledgedAt !== null,
    acknowledgedAt: isoOrNull(acknowledgedAt),
    acknowledgedBy,
    resolvedAt: isoOrNull(alert.resolvedAt),
    resolvedBy: alert.resolvedBy,
    cancelled: cancelledAt !== null,
    cancelledAt: isoOrNull(cancelledAt),
    cancelledBy,
    updates: alert.updates.map(({ place = null, ...update }) => ({
      ...update,
      dateTime: iso(update.dateTime),
      place,
    })),
    deliveries: deliveries.map(presentDelivery),
    ...(alert.newest !== undefined && {
      newestPosition: alert.newest && presentPlace(alert.newest),
    }),
  }
}

/** A single alert, which has its log; its first line comes from the alert itself. */
export const presentSingle = (alert: StoredAlert) => {
  const { receivedAt, dateTime, raisedBy = null, log = [] } = alert
  const at = receivedAt ?? dateTime
  const raised: AlertLogEntry = { at, action: 'raised', by: raisedBy, text: null }
  return {
    ...presentAlert(alert),
    log: [raised, ...log].map((entry) => ({ ...entry, at: iso(entry.at) })),
  }
}

/** Each effect that changes an alert or adds to its log has a greater number. */
export const versionOf = ({ seq }: StoredAlert): number => 1 + seq

const NOT_SENT: Record<UndeliveredReason, string> = {
  'daily-limit-reached': 'the device has reached its daily limits',
  'message-budget-reached': 'the account has used up its messages of the day',
  'drill-limit-reached': 'the account has used up its messages of drills for the day',
  'nobody-to-tell': 'no user of the account receives its alerts by these channels',
  'not-accepted': 'no provider has accepted its messages',
  'not-delivered': 'none of its messages is known to have arrived',
  'device-expired': 'the device has expired',
}

/** Whether it has reached somebody or still may. */
const isLeft = ({ status }: MessageSummary): boolean =>
  status !== 'suppressed' && status !== 'failed'

/** Warns whoever raised an emergency that none of its messages reaches anybody. */
export const warningFor = (
  { emergency, deliveries }: StoredAlert,
  undelivered: Undelivered | null,
): { warning?: string } => {
  if (!emergency || deliveries.some(isLeft)) return {}
  const hasFailed = deliveries.some(isSent)
  const reason =
    undelivered?.reason ??
    (hasFailed ? 'not-delivered' : deliveries.length > 0 ? 'daily-limit-reached' : 'nobody-to-tell')
  const notices = undelivered?.notices ?? 0
  const notified =
    notices === 0
      ? 'No administrator or emergency contact is notified either. Tell someone by other means.'
      : `The account’s administrators and emergency contacts are sent ${countOf(notices, 'message')}. Tell someone by other means too.`
  const what = hasFailed ? 'No message of this SOS has arrived' : 'No message is sent for this SOS'
  return { warning: `${what}: ${NOT_SENT[reason]}. ${notified}` }
}
