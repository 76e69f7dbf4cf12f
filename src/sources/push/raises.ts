import type { AlertItem } from '../../domain/account/source.ts'
import { CHANNELS } from '../../domain/message/alert.ts'
import { LATE_AFTER_MS, parseEmergencySettings } from '../../domain/message/emergency.ts'
import type { PendingRaise, Press } from '../../domain/message/pendingRaise.ts'
import { digestOf } from '../../domain/text/sha256.ts'
import { isClockWrong } from '../../domain/track/credible.ts'
import type { Location } from '../../domain/track/location.ts'
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
  sourceId: string
  /** The location that came with the alert. */
  location: Location | null
}

/** Trackers repeat a low battery with every fix: one alert a day. */
const timeOfId = ({ alertName, dateTime }: AlertItem): number =>
  alertName === LOW_BATTERY ? dateTime - (dateTime % DAY_MS) : dateTime

/**
 * What tells a repeat of the push from another press of the button in the same instant: the id that
 * the provider gave the message, else all that was read from it.
 */
const toPress = async (
  item: AlertItem,
  { deviceId, alert }: Pick<PendingRaise, 'deviceId' | 'alert'>,
  context: RaiseContext & { isWrong: boolean },
): Promise<Press> => {
  const { now, keptSince, sourceId, location, isWrong } = context
  const receivedAt = Math.max(context.receivedAt, keptSince)
  const isAlwaysRepeat = item.isMessageId === true
  const digest = await digestOf(isAlwaysRepeat ? item.key : JSON.stringify([item, location]))
  return {
    id: `${alert.id}.${sourceId}.${digest}`,
    sourceId,
    digest,
    receivedAt,
    arrivalId: await derivedAlertId(deviceId, item.alertName, receivedAt),
    isClockWrong: isWrong,
    isAlwaysRepeat,
    isOld: context.receivedAt < now,
  }
}

/** An alert of a provider, as the ledger raises it. */
export const toRaise = async (
  item: AlertItem,
  deviceId: string,
  emergency: string | null,
  context: RaiseContext,
): Promise<PendingRaise> => {
  const { alertName: name, text, latitude, longitude } = item
  const { origin, now, receivedAt, isReplay, keptSince } = context
  const isWrong = isClockWrong(item.dateTime, receivedAt) || item.dateTime < keptSince
  const dateTime = isWrong ? Math.max(receivedAt, keptSince) : item.dateTime
  // Of a report that waited to be claimed, what is old by now is sent to nobody.
  const isQuiet = !isReplay && receivedAt < now && dateTime < now - LATE_AFTER_MS
  const id = await derivedAlertId(deviceId, name, timeOfId(item))
  const raised = { deviceId, alert: { id, name, text, dateTime } }
  return {
    ...raised,
    emergency: parseEmergencySettings(emergency).emergencyAlerts.includes(name),
    reported:
      latitude === null || longitude === null ? null : { time: dateTime, latitude, longitude },
    notifications: isQuiet ? [] : [...CHANNELS],
    origin,
    ...(isQuiet && { isQuiet }),
    // A low battery is repeated with every fix.
    ...(name !== LOW_BATTERY && { press: await toPress(item, raised, { ...context, isWrong }) }),
  }
}
