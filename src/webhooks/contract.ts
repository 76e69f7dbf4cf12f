import * as z from 'zod'
import { checkPublicUrl } from '../domain/publicUrl.ts'
import { DISABLED_REASONS } from '../domain/webhook.ts'
import { MAX_FILTERED, patterns } from '../events/contract.ts'
import { define } from '../http/contract.ts'
import { nextCursor, pageQuery } from '../http/page.ts'
import { done, id, line, success, time } from '../http/wire.ts'

/** Loopback is refused by the route, which knows whether this is a development machine. */
const url = z
  .string('must be a URL')
  .superRefine((text, context) => {
    const finding = checkPublicUrl(text, true)
    if (!finding.ok) context.addIssue({ code: 'custom', message: finding.detail })
  })
  .meta({
    description:
      'Where events are brought: https and a public host name; no address, no user name, and redirects are not followed.',
    example: 'https://example.com/perigee',
  })

const unique = (given: string[]) => [...new Set(given)]
const ids = z
  .array(z.string('must be an id').max(64, 'must be an id'), 'must be a list of ids')
  .max(MAX_FILTERED, `must name at most ${MAX_FILTERED}`)
  .transform(unique)
  .default([])

const body = z.strictObject({
  url,
  events: patterns
    .min(1, 'must name at least one event type')
    .transform(unique)
    .default(['*'])
    .meta({
      description: 'Event types; `device.*` is all of a kind, `*` is all.',
      example: ['device.*', 'alert.raised'],
    }),
  devices: ids.meta({
    description:
      'Only events of these devices, or of devices in `groups`; empty for no such filter.',
    example: [],
  }),
  groups: ids.meta({
    description: 'Only events of devices in these groups, or of `devices`.',
    example: [],
  }),
  description: line(2000).default('').meta({ example: 'Dispatch' }),
  enabled: z.boolean('must be true or false').default(true),
})

export const webhook = z
  .object({
    id: id('whk'),
    url: z.string().meta({ example: 'https://example.com/perigee' }),
    events: z.array(z.string()).meta({ example: ['device.*', 'alert.raised'] }),
    devices: z.array(z.string()).meta({ example: [] }),
    groups: z.array(z.string()).meta({ example: [] }),
    description: z.string().meta({ example: 'Dispatch' }),
    enabled: z.boolean().meta({ example: true }),
    disabledReason: z.enum(DISABLED_REASONS).nullable().meta({
      description:
        'Why the service disabled it: the receiver answered 410 (`gone`) or failed for five days (`failing`).',
      example: null,
    }),
    creation: time,
    lastModified: time,
  })
  .meta({ id: 'Webhook' })

const secret = z.string().nullable().meta({
  description:
    'Signs the deliveries, by the Standard Webhooks scheme. It is in this reply alone: a replay of it has null.',
  example: 'whsec_…',
})

export const delivery = z
  .object({
    id: id('dlv').meta({ description: 'Also the header `webhook-id`, the same at each attempt.' }),
    status: z.enum(['pending', 'delivered', 'failed']).meta({ example: 'delivered' }),
    events: z.int().meta({ description: 'How many events it brings.', example: 1 }),
    firstSequence: z.int().nullable().meta({ description: 'Null for a test.', example: 42 }),
    lastSequence: z.int().nullable().meta({ example: 42 }),
    attempts: z.int().meta({ description: 'All that were made.', example: 1 }),
    attemptsByHand: z.int().meta({
      description:
        'How many of them somebody asked for. They are beside the ten that come by themselves, and take none of these away.',
      example: 0,
    }),
    responseCode: z
      .int()
      .nullable()
      .meta({ description: 'Of the last attempt; null where no answer came.', example: 204 }),
    failure: z.string().nullable().meta({
      description:
        'Why the last attempt failed: `status`, `redirect`, `timeout`, `unreachable`, `refused-url` or `disabled`.',
      example: null,
    }),
    durationMs: z
      .int()
      .nullable()
      .meta({ description: 'Of the last attempt; null while it is under way.', example: 87 }),
    answer: z
      .string()
      .nullable()
      .meta({ description: 'The first 1 KB of the last answer.', example: '' }),
    creation: time,
    lastAttempt: time.nullable(),
    nextAttempt: time.nullable().meta({ example: null }),
  })
  .meta({ id: 'WebhookDelivery' })

const reply = z.object({ success, webhook })
const shown = z.object({ success, webhook, secret })
const delivered = z.object({ success, delivery })
const WRITTEN = ['success', 'id', 'disabledReason', 'creation', 'lastModified'] as const
const tag = 'Webhooks'
const common = { tag, scope: 'admin', wholeAccount: true } as const

export const listWebhooks = define({
  id: 'listWebhooks',
  ...common,
  summary: 'List webhooks',
  query: z.strictObject(pageQuery),
  reply: z.object({ success, webhooks: z.array(webhook), nextCursor }),
})

export const createWebhook = define({
  id: 'createWebhook',
  ...common,
  summary: 'Make a webhook',
  description:
    'It is told of what happens from now on, in sequence, up to 100 events a call. An account has at most 50. The secret, `secret`, is in this reply alone.',
  body,
  wrapper: 'webhook',
  ignored: WRITTEN,
  status: 201,
  reply: shown,
  problems: ['webhook-cap-reached'],
  etag: true,
  idempotent: true,
  secrets: ['secret'],
})

export const readWebhook = define({
  id: 'readWebhook',
  ...common,
  summary: 'Read a webhook',
  reply,
  problems: ['not-found'],
  etag: true,
})

export const replaceWebhook = define({
  id: 'replaceWebhook',
  ...common,
  summary: 'Replace a webhook',
  description:
    'What is left out goes back to its default. Enabled again, it is told of what happens from then on.',
  body,
  wrapper: 'webhook',
  ignored: WRITTEN,
  reply,
  problems: ['not-found', 'conflict'],
  etag: true,
  ifMatch: true,
})

export const patchWebhook = define({
  id: 'patchWebhook',
  ...common,
  summary: 'Change a webhook',
  patches: replaceWebhook,
  example: { enabled: false },
  reply,
  problems: ['not-found', 'conflict'],
  etag: true,
  ifMatch: true,
})

export const deleteWebhook = define({
  id: 'deleteWebhook',
  ...common,
  summary: 'Delete a webhook',
  reply: done,
  problems: ['not-found'],
  ifMatch: true,
})

export const testWebhook = define({
  id: 'testWebhook',
  ...common,
  summary: 'Send a test',
  description:
    'Sends one signed event of type `webhook.test`, once, whether or not the webhook is enabled, and answers with what came of it within 15 seconds. The event is not in the log.',
  reply: delivered,
  problems: ['not-found'],
  idempotent: true,
})

export const rotateSecret = define({
  id: 'rotateSecret',
  ...common,
  summary: 'Replace the secret',
  description: 'The new secret signs at once, and the old one beside it for 24 hours.',
  reply: z.object({
    success,
    webhook,
    secret,
    previousUntil: time.meta({ description: 'Until then the old secret signs too.' }),
  }),
  problems: ['not-found'],
  idempotent: true,
  secrets: ['secret'],
})

export const listDeliveries = define({
  id: 'listDeliveries',
  ...common,
  summary: 'List deliveries',
  description: 'Newest first: the last 1,000 of the webhook, for 30 days.',
  query: z.strictObject(pageQuery),
  reply: z.object({ success, deliveries: z.array(delivery), nextCursor }),
  problems: ['not-found'],
})

export const redeliver = define({
  id: 'redeliver',
  ...common,
  summary: 'Deliver again',
  description:
    'Sends the same events with the same `webhook-id` once more, at once and whatever came of it before, and answers with what came of it within 15 seconds. One that was still waiting for its next attempt is done with when this one succeeds.',
  reply: delivered,
  problems: ['not-found', 'delivery-gone'],
  idempotent: true,
})
