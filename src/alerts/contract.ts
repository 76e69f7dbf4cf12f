import * as z from 'zod'
import { CHANNELS, STATUSES } from '../domain/alert.ts'
import { isObject } from '../domain/json.ts'
import { isPlausible, NUMBERS } from '../domain/location.ts'
import { define } from '../http/contract.ts'
import { MAX_ROWS, nextCursor, pageQuery } from '../http/page.ts'
import { id, instant, instantInUrl, line, success, time } from '../http/wire.ts'

const CHANNEL = 'must be Email or SMS'

const degrees = ({ least, most, about }: (typeof NUMBERS)['latitude' | 'longitude']) =>
  z
    .number('must be a number')
    .min(least, `must be at least ${least}`)
    .max(most, `must be at most ${most}`)
    .overwrite((value) => value + 0)
    .nullable()
    .default(null)
    .meta({ description: `${about} The last location’s, unless given.` })

const alertName = line(64).trim().min(1, 'must not be empty').meta({
  description:
    '`SOSButton`, `LowBattery`, `SpeedLimit`, `Offline`, `ForbiddenArea`, … or one of your own.',
  example: 'SOSButton',
})

const WRITTEN = [
  'id',
  'deviceId',
  'alerts',
  'acknowledged',
  'acknowledgedAt',
  'acknowledgedBy',
  'deliveries',
] as const
const written = z
  .unknown()
  .optional()
  .meta({ description: 'Written by the server: accepted and ignored.' })

const newAlert = z
  .strictObject({
    alertName,
    text: line(2000).default('').meta({ example: 'Man overboard' }),
    dateTime: instant
      .refine(
        (at) => isPlausible(at, Date.now()),
        'must not be before 2000 nor more than 10 minutes in the future',
      )
      .optional()
      .meta({ description: 'Now, unless given.' }),
    latitude: degrees(NUMBERS.latitude),
    longitude: degrees(NUMBERS.longitude),
    notifications: z
      .array(z.enum(CHANNELS, CHANNEL), 'must be a list of channels')
      .max(CHANNELS.length, 'must not repeat itself')
      .default([...CHANNELS])
      .transform((given) => CHANNELS.filter((channel) => given.includes(channel)))
      .meta({
        description: 'By which channels its recipients are told; an empty list only stores it.',
      }),
    ...(Object.fromEntries(WRITTEN.map((member) => [member, written])) as {
      [N in (typeof WRITTEN)[number]]: typeof written
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
        message: `is required beside ${given}`,
        input: value,
      })
    }
  })
  .meta({ id: 'NewAlert' })
export type NewAlert = z.output<typeof newAlert>

const inOrder = { error: 'must not be after to', path: ['from'] }
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
    .refine(isInOrder, inOrder)
    .transform((query) => ({ kind: 'query' as const, ...query })),
  /** An alert is raised even beside the members of a query. */
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
    id: id('msg'),
    channel: z.enum(CHANNELS),
    to: z.string().meta({ example: 'ana@example.com' }),
    status: z.enum(STATUSES),
    reason: z
      .string()
      .nullable()
      .meta({ description: 'Why it failed or was held back.', example: null }),
    resetAt: time.nullable().meta({
      description: 'When messages go out again, where the daily limit held it back.',
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
      .meta({ description: 'Channels by which messages really go out.' }),
    acknowledged: z.boolean(),
    acknowledgedAt: time.nullable(),
    acknowledgedBy: z
      .string()
      .nullable()
      .meta({ description: 'The user whose key it was, or else the key.' }),
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
    'With `alert`, or the members of one, it is raised (scope `ingest` or `write`): stored, and sent to the users of the account who may see the device and want that channel, as far as the device’s daily limits allow. With `from` and `to` it is a query (scope `read`), answered with 200 like the `GET`.',
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
      description: 'For an SOS about which no message goes out at all: why not.',
      example: 'No message goes out: …',
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
    .refine(isInOrder, inOrder)

export const listDeviceAlerts = define({
  id: 'listDeviceAlerts',
  tag,
  summary: 'List a device’s alerts',
  description: 'By their `dateTime`, ascending unless said otherwise, both ends included.',
  scope: 'read',
  query: listQuery('dateTime'),
  reply: page,
  problems: ['not-found'],
})

export const listAlerts = define({
  id: 'listAlerts',
  tag,
  summary: 'List the account’s alerts',
  description: 'By their `dateTime`, newest first unless said otherwise.',
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
  description: 'Writes down who did, and when. The first one counts; later ones change nothing.',
  scope: 'write',
  reply,
  problems: ['not-found'],
  etag: true,
  idempotent: true,
})
