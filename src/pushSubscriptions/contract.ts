import * as z from 'zod'
import { SCOPES_BUT_INGEST } from '../domain/account/scope.ts'
import { define } from '../http/contract/contract.ts'
import { done, id, publicUrl, success, time } from '../http/contract/wire.ts'

const tag = 'Sessions'
const NEEDS_USER = 'The token must be of a session, or of an API key that is bound to a user.'

export const MAX_SUBSCRIPTIONS_PER_USER = 10

const publicKey = z.string().meta({
  description: 'A point of P-256 in base64url, which browsers take as `applicationServerKey`.',
  example:
    'BATTY9DOUJIyLy17HVU7w0J9PpZl477VOp_B4RPs_rggotx5D2bKqbws5aN-ft2IsuMIgBhaJIh2LX-tFBtP0a0',
})

const endpoint = publicUrl.meta({
  description: 'The address of the browser at its push service: https, with a public host name.',
  example: 'https://push.example.com/v2/4fq1Zc',
})

/** Browsers leave out the padding of base64url. */
const base64url = (length: number) =>
  z
    .string('must be text')
    .regex(
      new RegExp(`^[A-Za-z0-9_-]{${length}}$`),
      `must have ${length} characters of base64url, without padding`,
    )

const body = z
  .strictObject({
    endpoint,
    expirationTime: z.number('must be a number').nullable().default(null).meta({
      description:
        'As the browser gives it. It is not used: push services say themselves when a subscription has ended.',
    }),
    keys: z
      .strictObject({
        p256dh: base64url(87).meta({
          description: 'The public key of the browser.',
          example:
            'BKvsycWypw37uNBVMB6nfu6-F6qUMqkHCYo_czHfh_NBS8fsZUCPNpVPcgdotwb5ehB_nb10xZuhkhEeJVuNuIY',
        }),
        auth: base64url(22).meta({
          description: 'The secret that browser and service share.',
          example: 'k7Zs1mQxR4vTnYc0WfLbPg',
        }),
      })
      .meta({ description: 'The keys with which messages are encrypted for the browser.' }),
  })
  .meta({ id: 'PushSubscriptionBody' })

const subscription = z
  .object({
    id: id('psh').meta({
      description: 'Its id, which is also the recipient of the messages that are sent to it.',
    }),
    endpoint: z.string().meta({
      description: 'The host of its push service. The rest of the address is a secret.',
      example: 'push.example.com',
    }),
    userAgent: z.string().meta({
      description: 'The browser, as it named itself.',
      example: 'Mozilla/5.0 (X11; Linux x86_64) Firefox/145.0',
    }),
    creation: time.meta({ description: 'When it was made.' }),
    current: z.boolean().meta({ description: 'Whether the session of this request has made it.' }),
  })
  .meta({ id: 'PushSubscription', description: 'A browser that gets notifications.' })

export const listPushSubscriptions = define({
  id: 'listPushSubscriptions',
  tag,
  summary: 'List the browsers that get notifications',
  description: `Those of the user of the token, the newest first. ${NEEDS_USER}`,
  scope: SCOPES_BUT_INGEST,
  reply: z
    .object({
      success,
      pushSubscriptions: z.array(subscription).meta({ description: 'The newest first.' }),
    })
    .meta({ id: 'PushSubscriptionList' }),
})

export const createPushSubscription = define({
  id: 'createPushSubscription',
  tag,
  summary: 'Turn notifications on in a browser',
  description: `Takes what \`PushSubscription.toJSON()\` of the browser gives, made with the key of \`GET /api/push/key\`. The same again changes nothing. A user has at most ${MAX_SUBSCRIPTIONS_PER_USER}: one more replaces the oldest. It ends when its session is ended, with a changed password, and when the user is disabled or deleted; not when the session expires. ${NEEDS_USER}`,
  scope: SCOPES_BUT_INGEST,
  body,
  status: 201,
  reply: z.object({ success, pushSubscription: subscription }),
  idempotent: true,
})

export const deletePushSubscription = define({
  id: 'deletePushSubscription',
  tag,
  summary: 'Turn notifications off in a browser',
  description: `Only for one of the user’s own. ${NEEDS_USER}`,
  scope: SCOPES_BUT_INGEST,
  reply: done,
  problems: ['subscription-not-found'],
})

export const readPushKey = define({
  id: 'readPushKey',
  tag,
  summary: 'Read the key that browsers subscribe with',
  description:
    'The public key of the service (VAPID). A browser whose subscription has another one subscribes anew.',
  scope: 'open',
  reply: z.object({ success, publicKey }),
})

export const rotatePushKey = define({
  id: 'rotatePushKey',
  tag: 'Operator',
  summary: 'Replace the key that browsers subscribe with',
  description:
    'Subscriptions keep the key that they were made with, and go on working. Within a minute `GET /api/push/key` gives the new one everywhere.',
  scope: 'operator',
  reply: z.object({ success, publicKey }),
  idempotent: true,
})
