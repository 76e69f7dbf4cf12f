import { messageId, NO_DEVICE_KEY, type Recipient } from '../domain/alert.ts'
import { composeNotice, type NoticeContent } from '../notify/noticeText.ts'
import type { Decision } from './decision.ts'
import { type CountedLink, type LinkRefusal, refuseLink } from './linkLimits.ts'
import { queueMessages } from './messageQueue.ts'
import type { NewMessage } from './outbox.ts'

/* Account notices: messages about the account itself, outside the limits of all devices. */

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

/** Queues the messages of a notice. A repeat queues nothing, so that the caller may retry. */
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
  const messages = recipients.map(
    ({ channel, to, timeZone }, index): NewMessage => ({
      id: messageId(id, index),
      channel,
      to,
      ...composeNotice[channel](content, timeZone),
      status: 'queued',
      reason: null,
      resetAt: null,
    }),
  )
  queueMessages(tx, NO_DEVICE_KEY, messages, isUrgent)
  return { ok: true }
}
