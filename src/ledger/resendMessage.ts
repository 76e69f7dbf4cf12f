import type { Account } from '../domain/account.ts'
import type { Channel } from '../domain/alert.ts'
import type { DeviceRecord } from '../domain/device.ts'
import { limitResetAt, takeQuota } from './alerts.ts'
import { findDevice } from './devices.ts'
import { enqueue, findMessage } from './messages.ts'
import { post } from './outbox.ts'
import { usageOn } from './usage.ts'

/** A message as the cell has it, which keeps it longer than the ledger does. */
export interface StoredMessage {
  id: string
  deviceId: string
  channel: Channel
  to: string
  subject: string
  text: string
  urgent: boolean
  /** Whether it failed or was held back, as the cell knows. */
  failed: boolean
}

export type ResendOutcome =
  | { ok: true }
  | { ok: false; refusal: 'not-found' | 'message-not-failed' }
  | { ok: false; refusal: 'daily-limit-reached'; resetAt: number }

/**
 * Sends a failed or suppressed message again because someone asked for it: it counts again. `round` names the asking, so that
 * a repeat of it sends nothing more, and makes the key under which a provider takes it for a new message.
 */
export const resendMessage = (
  sql: SqlStorage,
  account: Account,
  kept: StoredMessage,
  round: string,
  now: number,
): ResendOutcome => {
  const { id, deviceId, channel, to, subject, text, urgent, failed } = kept
  const device = findDevice(sql, deviceId)
  if (!device) return { ok: false, refusal: 'not-found' }
  const key = `${id}-${round}`
  const standing = findMessage(sql, id)
  if (standing?.key === key) return { ok: true }
  if (standing ? standing.status !== 'failed' : !failed)
    return { ok: false, refusal: 'message-not-failed' }
  const { limits } = JSON.parse(device.record) as DeviceRecord
  const granted = takeQuota(
    sql,
    account,
    { id: deviceId, key: device.key, limits },
    channel,
    1,
    now,
  )
  post(sql, { kind: 'usage', key: device.key, usage: usageOn(sql, device.key, account.day) })
  if (granted === 0)
    return { ok: false, refusal: 'daily-limit-reached', resetAt: limitResetAt(account) }
  enqueue(
    sql,
    {
      id,
      key,
      device_key: device.key,
      channel,
      recipient: to,
      subject,
      text,
      urgent: urgent ? 1 : 0,
      day: account.day,
    },
    now,
  )
  post(sql, {
    kind: 'message-state',
    accountId: account.id,
    id,
    status: 'queued',
    reason: null,
    provider: null,
    attempts: 0,
    at: now,
  })
  return { ok: true }
}
