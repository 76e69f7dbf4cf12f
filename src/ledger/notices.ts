import { messageId, NO_DEVICE_KEY, type Recipient } from '../domain/alert.ts'
import { composeNotice, type NoticeContent } from '../notify/noticeText.ts'
import type { Decision } from './decision.ts'
import { queueMessages } from './messageQueue.ts'
import type { NewMessage } from './outbox.ts'

/* Account notices: messages about the account itself, outside the limits of all devices. */

export interface AccountNotice {
  /** `ntc_` and 22 characters, the first nine its time. The same id is sent only once. */
  id: string
  content: NoticeContent
  recipients: Recipient[]
  isUrgent: boolean
}

/** Queues the messages of a notice. A repeat queues nothing, so that the caller may retry. */
export const sendNotice = (tx: Decision, notice: AccountNotice): { ok: true } => {
  const { id, content, recipients, isUrgent } = notice
  const { rowsWritten } = tx.sql.exec(
    'INSERT INTO notices (id, accepted) VALUES (?, ?) ON CONFLICT DO NOTHING',
    id,
    tx.now,
  )
  if (rowsWritten === 0) return { ok: true }
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
