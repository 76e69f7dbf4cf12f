import { updateRows } from '../../db/objectTable.ts'
import { effectiveBudgets, MAX_STORAGE_SHARE } from '../../domain/account/budget.ts'
import { hasEnded } from '../../domain/account/license.ts'
import {
  type Alert,
  CHANNELS,
  type MessageSummary,
  messageId,
  type Position,
  positionOf,
  type Recipient,
} from '../../domain/message/alert.ts'
import {
  EXPIRED_DEVICE_PAUSE_MS,
  LATE_AFTER_MS,
  type Undelivered,
} from '../../domain/message/emergency.ts'
import { iso, isoOrNull } from '../../domain/time/iso.ts'
import type { Decision } from '../decision.ts'
import { limitResetAt, takeQuota } from '../devices/dailyLimit.ts'
import { findDevice } from '../devices/devices.ts'
import { postUsage } from '../devices/usage.ts'
import { composeMessages, selectStored } from '../messages/compose.ts'
import { queueMessages } from '../messages/messageQueue.ts'
import type { NewMessage } from '../outbox/outbox.ts'
import { type DeviceRow, devices } from '../tables.ts'
import { beginDrill, type DrillRefusal } from './drills.ts'
import { findToJoin, joinEmergency, openEmergency } from './emergencies.ts'
import { reportUndelivered, textByTimeZone } from './emergencyMessages.ts'
import { notifyMissing } from './joinedMessages.ts'
import { findRaised, findUndelivered, reasonUnsent, rememberRaised } from './raised.ts'

/* Raising an alert: one decision on which of its messages may still go out today. */

export interface AlertToRaise {
  /** The id makes a repeat harmless: an alert that was raised before is not raised again. */
  alert: Pick<Alert, 'id' | 'name' | 'text' | 'dateTime' | 'ruleId' | 'zoneId'>
  /** The raiser may say so and did; names of `account.emergencyAlerts` are emergencies anyway. */
  emergency?: boolean
  /** Whether it is stored only, because it is old: nobody is sent a message. */
  isQuiet?: boolean
  /** The tracker has cancelled it already: nobody is sent a message, and none joins it. */
  isCancelled?: boolean
  /**
   * A report carried it. Its id, which derives from the report, is kept for as long as alerts are,
   * and the report itself has moved the device's contact.
   */
  isReported?: boolean
  /** Whether it is a drill: an emergency by itself, and no sign of the device. */
  isDrill?: boolean
  /** The alert's own position. */
  reported: Position | null
  /** The user, key or source that raises it; null for a rule. */
  by?: string | null
  /** The device's last location, for an alert without a position. */
  lastKnown: Position | null
  /** Ordered: where the limit allows only some messages, the first recipients get them. */
  recipients: Recipient[]
  /** Whom the account's notices go to, beside the emergency contacts. */
  administrators: Recipient[]
  /** What the account stores. */
  storedBytes?: number
  /** The service's public origin, for links in the text. */
  origin: string
}

export type RaiseOutcome =
  | {
      ok: true
      repeated: false
      joined: false
      alert: Alert
      deliveries: MessageSummary[]
      /** For an emergency that reaches nobody. */
      undelivered: Undelivered | null
    }
  /** Raised before, or joined to an open emergency. The cell has the alert with this id. */
  | {
      ok: true
      repeated: boolean
      joined: boolean
      alert: { id: string }
      deliveries: null
      undelivered: Undelivered | null
    }
  | { ok: false; refusal: 'account-not-found' | 'device-not-found' | 'device-expired' }
  | DrillRefusal

const emitRaised = (tx: Decision, deviceId: string, alert: Alert): void => {
  const { id, name, text, dateTime, latitude, longitude, positionTime } = alert
  const { positionSource, emergency, late } = alert
  tx.emit('alert.raised', deviceId, {
    alertId: id,
    alertName: name,
    text,
    dateTime: iso(dateTime),
    latitude,
    longitude,
    positionTime: isoOrNull(positionTime),
    positionSource,
    emergency,
    late,
    ...(alert.ruleId && { ruleId: alert.ruleId, zoneId: alert.zoneId ?? null }),
  })
}

const emitSuppressed = (
  tx: Decision,
  deviceId: string,
  alert: Alert,
  messages: NewMessage[],
): void => {
  const suppressed = messages.filter(({ status }) => status === 'suppressed')
  const resetAt = iso(limitResetAt(tx.account))
  for (const channel of CHANNELS) {
    const ofChannel = suppressed.filter((message) => message.channel === channel)
    const [first] = ofChannel
    if (!first) continue
    const { reason } = first
    const data = { alertId: alert.id, channel, messages: ofChannel.length, reason, resetAt }
    tx.emit('message.suppressed', deviceId, data)
  }
}

/** An expired device's emergency is kept and the account notified, but not over and over. */
const isTooSoon = ({ now }: Decision, { expiredEmergencyAt: last }: DeviceRow): boolean =>
  last !== null && now >= last && now - last < EXPIRED_DEVICE_PAUSE_MS

const isFarOverStorage = ({ account, perLicense }: Decision, storedBytes: number): boolean => {
  const { storageBytes } = effectiveBudgets(account.budgets, perLicense, account.total)
  return storedBytes > storageBytes * MAX_STORAGE_SHARE
}

const storeAlert = (
  tx: Decision,
  device: DeviceRow,
  alert: Alert,
  given: AlertToRaise,
): RaiseOutcome => {
  const { sql, account, now } = tx
  const { id: deviceId, key } = device
  const isExpired = hasEnded(device.ends, account.day)
  const { name: deviceName, identifier } = device.record
  const { reported, lastKnown, recipients, administrators, origin } = given
  const { speed, course, accuracy } = reported ?? lastKnown ?? {}
  const motion = { speed, course, accuracy }
  const details = { alert, motion, deviceName, identifier, origin }
  const messages = composeMessages(tx, isExpired || given.isCancelled ? [] : recipients, {
    kind: 'alert',
    isDrill: given.isDrill === true,
    idOf: (index) => messageId(alert.id, index),
    textOf: textByTimeZone({ ...details, purpose: { kind: 'alert' } }),
    emergencyOf: alert.emergency ? key : null,
    takeQuota: (channel, wanted, allowed) =>
      takeQuota(tx, device, { channel, wanted, allowed, isEmergency: alert.emergency }),
  })
  tx.post({ kind: 'alert', key, alert, messages: messages.length, at: now })
  const omitsSuppressed = isFarOverStorage(tx, given.storedBytes ?? 0)
  queueMessages(tx, key, selectStored(messages, omitsSuppressed), alert.emergency)
  if (!given.isDrill) postUsage(tx, key, given.isReported ? undefined : now)
  emitRaised(tx, deviceId, alert)
  emitSuppressed(tx, deviceId, alert, messages)
  const isOpen = alert.emergency && !given.isCancelled
  const unsent = isExpired ? 'device-expired' : reasonUnsent(messages)
  const reason = isOpen ? unsent : null
  const remembered = alert.emergency || given.isReported === true
  rememberRaised(tx, alert.id, { remembered, undelivered: reason })
  if (isExpired) updateRows(sql, devices, { expiredEmergencyAt: now }, { key })
  if (isOpen) {
    const emergency = openEmergency(tx, {
      deviceKey: key,
      details: {
        ...details,
        deviceId,
        administrators,
        isOfExpiredDevice: isExpired,
        omitsSuppressed,
      },
      messages: messages.length,
      isOnItsWay: reason === null,
    })
    if (reason) reportUndelivered(tx, emergency, { reason })
  }
  const undelivered = findUndelivered(sql, alert.id)
  const deliveries = messages.map(({ subject, text, timeZone, contact, ...shown }) => ({
    ...shown,
    name: contact ?? null,
    changedAt: now,
  }))
  return { ok: true, repeated: false, joined: false, alert, deliveries, undelivered }
}

export const raiseAlert = (tx: Decision, deviceId: string, given: AlertToRaise): RaiseOutcome => {
  const { sql, account, now } = tx
  const device = findDevice(sql, deviceId)
  if (!device) return { ok: false, refusal: 'device-not-found' }
  const raised = findRaised(sql, given.alert.id)
  if (raised) {
    const alert = { id: raised.joined ?? given.alert.id }
    const undelivered = findUndelivered(sql, alert.id)
    const joined = raised.joined !== null
    return { ok: true, repeated: true, joined, alert, deliveries: null, undelivered }
  }
  const { reported, lastKnown } = given
  const { id, name, text, dateTime, ruleId, zoneId } = given.alert
  const isNamed = account.emergencyAlerts.includes(name)
  const isDrill = given.isDrill === true
  const emergency = isDrill || (!given.isQuiet && (given.emergency === true || isNamed))
  const refusedDrill = isDrill ? beginDrill(tx, device, id) : null
  if (refusedDrill) return refusedDrill
  const isWanted = emergency && !given.isCancelled
  if (hasEnded(device.ends, account.day) && (!isWanted || isTooSoon(tx, device))) {
    if (!given.isReported) tx.post({ kind: 'contact', key: device.key, at: now })
    return { ok: false, refusal: 'device-expired' }
  }
  const open =
    isWanted && !isDrill && !hasEnded(device.ends, account.day)
      ? findToJoin(sql, device.key, { name, dateTime })
      : undefined
  if (open) {
    const { latitude, longitude, place = null } = positionOf(reported, null)
    const update = { dateTime, latitude, longitude, place }
    const joined = joinEmergency(tx, open, update, given.by ?? null)
    notifyMissing(tx, device, joined, given)
    if (!given.isReported) tx.post({ kind: 'contact', key: device.key, at: now })
    rememberRaised(tx, id, { remembered: true, joined: open.id, undelivered: null })
    const alert = { id: open.id }
    const undelivered = findUndelivered(sql, open.id)
    return { ok: true, repeated: false, joined: true, alert, deliveries: null, undelivered }
  }
  const late = now - dateTime > LATE_AFTER_MS
  const position = positionOf(reported, lastKnown)
  const ofRule = ruleId ? { ruleId, zoneId: zoneId ?? null } : {}
  const about = { emergency, late, raisedBy: given.by ?? null, ...(isDrill && { test: true }) }
  const alert = { id, name, text, dateTime, ...position, ...about, ...ofRule }
  return storeAlert(tx, device, alert, given)
}
