import {
  type Alert,
  CHANNELS,
  type Channel,
  type Delivery,
  isUrgent,
  messageId,
  type Recipient,
} from '../domain/alert.ts'
import type { DeviceRecord } from '../domain/device.ts'
import { hasEnded } from '../domain/license.ts'
import {
  type AlertDetails,
  composeEmail,
  composeSms,
  type MessageText,
} from '../notify/messageText.ts'
import { type LimitedDevice, limitResetAt, takeQuota } from './dailyLimit.ts'
import type { Decision } from './decision.ts'
import { findDevice } from './devices.ts'
import { queueMessages } from './messageQueue.ts'
import type { NewMessage } from './outbox.ts'
import { postUsage } from './usage.ts'

/* Raising an alert: one decision on which of its messages may still go out today. */

export interface AlertToRaise {
  alert: Alert
  /** Ordered: where the limit allows only some messages, the first recipients get them. */
  recipients: Recipient[]
  /** The service's public origin, for links in the text. */
  origin: string
}

export type RaiseOutcome =
  | { ok: true; repeated: false; deliveries: Delivery[] }
  /** The same request raised this alert before; the cell has it. */
  | { ok: true; repeated: true }
  | { ok: false; refusal: 'account-not-found' | 'device-not-found' | 'device-expired' }

const COMPOSE = { Email: composeEmail, SMS: composeSms } as const

/** Composes the text for each time zone once, however many recipients share it. */
const textByTimeZone = (
  channel: Channel,
  details: AlertDetails,
): ((timeZone: string) => MessageText) => {
  const composed = new Map<string, MessageText>()
  return (timeZone) => {
    const text = composed.get(timeZone) ?? COMPOSE[channel](details, timeZone)
    composed.set(timeZone, text)
    return text
  }
}

/** Composes a message for every recipient; those beyond the daily limit are suppressed. */
const composeMessages = (
  tx: Decision,
  device: LimitedDevice,
  recipients: Recipient[],
  details: AlertDetails,
): NewMessage[] => {
  const resetAt = limitResetAt(tx.account)
  const messages: NewMessage[] = []
  for (const channel of CHANNELS) {
    const wanted = recipients.filter((recipient) => recipient.channel === channel)
    const granted = takeQuota(tx, device, channel, wanted.length)
    const textFor = textByTimeZone(channel, details)
    wanted.forEach(({ to, timeZone }, index) => {
      const id = messageId(details.alert.id, messages.length)
      const state =
        index < granted
          ? ({ status: 'queued', reason: null, resetAt: null } as const)
          : ({ status: 'suppressed', reason: 'daily-limit-reached', resetAt } as const)
      messages.push({ id, channel, to, ...textFor(timeZone), ...state })
    })
  }
  return messages
}

const emitRaised = (tx: Decision, deviceId: string, alert: Alert): void => {
  const { id, name, text, dateTime, latitude, longitude } = alert
  tx.emit('alert.raised', deviceId, {
    alertId: id,
    alertName: name,
    text,
    dateTime: new Date(dateTime).toISOString(),
    latitude,
    longitude,
  })
}

const emitSuppressed = (
  tx: Decision,
  deviceId: string,
  alert: Alert,
  messages: NewMessage[],
): void => {
  const suppressed = messages.filter(({ status }) => status === 'suppressed')
  const resetAt = new Date(limitResetAt(tx.account)).toISOString()
  for (const channel of CHANNELS) {
    const count = suppressed.filter((message) => message.channel === channel).length
    if (count === 0) continue
    const reason = 'daily-limit-reached'
    const data = { alertId: alert.id, channel, messages: count, reason, resetAt }
    tx.emit('message.suppressed', deviceId, data)
  }
}

export const raiseAlert = (
  tx: Decision,
  deviceId: string,
  { alert, recipients, origin }: AlertToRaise,
): RaiseOutcome => {
  const { sql, account, now } = tx
  const row = findDevice(sql, deviceId)
  if (!row) return { ok: false, refusal: 'device-not-found' }
  if (sql.exec('SELECT 1 FROM raised WHERE id = ?', alert.id).toArray().length > 0)
    return { ok: true, repeated: true }
  const { key } = row
  if (hasEnded(row.ends, account.day)) {
    tx.post({ kind: 'contact', key, at: now })
    return { ok: false, refusal: 'device-expired' }
  }
  const { name, identifier, limits } = JSON.parse(row.record) as DeviceRecord
  const details = { alert, deviceName: name, identifier, origin }
  const messages = composeMessages(tx, { id: deviceId, key, limits }, recipients, details)
  sql.exec('INSERT INTO raised (id) VALUES (?)', alert.id)
  tx.post({ kind: 'alert', key, alert, messages: messages.length })
  queueMessages(tx, key, messages, isUrgent(alert.name))
  postUsage(tx, key, now)
  emitRaised(tx, deviceId, alert)
  emitSuppressed(tx, deviceId, alert, messages)
  return {
    ok: true,
    repeated: false,
    deliveries: messages.map(({ subject, text, ...delivery }) => delivery),
  }
}
