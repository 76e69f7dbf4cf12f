import * as z from 'zod'
import { delivery } from '../alerts/contract.ts'
import { CHANNELS, STATUSES } from '../domain/alert.ts'
import { define } from '../http/contract.ts'
import { nextCursor, pageQuery } from '../http/page.ts'
import { id, success, time } from '../http/wire.ts'

const message = z
  .object({
    ...delivery.shape,
    alertId: id('alr')
      .nullable()
      .meta({ description: 'Null for what is told of the account itself.' }),
    deviceId: id('dev')
      .nullable()
      .meta({ description: 'Null for what is told of the account itself.' }),
    subject: z.string().meta({ description: 'Empty for an SMS.', example: 'SOSButton: Tern 7' }),
    text: z.string().meta({ description: 'The very words that go out.' }),
    provider: z
      .string()
      .nullable()
      .meta({ description: 'Who was last asked to send it.', example: 'outbox' }),
    attempts: z.int().meta({
      description: 'How often it had been tried when it came to stand as it does.',
      example: 1,
    }),
    lastModified: time,
  })
  .meta({ id: 'Message' })

const tag = 'Messages'

export const listMessages = define({
  id: 'listMessages',
  tag,
  summary: 'List messages',
  description:
    'E-mails and SMS of alerts, those of the newest alert first: what went out, or would have, and what became of it. Between them, for 30 days and with the scope `admin`, the e-mails that told of a webhook that was disabled.',
  scope: 'read',
  query: z.strictObject({
    ...pageQuery,
    status: z.enum(STATUSES, `must be one of ${STATUSES.join(', ')}`).optional(),
    channel: z.enum(CHANNELS, 'must be Email or SMS').optional(),
    deviceId: z.string().optional().meta({ description: 'Only messages of this device.' }),
    alertId: z.string().optional().meta({ description: 'Only messages of this alert.' }),
  }),
  reply: z.object({ success, messages: z.array(message), nextCursor }),
})

export const retryMessage = define({
  id: 'retryMessage',
  tag,
  summary: 'Send a message again',
  description:
    'For one that failed or was held back, where its recipient would still be told. It counts against the device’s daily limit again.',
  scope: 'write',
  reply: z.object({ success, message }),
  problems: ['not-found', 'message-not-failed', 'recipient-gone', 'daily-limit-reached'],
  idempotent: true,
})
