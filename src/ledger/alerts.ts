import type { Account } from '../domain/account.ts'
import {
  type Alert,
  CHANNELS,
  type Channel,
  type Delivery,
  isUrgent,
  messageId,
  type Recipient,
} from '../domain/alert.ts'
import { addDays, dayStart } from '../domain/day.ts'
import type { DeviceLimits, DeviceRecord } from '../domain/device.ts'
import { hasEnded } from '../domain/license.ts'
import {
  type AlertDetails,
  composeEmail,
  composeSms,
  type MessageText,
} from '../notify/messageText.ts'
import { emit } from './books.ts'
import { findDevice } from './devices.ts'
import { enqueue } from './messages.ts'
import { type NewDelivery, post } from './outbox.ts'
import { reserveOn, usageOn } from './usage.ts'

/* Raising an alert: one decision on what may still go out today, with everything that follows from it. */

export interface AlertToRaise {
  alert: Alert
  /** Whom to tell, in the order in which a nearly used allowance is shared out. */
  recipients: Recipient[]
  /** Where the service is reached, for the words. */
  origin: string
}

export type RaiseOutcome =
  | { ok: true; repeated: false; deliveries: Delivery[] }
  /** The same alert was raised before, by the same request: the cell has it. */
  | { ok: true; repeated: true }
  | { ok: false; refusal: 'not-found' | 'device-expired' }

const LIMIT = { Email: 'dailyEmailLimit', SMS: 'dailySmsLimit' } as const satisfies Record<
  Channel,
  keyof DeviceLimits
>
const COMPOSE = { Email: composeEmail, SMS: composeSms } as const

/** Messages of one alert that enter the cell together. */
const CHUNK = 50

/** When the account's day ends, and with it what holds messages back. */
export const limitResetAt = (account: Account): number =>
  dayStart(addDays(account.day, 1), account.timeZone)

export const emitLimitReached = (
  sql: SqlStorage,
  account: Account,
  deviceId: string,
  channel: Channel,
  limits: DeviceLimits,
  now: number,
): void => {
  const data = {
    channel,
    limit: limits[LIMIT[channel]],
    date: account.day,
    resetAt: new Date(limitResetAt(account)).toISOString(),
  }
  emit(sql, account.id, 'limit.reached', now, deviceId, data)
}

/** Takes what the day's limit still allows of `wanted`, and says so once when it is reached. */
export const takeQuota = (
  sql: SqlStorage,
  account: Account,
  device: { id: string; key: number; limits: DeviceLimits },
  channel: Channel,
  wanted: number,
  now: number,
): number => {
  const limit = device.limits[LIMIT[channel]]
  const { granted, tells } = reserveOn(sql, device.key, account.day, channel, limit, wanted)
  if (tells) emitLimitReached(sql, account, device.id, channel, device.limits, now)
  return granted
}

/** The words for each time zone are made once, however many read them. */
const textByTimeZone = (
  channel: Channel,
  occasion: AlertDetails,
): ((timeZone: string) => MessageText) => {
  const made = new Map<string, MessageText>()
  return (timeZone) => {
    const words = made.get(timeZone) ?? COMPOSE[channel](occasion, timeZone)
    made.set(timeZone, words)
    return words
  }
}

export const raiseAlert = (
  sql: SqlStorage,
  account: Account,
  deviceId: string,
  raising: AlertToRaise,
  now: number,
): RaiseOutcome => {
  const { alert, recipients, origin } = raising
  const row = findDevice(sql, deviceId)
  if (!row) return { ok: false, refusal: 'not-found' }
  if (sql.exec('SELECT 1 FROM raised WHERE id = ?', alert.id).toArray().length > 0)
    return { ok: true, repeated: true }
  const { key } = row
  if (hasEnded(row.ends, account.day)) {
    post(sql, { kind: 'contact', key, at: now })
    return { ok: false, refusal: 'device-expired' }
  }
  const { name, identifier, limits } = JSON.parse(row.record) as DeviceRecord
  const occasion = { alert, deviceName: name, identifier, origin }
  const resetAt = limitResetAt(account)
  const messages: NewDelivery[] = []
  const suppressed: { channel: Channel; count: number }[] = []
  for (const channel of CHANNELS) {
    const wanted = recipients.filter((recipient) => recipient.channel === channel)
    const granted = takeQuota(
      sql,
      account,
      { id: deviceId, key, limits },
      channel,
      wanted.length,
      now,
    )
    const words = textByTimeZone(channel, occasion)
    wanted.forEach(({ to, timeZone }, index) => {
      const outcome =
        index < granted
          ? ({ status: 'queued', reason: null, resetAt: null } as const)
          : ({ status: 'suppressed', reason: 'daily-limit-reached', resetAt } as const)
      messages.push({
        id: messageId(alert.id, messages.length),
        channel,
        to,
        ...words(timeZone),
        ...outcome,
      })
    })
    if (granted < wanted.length) suppressed.push({ channel, count: wanted.length - granted })
  }
  sql.exec('INSERT INTO raised (id) VALUES (?)', alert.id)
  post(sql, { kind: 'alert', accountId: account.id, key, alert, messages: messages.length })
  for (let at = 0; at < messages.length; at += CHUNK) {
    post(sql, {
      kind: 'messages',
      accountId: account.id,
      key,
      messages: messages.slice(at, at + CHUNK),
      at: now,
    })
  }
  post(sql, { kind: 'usage', key, usage: usageOn(sql, key, account.day), contact: now })
  for (const { id, channel, to, subject, text, status } of messages) {
    if (status !== 'queued') continue
    const urgent = isUrgent(alert.name) ? 1 : 0
    enqueue(
      sql,
      {
        id,
        key: id,
        device_key: key,
        channel,
        recipient: to,
        subject,
        text,
        urgent,
        day: account.day,
      },
      now,
    )
  }
  const { id, name: alertName, text, dateTime, latitude, longitude } = alert
  const told = {
    alertId: id,
    alertName,
    text,
    dateTime: new Date(dateTime).toISOString(),
    latitude,
    longitude,
  }
  emit(sql, account.id, 'alert.raised', now, deviceId, told)
  for (const { channel, count } of suppressed) {
    const data = {
      alertId: id,
      channel,
      messages: count,
      reason: 'daily-limit-reached',
      resetAt: new Date(resetAt).toISOString(),
    }
    emit(sql, account.id, 'message.suppressed', now, deviceId, data)
  }
  return {
    ok: true,
    repeated: false,
    deliveries: messages.map(({ subject, text: _, ...delivery }) => delivery),
  }
}
