import * as z from 'zod'
import { CHANNELS, STATUSES } from '../domain/alert.ts'
import { isObject } from '../domain/json.ts'
import { isPlausible, NUMBER_FIELDS } from '../domain/location.ts'
import { define } from '../http/contract.ts'
import { MAX_ROWS, nextCursor, pageQuery } from '../http/page.ts'
import { id, instant, instantInUrl, line, success, time } from '../http/wire.ts'

const degrees = ({ min, max, description }: (typeof NUMBER_FIELDS)['latitude' | 'longitude']) =>
  z
    .number('must be a number')
    .min(min, `must be at least ${min}`)
    .max(max, `must be at most ${max}`)
    .overwrite((value) => value + 0)
    .nullable()
    .default(null)
    .meta({ description: `${description} Default: that of the device’s last location.` })

const alertName = line(64).trim().min(1, 'must not be empty').meta({
  description:
    '`SOSButton`, `LowBattery`, `SpeedLimit`, `Offline`, `ForbiddenArea`, … or your own name.',
  example: 'SOSButton',
})

/** Members that the server sets. */
const SERVER_MEMBERS = [
  'id',
  'deviceId',
  'alerts',
  'acknowledged',
  'acknowledgedAt',
  'acknowledgedBy',
  'deliveries',
] as const
const ignored = z
  .unknown()
  .optional()
  .meta({ description: 'Set by the server: accepted and ignored.' })

const newAlert = z
  .strictObject({
    alertName,
    text: line(2000).default('').meta({ example: 'Man overboard' }),
    dateTime: instant
      .refine(
        (at) => isPlausible(at, Date.now()),
        'must not be before the year 2000 or more than 10 minutes in the future',
      )
      .optional()
      .meta({ description: 'Default: now.' }),
    latitude: degrees(NUMBER_FIELDS.latitude),
    longitude: degrees(NUMBER_FIELDS.longitude),
    notifications: z
      .array(z.enum(CHANNELS, 'must be Email or SMS'), 'must be a list of channels')
      .max(CHANNELS.length, `must have at most ${CHANNELS.length} channels`)
      .default([...CHANNELS])
      .transform((given) => CHANNELS.filter((channel) => given.includes(channel)))
      .meta({
        description:
          'The channels to send messages by. With an empty list the alert is only stored.',
      }),
    ...(Object.fromEntries(SERVER_MEMBERS.map((member) => [member, ignored])) as {
      [N in (typeof SERVER_MEMBERS)[number]]: typeof ignored
    }),
  })
  .check(({ value, issues }) => {
    for (const [given, missing] of [
      ['latitude', 'longitude'],
      ['longitude', 'latitude'],
    ] as const) {
      if (value[given] === null || value[missing] !== null) continue
      issues.push({
        code: 'custom',
        path: [missing],
        message: `is required with ${given}`,
        input: value,
      })
    }
  })
  .meta({ id: 'NewAlert' })
export type NewAlert = z.output<typeof newAlert>

const OUT_OF_ORDER = { error: 'must not be after to', path: ['from'] }
const isInOrder = ({ from, to }: { from?: number | undefined; to?: number | undefined }) =>
  from === undefined || to === undefined || from <= to

const sort = (fallback: 'dateTime' | '-dateTime') =>
  z.enum(['dateTime', '-dateTime'], 'must be dateTime or -dateTime').default(fallback)

const forms = {
  query: z
    .strictObject({
      from: instant.optional(),
      to: instant.optional(),
      alertName: alertName.optional(),
      sort: sort('dateTime'),
      limit: z
        .int('must be a whole number')
        .min(1, 'must be at least 1')
        .max(MAX_ROWS, `must be at most ${MAX_ROWS}`)
        .default(MAX_ROWS),
      cursor: pageQuery.cursor,
    })
    .refine(isInOrder, OUT_OF_ORDER)
    .transform((query) => ({ kind: 'query' as const, ...query })),
  /** A body with an alert raises it even when it has the members of a query. */
  wrapped: z
    .strictObject({ alert: newAlert, from: z.unknown().optional(), to: z.unknown().optional() })
    .transform(({ alert }) => ({ kind: 'raise' as const, alert })),
  bare: newAlert.transform((alert) => ({ kind: 'raise' as const, alert })),
}
type AlertsBody = z.output<(typeof forms)['query' | 'bare']>

const formOf = (body: unknown) => {
  if (!isObject(body)) return forms.bare
  if (Object.hasOwn(body, 'alert')) return forms.wrapped
  return Object.hasOwn(body, 'from') || Object.hasOwn(body, 'to') ? forms.query : forms.bare
}

export const delivery = z
  .object({
    id: id('msg').meta({ description: 'The message’s id.' }),
    channel: z.enum(CHANNELS).meta({ description: 'How the message is sent.' }),
    to: z
      .string()
      .meta({ description: 'An e-mail address or a phone number.', example: 'ana@example.com' }),
    status: z.enum(STATUSES).meta({ description: 'What became of the message so far.' }),
    reason: z
      .string()
      .nullable()
      .meta({ description: 'Why the message failed or was suppressed.', example: null }),
    resetAt: time.nullable().meta({
      description:
        'When the device can send messages again, if the daily limit suppressed this one.',
      example: null,
    }),
  })
  .meta({ id: 'Delivery' })

export const alert = z
  .object({
    id: id('alr'),
    deviceId: id('dev'),
    dateTime: time,
    latitude: z.number().nullable().meta({ example: 38.7223 }),
    longitude: z.number().nullable().meta({ example: -9.1393 }),
    text: z.string().meta({ example: 'Man overboard' }),
    alerts: z.array(z.string()).meta({ description: 'The alert’s name.', example: ['SOSButton'] }),
    notifications: z
      .array(z.enum(CHANNELS))
      .meta({ description: 'The channels by which messages are actually sent.' }),
    acknowledged: z.boolean(),
    acknowledgedAt: time.nullable(),
    acknowledgedBy: z
      .string()
      .nullable()
      .meta({ description: 'The user whose key was used, or the key when it belongs to no user.' }),
    deliveries: z.array(delivery),
  })
  .meta({ id: 'Alert' })

const reply = z.object({ success, alert })
const page = z.object({ success, alerts: z.array(alert), nextCursor })
const tag = 'Alerts'

export const postAlerts = define({
  id: 'postAlerts',
  tag,
  summary: 'Raise an alert, or query a device’s alerts',
  description:
    'A body with `alert`, or with the members of an alert, raises it (scope `ingest` or `write`). The alert is stored and sent to the users of the account who can see the device and want messages by that channel, within the device’s daily limits. A body with `from` and `to` is a query (scope `read`); its reply is 200, like that of `GET`.',
  scope: ['ingest', 'read', 'write'],
  scopeFor: ({ kind }: AlertsBody) => (kind === 'query' ? 'read' : ['ingest', 'write']),
  body: z.union([forms.wrapped, forms.bare, forms.query]),
  read: (body) => formOf(body).safeParse(body) as z.ZodSafeParseResult<AlertsBody>,
  ignored: ['success', 'nextCursor', 'warning'],
  status: 201,
  reply: z.object({
    success,
    alert,
    warning: z.string().optional().meta({
      description: 'Only for an SOS for which no message is sent: the reason.',
      example: 'No message is sent for this SOS: …',
    }),
  }),
  alternateReply: { status: 200, reply: page },
  problems: ['not-found', 'device-expired', 'invalid-cursor'],
  etag: true,
  idempotent: ({ kind }: AlertsBody) => kind === 'raise',
  example: {
    alert: { alertName: 'SOSButton', text: 'Man overboard', latitude: 38.7223, longitude: -9.1393 },
  },
})

const listQuery = (order: 'dateTime' | '-dateTime') =>
  z
    .strictObject({
      ...pageQuery,
      from: instantInUrl.optional(),
      to: instantInUrl.optional(),
      alertName: alertName.optional(),
      sort: sort(order),
    })
    .refine(isInOrder, OUT_OF_ORDER)

export const listDeviceAlerts = define({
  id: 'listDeviceAlerts',
  tag,
  summary: 'List a device’s alerts',
  description: 'In order of `dateTime`, ascending by default, both ends of the span included.',
  scope: 'read',
  query: listQuery('dateTime'),
  reply: page,
  problems: ['not-found'],
})

export const listAlerts = define({
  id: 'listAlerts',
  tag,
  summary: 'List the account’s alerts',
  description: 'In order of `dateTime`, newest first by default.',
  scope: 'read',
  query: listQuery('-dateTime'),
  reply: page,
})

export const readAlert = define({
  id: 'readAlert',
  tag,
  summary: 'Read an alert',
  scope: 'read',
  reply,
  problems: ['not-found'],
  etag: true,
})

export const acknowledgeAlert = define({
  id: 'acknowledgeAlert',
  tag,
  summary: 'Acknowledge an alert',
  description:
    'Records who acknowledged the alert and when. Only the first acknowledgement counts; later ones change nothing.',
  scope: 'write',
  reply,
  problems: ['not-found'],
  etag: true,
  idempotent: true,
})
