import { findInDirectory } from '../admin/store.ts'
import { openCell } from '../db/open.ts'
import { type CallReply, KEY, type PressedKey } from '../domain/message/call.ts'
import type { Env } from '../env.ts'
import { ledgerOf } from '../ledger/stub.ts'
import { type CalledAlert, findCalledAlert } from '../links/store.ts'
import { findMessage } from '../messages/store.ts'

/* What a call says after a key. It acknowledges as the link of a message does. */

const end = (text: string): CallReply => ({ text, isEnd: true })

const GONE = end('This alert can no longer be acknowledged by this call. Goodbye.')
/** Said while the service cannot record a key: it can be pressed again. */
export const NOT_RECORDED: CallReply = { text: 'That could not be recorded.', isEnd: false }

const acknowledge = async (env: Env, alert: CalledAlert): Promise<CallReply> => {
  const { accountId, alertId, deviceId, recipient: by, known } = alert
  const step = { action: 'acknowledge', alertId, deviceId, by, known } as const
  const actor = { type: 'user', id: by, name: null } as const
  const writer = { actor, requestId: 'call', address: null }
  const outcome = await ledgerOf(env, accountId).takeAlertStep(step, writer)
  if (!outcome.ok) return GONE
  const { cancelledAt, resolvedAt, acknowledgedBy } = outcome.state
  if (cancelledAt !== null) return end('This was a false alarm and is over. Goodbye.')
  if (resolvedAt !== null) return end('This is over already. Goodbye.')
  if (acknowledgedBy !== by) return end('Somebody has acknowledged this already. Goodbye.')
  return end('Thank you. You have acknowledged this. Goodbye.')
}

/**
 * The reply to a key. One that is none of the choices repeats the text once. `applyReceipt` records
 * that the call has reached a person.
 */
export const answerKey = async (
  env: Env,
  accountId: string,
  { key, digit, wasWrong }: PressedKey,
  applyReceipt: () => Promise<unknown>,
): Promise<CallReply> => {
  const entry = await findInDirectory(openCell(env, 0), accountId)
  if (!entry) return GONE
  const db = openCell(env, entry.cell)
  const messageId = key.split('-', 1)[0] ?? ''
  const alert = await findCalledAlert(db, { accountId, messageId, now: Date.now() })
  if (!alert) return GONE
  await applyReceipt()
  if (digit === KEY.acknowledge) return acknowledge(env, alert)
  const isWrong = digit !== KEY.repeat
  if (isWrong && wasWrong) return end('Goodbye.')
  const message = await findMessage(db, { accountId, groupId: null }, messageId, true)
  return message ? { text: message.text, isEnd: false, isWrong: isWrong || wasWrong } : GONE
}
