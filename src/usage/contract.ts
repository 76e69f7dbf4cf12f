import * as z from 'zod'
import { CHANNELS } from '../domain/message/alert.ts'
import { EXACT_MEMBERS, MONTH } from '../domain/usage/usage.ts'
import { define } from '../http/contract/contract.ts'
import { day, id, success, timeZone } from '../http/contract/wire.ts'
import { nextCursor, pageQuery } from '../http/paging/page.ts'
import { METER_FORMATS } from './meterEvents.ts'

const count = z.int().min(0)

export const usage = z
  .object({
    from: day.meta({ description: 'The first day.', example: '2026-10-01' }),
    to: day.meta({ description: 'The last day.', example: '2026-10-31' }),
    timeZone: timeZone.meta({
      description: 'The zone of the days: the account’s, or that of when the month was closed.',
    }),
    closed: z.boolean().meta({
      description: 'Whether all days are of closed months: then the figures never change.',
    }),
    licenseDays: count.meta({
      description:
        'The sum over the days of the most licenses that were in use at the same time on a day.',
      example: 310,
    }),
    locations: count.meta({ example: 44_120 }),
    messages: z
      .object({
        email: count.meta({ description: 'E-mails.' }),
        sms: count.meta({ description: 'SMS.' }),
        smsSegments: count.meta({ description: 'What carriers charge for.' }),
        push: count.meta({ description: 'Notifications in browsers.' }),
        voice: count.meta({ description: 'Telephone calls.' }),
      })
      .meta({ description: 'Those that a provider has accepted, without those of tests.' }),
    providers: z
      .array(
        z.object({
          channel: z.enum(CHANNELS),
          provider: z.string().meta({ description: 'Who carried them.', example: 'twilio' }),
          messages: count.meta({ description: 'How many it has accepted.' }),
          segments: count.meta({ description: 'Of SMS; otherwise as many as messages.' }),
        }),
      )
      .meta({ description: 'The messages of each channel and provider.' }),
    storageBytes: count.meta({
      description: 'The mean of what was stored at the end of each day.',
      example: 2_480_000,
    }),
    requests: count.meta({ description: 'Requests with a token, and pushes of sources.' }),
    exact: z.array(z.enum(EXACT_MEMBERS)).meta({
      description:
        'The members that are exact, from the ledger of the account. The others are soft: what an isolate has counted and not yet written when it ends is missing.',
      example: ['licenseDays', 'messages'],
    }),
  })
  .meta({ id: 'Usage' })

const MAX_DAYS = 400
const format = <const F extends readonly string[]>(formats: F) =>
  z
    .enum(formats, `must be ${formats.slice(0, -1).join(', ')} or ${formats.at(-1)}`)
    .optional()
    .meta({
      description: 'The format of the reply. Default: what `Accept` prefers of JSON and CSV.',
    })

const spanQuery = z.strictObject({
  from: day.optional().meta({ description: 'The first day. Default: the first of the month.' }),
  to: day.optional().meta({ description: 'The last day. Default: today.' }),
  format: format(['json', 'csv']),
})

const CSV = {
  'text/csv':
    'RFC 4180, with a header. `providers` has the channel, provider, messages and segments of each, such as `Email resend 12 12; SMS twilio 3 5`.',
}
const CLOSED =
  'A month is closed about two days after its end and never changes again, also when the account’s time zone changes.'
export const SPAN_LIMIT = MAX_DAYS

export const readAccountUsage = define({
  id: 'readAccountUsage',
  tag: 'Account',
  summary: 'Read what the account has used',
  description: `What the account has used on the days of its time zone, both ends included, at most ${MAX_DAYS}. ${CLOSED}`,
  scope: 'read',
  wholeAccount: true,
  query: spanQuery,
  reply: usage.extend({ success }),
  formats: CSV,
})

const operator = { tag: 'Operator', scope: 'operator', right: 'usage' } as const

export const readOperatedUsage = define({
  id: 'readOperatedUsage',
  ...operator,
  summary: 'Read what an account has used',
  description: `For its invoice; of a deleted account too, until it is erased. At most ${MAX_DAYS} days. ${CLOSED}`,
  query: spanQuery,
  reply: usage.extend({ success }),
  formats: CSV,
  problems: ['account-not-found'],
})

export const listUsage = define({
  id: 'listUsage',
  ...operator,
  summary: 'Read what all accounts have used in a month',
  description: `Accounts that were deleted or erased since are listed too. ${CLOSED} A page has at most 100 accounts, whatever the format. \`stripe\` and \`lago\` give meter events, a line each, of closed months alone; the \`identifier\` (of Lago \`transaction_id\`) derives from the account, the month and the meter, so that an event that is sent again counts once.`,
  query: z.strictObject({
    ...pageQuery,
    month: z
      .string('must be a month, such as 2026-10')
      .regex(MONTH, 'must be a month, such as 2026-10')
      .meta({ description: 'The month, in the zone of each account.', example: '2026-10' }),
    format: format(['json', 'csv', ...METER_FORMATS]),
  }),
  reply: z.object({
    success,
    accounts: z
      .array(
        usage.extend({
          accountId: id('acc'),
          userName: z.string().nullable().meta({ description: 'Null once it is erased.' }),
          name: z.string().nullable(),
        }),
      )
      .meta({ description: 'The accounts, each with what it has used.' }),
    nextCursor,
  }),
  formats: { ...CSV, 'application/x-ndjson': 'Meter events, a JSON object in each line.' },
  problems: ['usage-month-open'],
})
