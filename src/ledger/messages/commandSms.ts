import { deleteRows, hasRow, insertRow, query, readValue } from '../../db/objectTable.ts'
import { hasEnded } from '../../domain/account/license.ts'
import { messageId } from '../../domain/message/alert.ts'
import { addDays } from '../../domain/time/day.ts'
import type { Decision } from '../decision.ts'
import { limitResetAt, takeQuota } from '../devices/dailyLimit.ts'
import { findDevice } from '../devices/devices.ts'
import { postUsage } from '../devices/usage.ts'
import { commandNumbers, messages } from '../tables.ts'
import { BUDGET_REACHED, composeMessages } from './compose.ts'
import { findMessage, queueMessages } from './messageQueue.ts'

export interface CommandSms {
  /** `cmd_…`: the same command is sent once. */
  id: string
  deviceId: string
  text: string
}

export type CommandSmsOutcome =
  | { ok: true }
  | {
      ok: false
      refusal: 'account-not-found' | 'device-not-found' | 'device-expired' | 'no-command-channel'
    }
  | { ok: false; refusal: 'too-many-requests'; retryAt: number }
  | { ok: false; refusal: 'daily-limit-reached' | typeof BUDGET_REACHED; resetAt: number }

/** A device has one number: many in a day mean that its commands are used to write to others. */
const MAX_NUMBERS_PER_DAY = 5

/** How many numbers other than `to` commands of the device were sent to on the account's day. */
const countOtherNumbers = ({ sql, account }: Decision, deviceKey: number, to: string): number =>
  readValue<number>(
    sql,
    query`SELECT count(DISTINCT ${messages.to}) FROM ${messages}
      WHERE ${messages.deviceKey} = ${deviceKey} AND ${messages.kind} = 'command'
        AND ${messages.day} = ${account.day} AND ${messages.to} <> ${to}`,
  )

/**
 * Whether commands may go to the number. The account's numbers count too: a device that is deleted
 * and created again starts at zero.
 */
const isNumberAllowed = (tx: Decision, deviceKey: number, to: string): boolean => {
  if (countOtherNumbers(tx, deviceKey, to) >= MAX_NUMBERS_PER_DAY) return false
  const { day, total } = tx.account
  if (hasRow(tx.sql, commandNumbers, { day, number: to })) return true
  const used = query`SELECT count(*) FROM ${commandNumbers} WHERE ${commandNumbers.day} = ${day}`
  return readValue<number>(tx.sql, used) < MAX_NUMBERS_PER_DAY * Math.max(1, total)
}

const rememberNumber = ({ sql, account: { day } }: Decision, number: string): void => {
  deleteRows(sql, commandNumbers, query`${commandNumbers.day} < ${addDays(day, -1)}`)
  insertRow(sql, commandNumbers, { day, number }, 'replace')
}

const PHONE = /^\+[1-9]\d{6,14}$/

/** Queues an SMS to the device's own number, within its daily limit and a few numbers a day. */
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
  if (findMessage(tx.sql, smsId)) return { ok: true }
  if (!isNumberAllowed(tx, row.key, to))
    return { ok: false, refusal: 'too-many-requests', retryAt: limitResetAt(tx.account) }
  const { timeZone } = tx.account
  const composed = composeMessages(tx, [{ channel: 'SMS', to, timeZone }], {
    kind: 'command',
    idOf: () => smsId,
    textOf: () => ({ subject: '', text }),
    emergencyOf: null,
    takeQuota: (channel, wanted, allowed) =>
      takeQuota(tx, row, { channel, wanted, allowed, isEmergency: false }),
  })
  const [sms] = composed
  if (sms?.status !== 'queued') {
    const refusal = sms?.reason === BUDGET_REACHED ? BUDGET_REACHED : 'daily-limit-reached'
    return { ok: false, refusal, resetAt: limitResetAt(tx.account) }
  }
  queueMessages(tx, row.key, composed, false)
  postUsage(tx, row.key)
  rememberNumber(tx, to)
  return { ok: true }
}
