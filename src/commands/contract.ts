import * as z from 'zod'
import { define } from '../http/contract/contract.ts'
import { id, success, time } from '../http/contract/wire.ts'
import { nextCursor, pageQuery } from '../http/paging/page.ts'

const tag = 'Commands'
const format = z.enum(['Text', 'Hex', 'Base64'], 'must be Text, Hex or Base64')

const command = z
  .object({
    id: id('cmd').meta({ description: 'The command’s id.' }),
    received: z.boolean().meta({
      description: 'True for a message that was written on the device.',
      example: false,
    }),
    status: z.enum(['queued', 'sent', 'delivered', 'failed', 'unknown']).meta({
      description:
        '`unknown`: the network may have accepted it, but did not say so. It is not sent again, since a command that runs twice can be dangerous.',
      example: 'sent',
    }),
    format: format.meta({ description: 'What `command` is.', example: 'Text' }),
    command: z.string().meta({ description: 'The command or message.', example: 'Call base.' }),
    sms: z.boolean().meta({ description: 'Whether it went by SMS.', example: false }),
    creation: time.meta({ description: 'When it was sent.' }),
    answer: z.string().nullable().meta({
      description:
        'What the network answered, or why it failed; of a message of the device that is a check-in, what it did.',
      example: null,
    }),
  })
  .meta({ id: 'Command' })

export const sendCommand = define({
  id: 'sendCommand',
  tag,
  summary: 'Send a command to a device',
  description:
    'By the network of the source that last reported for the device, or that an administrator has chosen: Garmin IPC Inbound takes text, `/locate`, `/tracking 600`, `/tracking off`, `/interval 600` and bytes; RockBLOCK takes bytes and text. With `sms: true` it goes by SMS to the device’s `min` and counts against `dailySmsLimit`; at most five numbers of a device a day, and five for each license of the account, beyond: 429. At a daily limit it is refused and nothing is queued. A command that is too long for its network is refused before it is sent.',
  scope: 'execute',
  body: z
    .strictObject({
      command: z
        .string('must be text')
        .min(1, 'must not be empty')
        .max(2000, 'must have at most 2000 characters')
        .meta({
          description: 'The text, or the bytes in the format named.',
          example: 'Call base.',
        }),
      format: format.default('Text').meta({ description: 'What `command` is.', example: 'Text' }),
      sms: z.boolean('must be true or false').default(false).meta({
        description: 'Send an SMS to the device’s `min`.',
      }),
    })
    .refine(({ format: given, sms }) => !sms || given === 'Text', {
      path: ['format'],
      error: 'must be Text for an SMS',
    }),
  reply: z.object({
    success,
    result: z.string().meta({
      description: 'How long the command is, how long it may be, and what it takes.',
      example: '10 of at most 160 characters.',
    }),
    command,
  }),
  problems: [
    'device-not-found',
    'device-expired',
    'no-command-channel',
    'command-not-possible',
    'daily-limit-reached',
    'message-budget-reached',
  ],
  idempotent: true,
  example: { command: 'STATUS', format: 'Text', sms: true },
})

const sourceId = id('src').nullable().meta({
  description:
    'The source by whose network commands go; null: the one by which the device reports next.',
})

export const readCommandChannel = define({
  id: 'readCommandChannel',
  tag,
  summary: 'Read which source takes a device’s commands',
  description: 'Null until the device has reported by a source.',
  scope: 'admin',
  reply: z.object({ success, sourceId }),
  problems: ['device-not-found'],
})

export const setCommandChannel = define({
  id: 'setCommandChannel',
  tag,
  summary: 'Choose the source that takes a device’s commands',
  description:
    'By itself it is the source by which the device last reported, and changes only to another one of the same provider: whoever has the address of a source must not get the commands of all devices.',
  scope: 'admin',
  body: z.strictObject({ sourceId: sourceId.default(null) }),
  ignored: ['success'],
  reply: z.object({ success, sourceId }),
  problems: ['device-not-found', 'source-not-found'],
  example: { sourceId: null },
})

export const listCommands = define({
  id: 'listCommands',
  tag,
  summary: 'List commands and messages',
  description: 'Commands to the device and messages written on it, the newest first.',
  scope: 'read',
  query: z.strictObject(pageQuery),
  reply: z.object({
    success,
    commands: z.array(command).meta({ description: 'The conversation.' }),
    nextCursor,
  }),
  problems: ['device-not-found'],
})

export const readCommand = define({
  id: 'readCommand',
  tag,
  summary: 'Read a command',
  scope: 'read',
  reply: z.object({ success, command }),
  problems: ['device-not-found', 'command-not-found'],
})
