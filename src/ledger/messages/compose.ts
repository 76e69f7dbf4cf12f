import {
  CHANNELS,
  type Channel,
  type MessageKind,
  type Recipient,
} from '../../domain/message/alert.ts'
import type { MessageText } from '../../domain/message/text/messageText.ts'
import type { Decision } from '../decision.ts'
import { limitResetAt } from '../devices/dailyLimit.ts'
import type { NewMessage } from '../outbox/outbox.ts'

export interface Composition {
  kind: MessageKind
  /** The id of the message with this index. */
  idOf: (index: number) => string
  textOf: (recipient: Recipient) => MessageText
  /** How many of the wanted messages are sent, and why the others are not. */
  takeQuota: (channel: Channel, wanted: number) => { granted: number; reason: string }
}

/** Composes a message for every recipient, channel by channel; those beyond the quota are suppressed. */
export const composeMessages = (
  tx: Decision,
  recipients: Recipient[],
  { kind, idOf, textOf, takeQuota }: Composition,
): NewMessage[] => {
  const resetAt = limitResetAt(tx.account)
  const messages: NewMessage[] = []
  for (const channel of CHANNELS) {
    const wanted = recipients.filter((recipient) => recipient.channel === channel)
    const { granted, reason } = takeQuota(channel, wanted.length)
    wanted.forEach((recipient, index) => {
      const state =
        index < granted
          ? ({ status: 'queued', reason: null, resetAt: null } as const)
          : ({ status: 'suppressed', reason, resetAt } as const)
      const id = idOf(messages.length)
      messages.push({ ...recipient, id, kind, ...textOf(recipient), ...state })
    })
  }
  return messages
}
