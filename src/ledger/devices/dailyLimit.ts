import type { Account } from '../../domain/account/account.ts'
import { NO_DEVICE_KEY } from '../../domain/message/alert.ts'
import { CHANNEL } from '../../domain/message/channels/channels.ts'
import { addDays, dayStart } from '../../domain/time/day.ts'
import { iso } from '../../domain/time/iso.ts'
import type { Decision } from '../decision.ts'
import type { DeviceRow } from '../tables.ts'
import { reserveMessages, type Wanted } from './usage.ts'

/** When the account's day ends; from then on the limits allow messages again. */
export const limitResetAt = (account: Account): number =>
  dayStart(addDays(account.day, 1), account.timeZone)

interface Quota {
  granted: number
  /** Why the others are suppressed. */
  reason: 'daily-limit-reached' | 'reserved-for-emergencies'
}

/** Reserves what the day's limit still allows of `wanted`; emits `limit.reached` once a day. */
export const takeQuota = (tx: Decision, device: DeviceRow, wanted: Wanted): Quota => {
  const { channel } = wanted
  const limits = CHANNEL[channel].deviceLimit(device.record.limits)
  const request = { ...wanted, ...limits }
  const { granted, isReached, isNewlyReached } = reserveMessages(tx, device.key, request)
  if (isNewlyReached) {
    const { limit } = limits
    const resetAt = iso(limitResetAt(tx.account))
    tx.emit('limit.reached', device.id, { channel, limit, date: tx.account.day, resetAt })
  }
  return { granted, reason: isReached ? 'daily-limit-reached' : 'reserved-for-emergencies' }
}

/**
 * The same for notices, which the account's own limit counts. Half of it is for emergencies of
 * devices: whoever invents identifiers causes notices of unknown trackers.
 */
export const takeNoticeQuota = (tx: Decision, wanted: Wanted): number => {
  const limit = CHANNEL[wanted.channel].noticeLimit(tx.account.dailyNoticeLimit)
  const request = { ...wanted, limit, reserve: Math.floor(limit / 2) }
  return reserveMessages(tx, NO_DEVICE_KEY, request).granted
}
