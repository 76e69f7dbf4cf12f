import {
  CHANNELS,
  type MessageKind,
  messageId,
  NO_DEVICE_KEY,
  type Recipient,
} from '../../domain/message/alert.ts'
import type { MessageText } from '../../notify/messageText.ts'
import { composeNotice, type NoticeContent } from '../../notify/noticeText.ts'
import type { Decision } from '../decision.ts'
import { limitResetAt, takeNoticeQuota } from '../devices/dailyLimit.ts'
import type { NewMessage } from '../outbox/outbox.ts'
import { type CountedLink, type LinkRefusal, refuseLink } from './linkLimits.ts'
import { queueMessages } from './messageQueue.ts'

/* Notices and escalations: outside the limits of all devices, within the account's own. */

interface NoticeParts {
  kind: MessageKind
  /** The message id of the recipient with this index. */
  idOf: (index: number) => string
  textOf: (recipient: Recipient) => MessageText
}

/** Composes a message for every recipient; those beyond the account's limit are suppressed. */
export const composeNotices = (
  tx: Decision,
  recipients: Recipient[],
  { kind, idOf, textOf }: NoticeParts,
): NewMessage[] => {
  const resetAt = limitResetAt(tx.account)
  const ordered = CHANNELS.flatMap((channel) => {
    const wanted = recipients.filter((recipient) => recipient.channel === channel)
    // Links have limits of their own: people who forget passwords must not use up the notices.
    const isCounted = kind === 'notice' || kind === 'escalation'
    const granted = isCounted ? takeNoticeQuota(tx, channel, wanted.length) : wanted.length
    return wanted.map((recipient, index) => ({ recipient, isGranted: index < granted }))
  })
  return ordered.map(({ recipient, isGranted }, index) => ({
    ...recipient,
    id: idOf(index),
    kind,
    ...textOf(recipient),
    ...(isGranted
      ? ({ status: 'queued', reason: null, resetAt: null } as const)
      : ({ status: 'suppressed', reason: 'daily-notice-limit-reached', resetAt } as const)),
  }))
}

export interface AccountNotice {
  /** `ntc_` and 22 characters, the first nine its time. The same id is sent only once. */
  id: string
  content: NoticeContent
  recipients: Recipient[]
  isUrgent: boolean
  /** For a password link: counts against the limits of its kind. */
  link?: CountedLink
}

export type NoticeOutcome = { ok: true } | LinkRefusal

const isAccepted = (tx: Decision, id: string): boolean =>
  tx.sql.exec('SELECT 1 FROM notices WHERE id = ?', id).toArray().length > 0

/**
 * Queues the messages of a notice, as far as the account's limit allows. A repeat queues nothing, so
 * that the caller may retry.
 */
export const sendNotice = (tx: Decision, notice: AccountNotice): NoticeOutcome => {
  const { id, content, recipients, isUrgent, link } = notice
  if (isAccepted(tx, id)) return { ok: true }
  const refused = link && refuseLink(tx, link)
  if (refused) return refused
  tx.sql.exec(
    'INSERT INTO notices (id, accepted, link_kind, user_id) VALUES (?, ?, ?, ?)',
    id,
    tx.now,
    link?.kind ?? null,
    link?.userId ?? null,
  )
  const messages = composeNotices(tx, recipients, {
    kind: link?.kind ?? 'notice',
    idOf: (index) => messageId(id, index),
    textOf: ({ channel, timeZone }) => composeNotice[channel](content, timeZone),
  })
  queueMessages(tx, NO_DEVICE_KEY, messages, isUrgent)
  return { ok: true }
}
