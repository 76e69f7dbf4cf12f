import {
  CHANNELS,
  type Channel,
  type MessageKind,
  type Recipient,
} from '../../domain/message/alert.ts'
import type { MessageText } from '../../domain/message/text/messageText.ts'
import { markText } from '../../domain/sandbox/sandbox.ts'
import type { Decision } from '../decision.ts'
import { limitResetAt } from '../devices/dailyLimit.ts'
import type { NewMessage } from '../outbox/outbox.ts'
import { countWithinBudget, takeDrillMessages, takeFromBudget, unitsOf } from './messageBudget.ts'

export interface Composition {
  kind: MessageKind
  /** The id of the message with this index. */
  idOf: (index: number) => string
  textOf: (recipient: Recipient) => MessageText
  /** Whether it is of a drill, whose messages have a limit of their own. */
  isDrill?: boolean
  /** The key of the device whose emergency may use what the operator's budget keeps for it. */
  emergencyOf: number | null
  /** How many of the wanted messages are sent, at most `allowed`, and why the others are not. */
  takeQuota: (
    channel: Channel,
    wanted: number,
    allowed: number,
  ) => { granted: number; reason: string }
}

/** Why a message is not sent that the operator's budget of the day has no room for. */
export const BUDGET_REACHED = 'message-budget-reached'
/** The same of a drill, for which the day's messages of drills have no room. */
export const DRILLS_REACHED = 'drill-limit-reached'

const NO_TEXT: MessageText = { subject: '', text: '' }

/** Those of a sandbox say so. */
const markTexts = ({ account: { sandbox } }: Decision, { subject, text }: MessageText) => ({
  subject: markText(sandbox, subject),
  text: markText(sandbox, text),
})

/** Composes a message for every recipient, channel by channel; those beyond the quota are suppressed. */
export const composeMessages = (
  tx: Decision,
  recipients: Recipient[],
  { kind, idOf, textOf, isDrill = false, emergencyOf, takeQuota }: Composition,
): NewMessage[] => {
  const resetAt = limitResetAt(tx.account)
  const messages: NewMessage[] = []
  for (const channel of CHANNELS) {
    const wanted = recipients.filter((recipient) => recipient.channel === channel)
    const texts = wanted.map((recipient) => markTexts(tx, textOf(recipient)))
    const units = texts.map(({ text }) => unitsOf(channel, text))
    const purpose = { kind, channel, emergencyOf }
    const allowed = isDrill ? wanted.length : countWithinBudget(tx, purpose, units)
    const { granted, reason: limitReason } = isDrill
      ? { granted: takeDrillMessages(tx, channel, allowed), reason: DRILLS_REACHED }
      : takeQuota(channel, wanted.length, allowed)
    if (!isDrill) takeFromBudget(tx, purpose, units.slice(0, granted))
    const reason = granted < allowed ? limitReason : BUDGET_REACHED
    wanted.forEach((recipient, index) => {
      const state =
        index < granted
          ? ({ status: 'queued', reason: null, resetAt: null } as const)
          : ({ status: 'suppressed', reason, resetAt } as const)
      const id = idOf(messages.length)
      messages.push({ ...recipient, id, kind, ...(texts[index] ?? NO_TEXT), ...state })
    })
  }
  return messages
}

/** The messages that are stored: of an account far over its storage budget, those that are sent. */
export const selectStored = (messages: NewMessage[], omitsSuppressed: boolean): NewMessage[] =>
  omitsSuppressed ? messages.filter(({ status }) => status === 'queued') : messages
