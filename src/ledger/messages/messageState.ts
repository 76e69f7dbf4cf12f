import { findRow, updateRows } from '../../db/objectTable.ts'
import { alertIdOf, NO_DEVICE_KEY, type Status, subjectOf } from '../../domain/message/alert.ts'
import { cloudflare } from '../../notify/cloudflare.ts'
import { sendsNothing } from '../../notify/none.ts'
import { isDrill } from '../alerts/drills.ts'
import { noteOutcome } from '../alerts/emergencies.ts'
import type { Decision } from '../decision.ts'
import { postUsage, uncountMessage } from '../devices/usage.ts'
import { devices, type MessageRow, messages } from '../tables.ts'
import { returnToBudget } from './messageBudget.ts'

export type MessageChange = Pick<
  MessageRow,
  'status' | 'reason' | 'provider' | 'nextTry' | 'unsureSince'
> &
  Partial<Pick<MessageRow, 'providerId' | 'awaitsReceipt'>>

const EVENTS: Partial<Record<Status, string>> = { sent: 'message.sent', failed: 'message.failed' }

/** A delivery receipt may overtake the provider's reply: then it is the first sign of sending. */
const eventOf = (before: Status, after: Status): string | undefined => {
  if (after === before) return undefined
  return EVENTS[before === 'queued' && after === 'delivered' ? 'sent' : after]
}

const emitMessageEvent = (
  tx: Decision,
  { id, kind, channel, deviceKey }: MessageRow,
  { status, reason }: MessageChange,
  event: string,
): void => {
  const device = findRow(tx.sql, devices, { key: deviceKey })
  const { alertId, commandId } = subjectOf(id, kind)
  tx.emit(event, device?.id ?? null, {
    messageId: id,
    ...(alertId ? { alertId } : { commandId }),
    channel,
    ...(status === 'failed' && { reason }),
  })
}

/**
 * Writes a message's new state. The cell gets visible changes only. Each status of a device's
 * message has one event; notices about the account itself have none.
 */
export const changeMessage = (tx: Decision, before: MessageRow, change: MessageChange): void => {
  const { id, attempts, link } = before
  const { status, reason, provider, nextTry } = change
  const kept = nextTry === null ? null : link
  updateRows(tx.sql, messages, { ...change, link: kept, changed: tx.now }, { id })
  if (status !== before.status || reason !== before.reason) {
    const state = { id, status, reason, provider, attempts, at: tx.now }
    const { providerId } = change
    // Cloudflare's events name a message by this id alone.
    const isFoundById = provider === cloudflare.name && providerId != null
    const isShown = link !== null && sendsNothing(provider) && status === 'sent'
    tx.post({
      kind: 'message-state',
      ...state,
      ...(isShown && { shownLink: link }),
      ...(isFoundById && { providerId }),
    })
  }
  if (status !== before.status) noteOutcome(tx, { ...before, ...change })
  const event = eventOf(before.status, status)
  if (event && before.deviceKey !== NO_DEVICE_KEY) emitMessageEvent(tx, before, change, event)
}

/** Takes a message that nobody gets out of the counts; those of a drill were never in them. */
const uncount = (tx: Decision, message: MessageRow): void => {
  if (isDrill(tx.sql, alertIdOf(message.id))) return
  returnToBudget(tx.sql, message)
  const { deviceKey, kind, day, channel, urgent } = message
  // Password links are counted apart, as they are asked for; escalations by the budget alone.
  if (kind === 'invitation' || kind === 'reset' || kind === 'escalation') return
  const isDevices = kind === 'alert' || kind === 'command'
  const counter = { deviceKey: isDevices ? deviceKey : NO_DEVICE_KEY, day, channel }
  uncountMessage(tx.sql, counter, { isEmergency: urgent && deviceKey !== NO_DEVICE_KEY })
  if (isDevices && day === tx.account.day) postUsage(tx, deviceKey)
}

/** Ends a message that was refused or given up. It is uncounted if certainly nobody accepted it. */
export const failMessage = (
  tx: Decision,
  before: MessageRow,
  { reason, provider, unsureSince }: Pick<MessageChange, 'reason' | 'provider' | 'unsureSince'>,
): void => {
  changeMessage(tx, before, { status: 'failed', reason, provider, nextTry: null, unsureSince })
  if (unsureSince === null) uncount(tx, before)
}

/**
 * Ends a message that is not needed any more, because someone handles the emergency. It is
 * uncounted if certainly nobody accepted it.
 */
export const withdrawMessage = (
  tx: Decision,
  before: MessageRow,
  { provider, unsureSince }: Pick<MessageChange, 'provider' | 'unsureSince'> = before,
): void => {
  const withdrawn = { status: 'suppressed', reason: 'acknowledged', nextTry: null } as const
  changeMessage(tx, before, { ...withdrawn, provider, unsureSince })
  if (unsureSince !== null) return
  uncount(tx, before)
}
