import * as z from 'zod'
import {
  CHANNELS,
  MAX_RECIPIENTS,
  MAX_SPAN_ALERTS,
  MESSAGE_KINDS,
  POSITION_SOURCES,
  STATUSES,
} from '../domain/message/alert.ts'
import { MAX_UPDATES } from '../domain/message/emergency.ts'
import { define } from '../http/contract/contract.ts'
import { id, instantInUrl, success, time } from '../http/contract/wire.ts'
import { nextCursor, pageQuery } from '../http/paging/page.ts'
import { isInOrder, OUT_OF_ORDER } from '../http/paging/rangeQuery.ts'
import { type AlertsBody, alertName, forms, readBody, sort } from './forms.ts'

export const delivery = z
  .object({
    id: id('msg').meta({ description: 'The message’s id.' }),
    kind: z.enum(MESSAGE_KINDS).meta({
      description:
        'Why the message is sent. Only `alert` and a `command` by SMS count against a device’s daily limits.',
    }),
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
    positionTime: time.nullable().meta({
      description: 'When the position was taken; null if there is none or that is not known.',
    }),
    positionSource: z.enum(POSITION_SOURCES).meta({
      description:
        'Whether the alert came with its position, has the device’s last known one, which may be old, or none.',
    }),
    text: z.string().meta({ example: 'Man overboard' }),
    alerts: z.array(z.string()).meta({ description: 'The alert’s name.', example: ['SOSButton'] }),
    emergency: z.boolean().meta({
      description:
        'Whether it is an emergency: by its name (`emergencyAlerts` of the account), or because its raiser said so.',
      example: true,
    }),
    late: z.boolean().meta({
      description: 'Whether its `dateTime` is more than an hour before its arrival.',
      example: false,
    }),
    ruleId: id('rul').optional().meta({ description: 'The rule that raised it, if one did.' }),
    zoneId: id('zon').optional().meta({ description: 'The zone that it is about, if any.' }),
    notifications: z
      .array(z.enum(CHANNELS))
      .meta({ description: 'The channels by which messages are actually sent.' }),
    acknowledged: z.boolean(),
    acknowledgedAt: time.nullable(),
    acknowledgedBy: z
      .string()
      .nullable()
      .meta({ description: 'The user whose key was used, or the key when it belongs to no user.' }),
    cancelled: z
      .boolean()
      .meta({ description: 'Whether it was called off as a false alarm.', example: false }),
    cancelledAt: time.nullable().meta({ description: 'When it was cancelled.', example: null }),
    cancelledBy: z.string().nullable().meta({
      description: 'Who cancelled it, like `acknowledgedBy`.',
      example: null,
    }),
    updates: z
      .array(
        z.object({
          dateTime: time.meta({ description: 'When the later emergency happened.' }),
          latitude: z
            .number()
            .nullable()
            .meta({ description: 'Its latitude; null if it came without a place.', example: 38.7 }),
          longitude: z.number().nullable().meta({
            description: 'Its longitude; null if it came without a place.',
            example: -9.1,
          }),
        }),
      )
      .meta({
        description: `Later emergencies of the same device and name that joined this one while it was open, in order of time: the newest ${MAX_UPDATES}.`,
        example: [],
      }),
    deliveries: z.array(delivery).meta({
      description: 'The messages by which the alert goes to people, repeated ones too.',
    }),
  })
  .meta({ id: 'Alert' })

const reply = z.object({ success, alert })
const page = z.object({ success, alerts: z.array(alert), nextCursor })
const tag = 'Alerts'

export const postAlerts = define({
  id: 'postAlerts',
  tag,
  summary: 'Raise an alert, or query a device’s alerts',
  ignoresStorage: true,
  description: `A body with \`alert\`, or with the members of an alert, raises it (scope \`ingest\` or \`write\`). The alert is stored and sent to the users of the account who can see the device and want messages by that channel, within the device’s daily limits.

An emergency of the same device and name within an hour of one that is still open (neither acknowledged nor cancelled) joins it: the reply has the open one, with the new place in \`updates\`, and no new message is sent. An emergency that reaches nobody is told to the account’s administrators and emergency contacts. So is an emergency of an expired device, at most one in ten minutes; other alerts of an expired device are refused.

A body with \`from\`, \`to\` or both, and without an alert, is a query (scope \`read\`); its reply is 200, both ends of the span included. Without \`limit\` and \`cursor\` it has the whole span, streamed, of at most ${MAX_SPAN_ALERTS.toLocaleString('en')} alerts; a failure while it is sent aborts the reply, which then is not complete JSON. An account may have three long exports and queries running at a time; a fourth is a 429. With \`limit\` or \`cursor\` it has one page.`,
  scope: ['ingest', 'read', 'write'],
  scopeFor: ({ kind }: AlertsBody) => (kind === 'query' ? 'read' : ['ingest', 'write']),
  body: z.union([forms.wrapped, forms.bare, forms.since, forms.until]),
  read: readBody,
  ignored: ['success', 'nextCursor', 'recipientsOmitted', 'warning'],
  status: 201,
  reply: z.object({
    success,
    alert,
    recipientsOmitted: z
      .int()
      .optional()
      .meta({
        description: `How many users get no message because an alert goes to at most ${MAX_RECIPIENTS}. Administrators are left out last, emergency contacts never. Absent when nobody is left out.`,
        example: 12,
      }),
    warning: z.string().optional().meta({
      description:
        'Only for an emergency for which no message is sent: the reason, and whether administrators and emergency contacts are notified instead.',
      example: 'No message is sent for this SOS: …',
    }),
  }),
  alternateReply: { status: 200, reply: page },
  problems: [
    'device-not-found',
    'device-expired',
    'storage-full',
    'invalid-cursor',
    'span-too-large',
  ],
  etag: true,
  idempotent: ({ kind }: AlertsBody) => kind === 'raise',
  example: {
    alert: { alertName: 'SOSButton', text: 'Man overboard', latitude: 38.7223, longitude: -9.1393 },
  },
})

const flag = z
  .enum(['true', 'false'], 'must be true or false')
  .transform((text) => text === 'true')
  .optional()

const listQuery = (order: 'dateTime' | '-dateTime') =>
  z
    .strictObject({
      ...pageQuery,
      from: instantInUrl.optional(),
      to: instantInUrl.optional(),
      alertName: alertName.optional(),
      acknowledged: flag.meta({
        description: 'Only alerts that are acknowledged, or only those that are not.',
      }),
      emergency: flag.meta({ description: 'Only emergencies, or only other alerts.' }),
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
  problems: ['device-not-found'],
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
  problems: ['alert-not-found'],
  etag: true,
})

export const acknowledgeAlert = define({
  id: 'acknowledgeAlert',
  tag,
  summary: 'Acknowledge an alert',
  ignoresStorage: true,
  description:
    'Records who acknowledged the alert and when. Only the first acknowledgement counts; later ones change nothing.',
  scope: 'write',
  reply,
  problems: ['alert-not-found'],
  etag: true,
  idempotent: true,
})

export const cancelAlert = define({
  id: 'cancelAlert',
  tag,
  summary: 'Cancel an alert',
  ignoresStorage: true,
  description:
    'For a false alarm. Also acknowledges the alert, and tells everyone who was sent a message about it. Only the first cancellation counts; later ones change nothing.',
  scope: 'write',
  reply,
  problems: ['alert-not-found'],
  etag: true,
  idempotent: true,
})
