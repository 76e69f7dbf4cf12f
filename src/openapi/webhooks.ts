import * as z from 'zod'
import { EVENT_TYPES } from '../domain/event.ts'
import { MAX_EVENTS } from '../domain/webhook.ts'
import { EVENTS, MEANINGS } from '../events/catalogue.ts'

/* The catalogue of events as the OpenAPI document's `webhooks`: what a receiver is called with. For scripts and tests alone. */

const header = (name: string, description: string, example: string) =>
  z.string().meta({ description, example, param: { in: 'header', name, id: name } })

/** By the Standard Webhooks scheme. */
const SIGNED = [
  header(
    'webhook-id',
    'The id of the delivery, the same at each attempt: who has seen it need not act on it again.',
    'dlv_1jn7wz3h4q8v2n5t7r6m0p',
  ),
  header('webhook-timestamp', 'When this attempt was made, in seconds since 1970.', '1794648600'),
  header(
    'webhook-signature',
    '`v1,` and the base64 of an HMAC-SHA256, with your secret, of `webhook-id`, `webhook-timestamp` and the body, joined by dots; two of them, with a space between, for 24 hours after the secret was rotated.',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ),
]

const RESPONSES = {
  '2XX': {
    description:
      'Taken. Anything else, a redirect too, and no answer in 15 seconds, is tried again: ten times over about three days.',
  },
  '410': { description: 'Wanted no more: the webhook is disabled.' },
} as const

export const EVENT_WEBHOOKS = Object.fromEntries(
  EVENT_TYPES.map((type) => [
    type,
    {
      post: {
        operationId: `on.${type}`,
        tags: ['Webhooks'],
        summary: type,
        description: `${MEANINGS[type]}\n\nEvents come in sequence, up to ${MAX_EVENTS} in one call; those of other types that the webhook asks for stand among them.`,
        security: [],
        parameters: SIGNED,
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: z.object({ events: z.array(EVENTS[type]).min(1).max(MAX_EVENTS) }),
            },
          },
        },
        responses: RESPONSES,
      },
    },
  ]),
)
