import type { Account } from '../../domain/account/account.ts'
import { type DeviceLimits, NO_RESERVE } from '../../domain/account/device.ts'
import { type Channel, NO_DEVICE_KEY } from '../../domain/message/alert.ts'
import { noticeLimit } from '../../domain/message/emergency.ts'
import { addDays, dayStart } from '../../domain/time/day.ts'
import type { Decision } from '../decision.ts'
import { reserveMessages } from './usage.ts'

const LIMIT = { Email: 'dailyEmailLimit', SMS: 'dailySmsLimit' } as const satisfies Record<
  Channel,
  keyof DeviceLimits
>

const RESERVE = { Email: 'email', SMS: 'sms' } as const satisfies Record<Channel, string>

/** A device as far as its daily limits need it. */
export interface LimitedDevice {
  id: string
  key: number
  limits: DeviceLimits
}

/** When the account's day ends; from then on the limits allow messages again. */
export const limitResetAt = (account: Account): number =>
  dayStart(addDays(account.day, 1), account.timeZone)

export interface WantedMessages {
  channel: Channel
  wanted: number
  isEmergency: boolean
}

export interface Quota {
  granted: number
  /** Why the others are suppressed. */
  reason: 'daily-limit-reached' | 'reserved-for-emergencies'
}

/** Reserves what the day's limit still allows of `wanted`; emits `limit.reached` once a day. */
export const takeQuota = (
  tx: Decision,
  device: LimitedDevice,
  { channel, wanted, isEmergency }: WantedMessages,
): Quota => {
  const limit = device.limits[LIMIT[channel]]
  const reserves = device.limits.emergencyReserve ?? NO_RESERVE
  const reserve = reserves[RESERVE[channel]]
  const request = { channel, limit, reserve, isEmergency, wanted }
  const { granted, isReached, isNewlyReached } = reserveMessages(tx, device.key, request)
  if (isNewlyReached) {
    const resetAt = new Date(limitResetAt(tx.account)).toISOString()
    tx.emit('limit.reached', device.id, { channel, limit, date: tx.account.day, resetAt })
  }
  return { granted, reason: isReached ? 'daily-limit-reached' : 'reserved-for-emergencies' }
}

/** The same for notices and escalations, which the account's own limit counts. */
export const takeNoticeQuota = (tx: Decision, channel: Channel, wanted: number): number => {
  const limit = noticeLimit(tx.account, channel)
  const request = { channel, limit, reserve: 0, isEmergency: false, wanted }
  return reserveMessages(tx, NO_DEVICE_KEY, request).granted
}
