import type { Decision } from '../decision.ts'
import { limitResetAt, takeNoticeQuota, takeQuota } from '../devices/dailyLimit.ts'
import { findDevice } from '../devices/devices.ts'
import { postUsage } from '../devices/usage.ts'
import type { DeviceRow, MessageRow } from '../tables.ts'
import { BUDGET_REACHED } from './compose.ts'
import { countWithinBudget, takeFromBudget, unitsOf } from './messageBudget.ts'
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
  | { ok: false; refusal: 'daily-limit-reached' | 'message-budget-reached'; resetAt: number }

/** Counts one more message, against the budget and the device's limit or the account's. */
const takeOne = (
  tx: Decision,
  device: DeviceRow,
  { kind, channel, text, urgent: isEmergency }: StoredMessage,
): 'daily-limit-reached' | 'message-budget-reached' | null => {
  const purpose = { kind, channel, emergencyOf: isEmergency ? device.key : null }
  const units = [unitsOf(channel, text)]
  if (countWithinBudget(tx, purpose, units) === 0) return BUDGET_REACHED
  const isDevices = kind === 'alert' || kind === 'command'
  const one = { channel, isEmergency, wanted: 1 }
  const granted = isDevices
    ? takeQuota(tx, device, one).granted
    : kind === 'escalation' || takeNoticeQuota(tx, one)
  if (isDevices) postUsage(tx, device.key)
  if (!granted) return 'daily-limit-reached'
  takeFromBudget(tx, purpose, units)
  return null
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
  // A suppressed one in the queue was withdrawn.
  const hasFailed = queued ? ['failed', 'suppressed'].includes(queued.status) : failed
  if (!hasFailed) return { ok: false, refusal: 'message-not-failed' }
  const refusal = takeOne(tx, device, message)
  if (refusal) return { ok: false, refusal, resetAt: limitResetAt(tx.account) }
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
  tx.audit('message.resent', { type: 'message', id })
  return { ok: true }
}
