import * as z from 'zod'
import { messageSummary } from '../alerts/contract.ts'
import { CHANNELS, STATUSES } from '../domain/message/alert.ts'
import { define } from '../http/contract/contract.ts'
import { id, success, time } from '../http/contract/wire.ts'
import { nextCursor, pageQuery } from '../http/paging/page.ts'

const NOTICE = 'Null for a notice about the account itself.'

const message = z
  .object({
    ...messageSummary.shape,
    alertId: id('alr').nullable().meta({
      description: 'The alert. Null for a command, and for a notice about the account itself.',
    }),
    commandId: id('cmd').nullable().meta({
      description: 'The command that the SMS carries, of the device’s `commands`; else null.',
      example: null,
    }),
    deviceId: id('dev').nullable().meta({ description: NOTICE }),
    subject: z
      .string()
      .meta({ description: 'Empty for an SMS and a call.', example: 'SOSButton: Tern 7' }),
    text: z.string().meta({
      description:
        'The text as it is sent, with `…` in place of the secret part of a link. Where the provider is `outbox` or `sandbox`, which send nothing, `admin` sees the link.',
    }),
    provider: z
      .string()
      .nullable()
      .meta({ description: 'The provider of the last attempt to send it.', example: 'outbox' }),
    attempts: z.int().meta({
      description: 'How many attempts to send it were made before its last change of status.',
      example: 1,
    }),
    lastModified: time.meta({ description: 'When its status last changed.' }),
  })
  .meta({ id: 'Message' })

const tag = 'Messages'

export const listMessages = define({
  id: 'listMessages',
  tag,
  summary: 'List messages',
  description:
    'E-mails, SMS, notifications and calls of alerts and commands with their delivery status, newest alert first. With the scope `admin`, the list also has notices: about emergencies that reached nobody, about cancelled alerts, and for 30 days about disabled webhooks, invitations and password resets.',
  scope: 'read',
  query: z.strictObject({
    ...pageQuery,
    status: z
      .enum(STATUSES, `must be one of ${STATUSES.join(', ')}`)
      .optional()
      .meta({ description: 'Only messages with this status.' }),
    channel: z
      .enum(CHANNELS, `must be one of ${CHANNELS.join(', ')}`)
      .optional()
      .meta({ description: 'Only messages of this channel.' }),
    deviceId: z.string().optional().meta({ description: 'Only messages of this device.' }),
    alertId: z.string().optional().meta({ description: 'Only messages of this alert.' }),
  }),
  reply: z.object({ success, messages: z.array(message), nextCursor }),
})

export const retryMessage = define({
  id: 'retryMessage',
  tag,
  summary: 'Send a message again',
  ignoresStorage: true,
  description:
    'Only for a message that failed or was suppressed, and whose recipient would still receive the alert. It counts again: towards the device’s daily limit, or a notice towards the account’s, and each towards the account’s `budgets`, of which escalations have their own.',
  scope: 'write',
  reply: z.object({ success, message }),
  problems: [
    'message-not-found',
    'message-not-failed',
    'recipient-gone',
    'daily-limit-reached',
    'message-budget-reached',
  ],
  idempotent: true,
})
