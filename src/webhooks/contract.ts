import * as z from 'zod'
import { DISABLED_REASONS } from '../domain/event/webhook.ts'
import { OUTPUT_FORMATS } from '../domain/output/output.ts'
import { MAX_FILTERED, patterns } from '../events/contract.ts'
import { define } from '../http/contract/contract.ts'
import { id, line, success, time } from '../http/contract/wire.ts'
import { nextCursor, pageQuery } from '../http/paging/page.ts'
import { resource } from '../http/resource/contract.ts'
import { ABOUT_FORMAT, checkSettings, formatMembers, receiverUrl } from './forms.ts'

const url = receiverUrl.meta({
  description:
    'The receiver: an https URL with a public host name, without an IP address, user name or password; for the format `mqtt` a wss URL. Redirects are not followed.',
  example: 'https://example.com/perigee',
})

const unique = (list: string[]) => [...new Set(list)]
const ids = z
  .array(
    z.string('must be an id').max(64, 'must be an id: text of at most 64 characters'),
    'must be a list of ids',
  )
  .max(MAX_FILTERED, `must have at most ${MAX_FILTERED} ids`)
  .transform(unique)
  .default([])

const body = z
  .strictObject({
    url,
    events: patterns
      .min(1, 'must have at least one event type')
      .transform(unique)
      .default(['*'])
      .meta({
        description:
          'Event types to deliver. `device.*` stands for all types of a kind, `*` for all types.',
        example: ['device.*', 'alert.raised'],
      }),
    devices: ids.meta({
      description:
        'Deliver only events of these devices and of devices in `groups`. If both lists are empty, events are not filtered by device.',
      example: [],
    }),
    groups: ids.meta({
      description: 'Deliver only events of devices in these groups and of `devices`.',
      example: [],
    }),
    description: line(2000).default('').meta({ example: 'Dispatch' }),
    enabled: z.boolean('must be true or false').default(true),
    ...formatMembers,
  })
  .superRefine(checkSettings)
  .meta({ id: 'WebhookBody' })

export const webhook = z
  .object({
    id: id('whk'),
    url: z.string().meta({ format: 'uri', example: 'https://example.com/perigee' }),
    events: z.array(z.string()).meta({ example: ['device.*', 'alert.raised'] }),
    devices: z.array(z.string()).meta({ example: [] }),
    groups: z.array(z.string()).meta({ example: [] }),
    description: z.string().meta({ example: 'Dispatch' }),
    enabled: z.boolean().meta({ example: true }),
    disabledReason: z.enum(DISABLED_REASONS).nullable().meta({
      description:
        'Why the service disabled the webhook: the receiver replied 410 (`gone`) or failed for five days (`failing`).',
      example: null,
    }),
    format: z.enum(OUTPUT_FORMATS).meta({ description: ABOUT_FORMAT, example: 'json' }),
    settings: z.record(z.string(), z.union([z.string(), z.number(), z.null()])).meta({
      description: 'Settings of the format; null where none is set. `token` is always null.',
      example: {},
    }),
    creation: time,
    lastModified: time,
  })
  .meta({ id: 'Webhook' })

const secret = z.string().nullable().meta({
  description:
    'Signs the deliveries (Standard Webhooks scheme). Only this reply shows it; a replay by `Idempotency-Key` has null.',
  example: 'whsec_…',
})

export const delivery = z
  .object({
    id: id('dlv').meta({
      description: 'Also sent as the header `webhook-id`, the same with each attempt.',
    }),
    status: z.enum(['pending', 'delivered', 'failed']).meta({ example: 'delivered' }),
    events: z.int().meta({ description: 'The number of events in the delivery.', example: 1 }),
    firstSequence: z.int().nullable().meta({
      description: 'The `sequence` of its first event; null for a test.',
      example: 42,
    }),
    lastSequence: z.int().nullable().meta({
      description: 'The `sequence` of its last event; null for a test.',
      example: 42,
    }),
    attempts: z.int().meta({ description: 'All attempts, scheduled and manual.', example: 1 }),
    attemptsByHand: z.int().meta({
      description:
        'How many of the attempts were requested. They do not count towards the ten scheduled attempts.',
      example: 0,
    }),
    responseCode: z.int().nullable().meta({
      description: 'The status of the last response; null if there was none.',
      example: 204,
    }),
    failure: z.string().nullable().meta({
      description:
        'Why the last attempt failed: `status`, `redirect`, `timeout`, `unreachable`, `unconfirmed`, `refused-url` or `disabled`.',
      example: null,
    }),
    durationMs: z.int().nullable().meta({
      description: 'How long the last attempt took; null while it is in progress.',
      example: 87,
    }),
    answer: z
      .string()
      .nullable()
      .meta({ description: 'The first 1 KB of the last response body.', example: '' }),
    creation: time,
    lastAttempt: time.nullable(),
    nextAttempt: time.nullable().meta({ example: null }),
  })
  .meta({ id: 'WebhookDelivery' })

const deliveryReply = z.object({ success, delivery })
const common = { tag: 'Webhooks', scope: 'admin', wholeAccount: true } as const

export const webhooks = resource({
  name: 'webhook',
  tag: 'Webhooks',
  reading: common,
  writing: common,
  schema: webhook,
  body,
  shownOnce: { secret },
  create: {
    description:
      'The webhook receives events from now on, in sequence, up to 100 in a call. An account can have at most 50 webhooks. Only this reply shows the `secret`.',
    problems: ['webhook-cap-reached'],
  },
  replace: {
    description:
      'Members that are left out return to their defaults. A webhook that is enabled again receives events from then on; the events that it missed are in `GET /api/events`.',
  },
  patch: { example: { enabled: false } },
})

export const testWebhook = define({
  id: 'testWebhook',
  ...common,
  summary: 'Send a test event',
  description:
    'Sends one signed event of type `webhook.test`, even if the webhook is disabled, and replies with the result. The receiver has 15 seconds to answer; the call waits up to 10 seconds, then fails with 503, while too many others of the account are under way. There are no further attempts, and the event is not in the log. In a format for positions it sends where one of the devices is.',
  reply: deliveryReply,
  problems: ['webhook-not-found', 'no-location'],
  idempotent: true,
})

export const rotateSecret = define({
  id: 'rotateSecret',
  ...common,
  summary: 'Replace the secret',
  ignoresStorage: true,
  description:
    'The new secret signs from now on. The old one signs as well for 24 hours. A program that acts for a user by OAuth, and the operator’s support, cannot replace it (403).',
  reply: z.object({
    success,
    webhook,
    secret,
    previousUntil: time.meta({ description: 'Until when the old secret signs as well.' }),
  }),
  problems: ['webhook-not-found'],
  idempotent: true,
  secrets: ['secret'],
})

export const listDeliveries = define({
  id: 'listDeliveries',
  ...common,
  summary: 'List deliveries',
  description: 'Newest first. The last 1,000 deliveries of a webhook are kept, for 30 days.',
  query: z.strictObject(pageQuery),
  reply: z.object({ success, deliveries: z.array(delivery), nextCursor }),
  problems: ['webhook-not-found'],
})

export const redeliver = define({
  id: 'redeliver',
  ...common,
  summary: 'Repeat a delivery',
  description:
    'Sends the same events with the same `webhook-id` again, whatever the status of the delivery, and replies with the result. The receiver has 15 seconds to answer; the call waits up to 10 seconds, then fails with 503, while too many others of the account are under way. If it succeeds, a pending delivery has no further attempts.',
  reply: deliveryReply,
  problems: ['webhook-not-found', 'delivery-not-found', 'delivery-gone', 'no-location'],
  idempotent: true,
})
