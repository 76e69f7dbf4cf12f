import { hasRow, insertRow } from '../../db/objectTable.ts'
import { messageId, NO_DEVICE_KEY, type Recipient } from '../../domain/message/alert.ts'
import { CHANNEL } from '../../domain/message/channels/channels.ts'
import type { NoticeContent } from '../../domain/message/text/noticeText.ts'
import type { Decision } from '../decision.ts'
import { takeNoticeQuota } from '../devices/dailyLimit.ts'
import type { NewMessage } from '../outbox/outbox.ts'
import { notices } from '../tables.ts'
import { type Composition, composeMessages } from './compose.ts'
import { type CountedLink, type LinkRefusal, refuseLink } from './linkLimits.ts'
import { queueMessages } from './messageQueue.ts'

/* Notices and escalations: outside the limits of all devices, within the account's own. */

type NoticeParts = Pick<Composition, 'kind' | 'idOf' | 'textOf'>

/** Composes a message for every recipient; those beyond the account's limit are suppressed. */
export const composeNotices = (
  tx: Decision,
  recipients: Recipient[],
  parts: NoticeParts,
): NewMessage[] =>
  composeMessages(tx, recipients, {
    ...parts,
    takeQuota: (channel, wanted) => ({
      // Links have limits of their own: people who forget passwords must not use up the notices.
      granted:
        parts.kind === 'notice' || parts.kind === 'escalation'
          ? takeNoticeQuota(tx, channel, wanted)
          : wanted,
      reason: 'daily-notice-limit-reached',
    }),
  })

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

/**
 * Queues the messages of a notice, as far as the account's limit allows. A repeat queues nothing, so
 * that the caller may retry.
 */
export const sendNotice = (tx: Decision, notice: AccountNotice): NoticeOutcome => {
  const { id, content, recipients, isUrgent, link } = notice
  if (hasRow(tx.sql, notices, { id })) return { ok: true }
  const refused = link && refuseLink(tx, link)
  if (refused) return refused
  const counted = { linkKind: link?.kind, userId: link?.userId }
  insertRow(tx.sql, notices, { id, accepted: tx.now, ...counted })
  const messages = composeNotices(tx, recipients, {
    kind: link?.kind ?? 'notice',
    idOf: (index) => messageId(id, index),
    textOf: ({ channel, timeZone }) => CHANNEL[channel].composeNotice(content, timeZone),
  })
  queueMessages(tx, NO_DEVICE_KEY, messages, isUrgent)
  return { ok: true }
}
