import type { AlertItem } from '../../domain/account/source.ts'
import { CHANNELS } from '../../domain/message/alert.ts'
import { LATE_AFTER_MS, parseEmergencySettings } from '../../domain/message/emergency.ts'
import type { PendingRaise } from '../../domain/message/pendingRaise.ts'
import { isClockWrong } from '../../domain/track/credible.ts'
import { derivedAlertId } from '../../ids.ts'
import { LOW_BATTERY } from '../decoding/alarmNames.ts'

const DAY_MS = 86_400_000

export interface RaiseContext {
  origin: string
  now: number
  /** When the report arrived: before `now` for one that waited to be claimed or is replayed. */
  receivedAt: number
  isReplay: boolean
  /** Alerts before this time would not be stored. */
  keptSince: number
}

/** Trackers repeat a low battery with every fix: one alert a day. */
const timeOfId = ({ alertName, dateTime }: AlertItem): number =>
  alertName === LOW_BATTERY ? dateTime - (dateTime % DAY_MS) : dateTime

/** The arrival, where the clock is wrong or the alert would be too old to be stored. */
const timeOf = ({ dateTime }: AlertItem, { receivedAt, keptSince }: RaiseContext): number =>
  isClockWrong(dateTime, receivedAt) || dateTime < keptSince
    ? Math.max(receivedAt, keptSince)
    : dateTime

/** An alert of a provider, as the ledger raises it. */
export const toRaise = async (
  item: AlertItem,
  deviceId: string,
  emergency: string | null,
  context: RaiseContext,
): Promise<PendingRaise> => {
  const { alertName: name, text, latitude, longitude } = item
  const { origin, now, receivedAt, isReplay } = context
  const dateTime = timeOf(item, context)
  // Of a report that waited to be claimed, what is old by now is sent to nobody.
  const isQuiet = !isReplay && receivedAt < now && dateTime < now - LATE_AFTER_MS
  return {
    deviceId,
    alert: { id: await derivedAlertId(deviceId, name, timeOfId(item)), name, text, dateTime },
    emergency: parseEmergencySettings(emergency).emergencyAlerts.includes(name),
    reported:
      latitude === null || longitude === null ? null : { time: dateTime, latitude, longitude },
    notifications: isQuiet ? [] : [...CHANNELS],
    origin,
    ...(isQuiet && { isQuiet }),
  }
}
