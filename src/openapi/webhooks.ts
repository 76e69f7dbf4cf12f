import * as z from 'zod'
import { EVENT_TYPES } from '../domain/event/event.ts'
import { MEANINGS } from '../domain/event/meanings.ts'
import { MAX_EVENTS } from '../domain/event/webhook.ts'
import { EVENTS } from '../events/catalogue.ts'

/* The `webhooks` of the OpenAPI document: the calls to a receiver, one for each event type. */

const header = (name: string, description: string, example: string) =>
  z.string().meta({ description, example, param: { in: 'header', name, id: name } })

/** The headers of the Standard Webhooks scheme. */
const SIGNATURE_HEADERS = [
  header(
    'webhook-id',
    'The id of the delivery, the same for every attempt. Ignore a delivery that you have processed before.',
    'dlv_1jn7wz3h4q8v2n5t7r6m0p',
  ),
  header('webhook-timestamp', 'The time of this attempt in seconds since 1970.', '1794648600'),
  header(
    'webhook-signature',
    '`v1,` followed by the base64 of an HMAC-SHA256 with your secret over `webhook-id`, `webhook-timestamp` and the body, joined by dots. For 24 hours after a rotation of the secret there are two signatures, separated by a space.',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ),
]

const RESPONSES = {
  '2XX': {
    description:
      'Received. After any other reply, a redirect included, or no reply within 15 seconds, the call is tried again: ten times over about three days.',
  },
  '410': { description: 'No longer wanted: the webhook is disabled.' },
} as const

export const EVENT_WEBHOOKS = Object.fromEntries(
  EVENT_TYPES.map((type) => [
    type,
    {
      post: {
        operationId: `on.${type}`,
        tags: ['Webhooks'],
        summary: type,
        description: `${MEANINGS[type]}\n\nEvents arrive in sequence, up to ${MAX_EVENTS} in one call, together with the other types that the webhook receives.`,
        security: [],
        parameters: SIGNATURE_HEADERS,
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: z.object({
                events: z.array(EVENTS[type]).min(1).max(MAX_EVENTS),
                sandbox: z.literal(true).optional().meta({
                  description: 'Only from a sandbox.',
                }),
              }),
            },
          },
        },
        responses: RESPONSES,
      },
    },
  ]),
)
