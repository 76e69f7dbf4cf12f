import type { Account } from '../domain/account.ts'
import type { Channel } from '../domain/alert.ts'
import { addDays, dayStart } from '../domain/day.ts'
import type { DeviceLimits } from '../domain/device.ts'
import type { Decision } from './decision.ts'
import { reserveMessages } from './usage.ts'

const LIMIT = { Email: 'dailyEmailLimit', SMS: 'dailySmsLimit' } as const satisfies Record<
  Channel,
  keyof DeviceLimits
>

/** A device as far as its daily limits need it. */
export interface LimitedDevice {
  id: string
  key: number
  limits: DeviceLimits
}

/** When the account's day ends; from then on the limits allow messages again. */
export const limitResetAt = (account: Account): number =>
  dayStart(addDays(account.day, 1), account.timeZone)

/** Reserves what the day's limit still allows of `wanted`; emits `limit.reached` once a day. */
export const takeQuota = (
  tx: Decision,
  device: LimitedDevice,
  channel: Channel,
  wanted: number,
): number => {
  const limit = device.limits[LIMIT[channel]]
  const { granted, isNewlyReached } = reserveMessages(tx, device.key, { channel, limit, wanted })
  if (isNewlyReached) {
    const resetAt = new Date(limitResetAt(tx.account)).toISOString()
    tx.emit('limit.reached', device.id, { channel, limit, date: tx.account.day, resetAt })
  }
  return granted
}
