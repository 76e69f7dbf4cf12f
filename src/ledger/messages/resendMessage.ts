import type { Decision } from '../decision.ts'
import { limitResetAt, takeNoticeQuota, takeQuota } from '../devices/dailyLimit.ts'
import { findDevice } from '../devices/devices.ts'
import { postUsage } from '../devices/usage.ts'
import type { DeviceRow, MessageRow } from '../tables.ts'
import { enqueueMessage, findMessage, linkFor } from './messageQueue.ts'

/** A message as the cell has it, which keeps messages longer than the ledger does. */
export interface StoredMessage
  extends Pick<MessageRow, 'id' | 'kind' | 'channel' | 'to' | 'subject' | 'text' | 'urgent'> {
  deviceId: string
  /** Whether the cell has it as failed or suppressed. */
  failed: boolean
}

export type ResendOutcome =
  | { ok: true }
  | { ok: false; refusal: 'account-not-found' | 'message-not-found' | 'message-not-failed' }
  | { ok: false; refusal: 'daily-limit-reached'; resetAt: number }

/** Counts one more message, against the device's limit or the account's. */
const takeOne = (
  tx: Decision,
  device: DeviceRow,
  { kind, channel, urgent: isEmergency }: StoredMessage,
): number => {
  if (kind !== 'alert' && kind !== 'command') return takeNoticeQuota(tx, channel, 1)
  const { granted } = takeQuota(tx, device, { channel, wanted: 1, isEmergency })
  postUsage(tx, device.key)
  return granted
}

/**
 * Sends a failed or suppressed message again on request; it counts again. `round` identifies the
 * request: its retry sends nothing more, and the provider gets a new key.
 */
export const resendMessage = (
  tx: Decision,
  message: StoredMessage,
  round: string,
): ResendOutcome => {
  const { id, deviceId, failed } = message
  const device = findDevice(tx.sql, deviceId)
  if (!device) return { ok: false, refusal: 'message-not-found' }
  const key = `${id}-${round}`
  const queued = findMessage(tx.sql, id)
  if (queued?.key === key) return { ok: true }
  const hasFailed = queued ? queued.status === 'failed' : failed
  if (!hasFailed) return { ok: false, refusal: 'message-not-failed' }
  const granted = takeOne(tx, device, message)
  if (granted === 0)
    return { ok: false, refusal: 'daily-limit-reached', resetAt: limitResetAt(tx.account) }
  const link = linkFor(tx, message.text)
  const { timeZone = tx.account.timeZone, userId, contact } = queued ?? {}
  const recipient = { timeZone, userId, contact }
  enqueueMessage(tx, { ...message, ...recipient, link, key, deviceKey: device.key })
  tx.post({
    kind: 'message-state',
    id,
    status: 'queued',
    reason: null,
    provider: null,
    attempts: 0,
    ...(link && { link }),
    at: tx.now,
  })
  return { ok: true }
}
