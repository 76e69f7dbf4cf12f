import { hasEnded } from '../../domain/account/license.ts'
import { messageId } from '../../domain/message/alert.ts'
import type { Decision } from '../decision.ts'
import { limitResetAt, takeQuota } from '../devices/dailyLimit.ts'
import { findDevice } from '../devices/devices.ts'
import { postUsage } from '../devices/usage.ts'
import { composeMessages } from './compose.ts'
import { findMessage, queueMessages } from './messageQueue.ts'

export interface CommandSms {
  /** `cmd_…`: the same command is sent once. */
  id: string
  deviceId: string
  text: string
}

export type CommandSmsOutcome =
  | { ok: true; messageId: string; status: 'queued' | 'suppressed'; resetAt: number | null }
  | {
      ok: false
      refusal: 'account-not-found' | 'device-not-found' | 'device-expired' | 'no-command-channel'
    }

const PHONE = /^\+[1-9]\d{6,14}$/

/** Queues an SMS to the device's own number, within its daily limit. */
export const sendCommandSms = (
  tx: Decision,
  { id, deviceId, text }: CommandSms,
): CommandSmsOutcome => {
  const row = findDevice(tx.sql, deviceId)
  if (!row) return { ok: false, refusal: 'device-not-found' }
  if (hasEnded(row.ends, tx.account.day)) return { ok: false, refusal: 'device-expired' }
  const to = row.record.min.replaceAll(/[\s()-]/g, '')
  if (!PHONE.test(to)) return { ok: false, refusal: 'no-command-channel' }
  const smsId = messageId(id, 0)
  if (findMessage(tx.sql, smsId))
    return { ok: true, messageId: smsId, status: 'queued', resetAt: null }
  const { timeZone } = tx.account
  const messages = composeMessages(tx, [{ channel: 'SMS', to, timeZone }], {
    kind: 'command',
    idOf: () => smsId,
    textOf: () => ({ subject: '', text }),
    isEmergency: false,
    takeQuota: (channel, wanted, allowed) =>
      takeQuota(tx, row, { channel, wanted, allowed, isEmergency: false }),
  })
  queueMessages(tx, row.key, messages, false)
  postUsage(tx, row.key, tx.now)
  const isQueued = messages.some(({ status }) => status === 'queued')
  return {
    ok: true,
    messageId: smsId,
    status: isQueued ? 'queued' : 'suppressed',
    resetAt: isQueued ? null : limitResetAt(tx.account),
  }
}
