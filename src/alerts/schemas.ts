import * as z from 'zod'
import {
  ALERT_ACTIONS,
  ALERT_STATES,
  CHANNELS,
  MESSAGE_KINDS,
  POSITION_SOURCES,
  STATUSES,
} from '../domain/message/alert.ts'
import { MAX_UPDATES } from '../domain/message/emergency.ts'
import { PLACE_SOURCES } from '../domain/message/newestPlace.ts'
import { id, time } from '../http/contract/wire.ts'

/* An alert in replies. */

/** The members that a delivery and a message have in common. */
export const summary = z.object({
  id: id('msg').meta({ description: 'The message’s id.' }),
  kind: z.enum(MESSAGE_KINDS).meta({
    description:
      'Why the message is sent. Only `alert` and a `command` by SMS count against a device’s daily limits.',
  }),
  channel: z.enum(CHANNELS).meta({ description: 'How the message is sent.' }),
  to: z.string().meta({
    description:
      'An e-mail address, a phone number, or for `Push` the id of the browser’s push subscription.',
    example: 'ana@example.com',
  }),
  status: z.enum(STATUSES).meta({
    description:
      'What became of the message so far. `delivered` means that a receipt says so: of a notification that it was shown, of a call that a key was pressed.',
  }),
  reason: z
    .string()
    .nullable()
    .meta({ description: 'Why the message failed or was suppressed.', example: null }),
  resetAt: time.nullable().meta({
    description: 'When the device can send messages again, if the daily limit suppressed this one.',
    example: null,
  }),
})

const delivery = z
  .object({
    ...summary.shape,
    name: z.string().nullable().meta({
      description: 'The name of the user or emergency contact, where it is known.',
      example: 'Ana Silva',
    }),
    userId: id('usr').nullable().meta({
      description: 'The user to whom it goes; null for an emergency contact.',
    }),
    changedAt: time.meta({ description: 'When its status last changed.' }),
  })
  .meta({ id: 'Delivery' })

const person = {
  user: id('usr').optional().meta({ description: 'The user, if it is one.' }),
  contact: z
    .string()
    .optional()
    .meta({ description: 'The name of the emergency contact, if it is one.', example: 'Harbour' }),
  name: z.string().nullable().meta({
    description: 'The name of the user or contact, where it is known.',
    example: 'Ana Silva',
  }),
  channel: z.enum(CHANNELS).meta({ description: 'How the messages were sent.' }),
}

const drill = z
  .object({
    reached: z
      .array(
        z.object({
          ...person,
          seconds: z.int().meta({
            description: 'From raising it to the first message that arrived.',
            example: 7,
          }),
        }),
      )
      .meta({
        description:
          'Who was reached: a receipt says so, or the provider accepted a message and gives no receipts.',
      }),
    notReached: z
      .array(
        z.object({
          ...person,
          status: z.enum(STATUSES).meta({ description: 'The status of the last message.' }),
          reason: z.string().nullable().meta({ description: 'Why it failed.', example: null }),
        }),
      )
      .meta({ description: 'Who was not reached, or not yet.' }),
  })
  .meta({ id: 'Drill', description: 'Whom a test of the emergency chain reached, and how fast.' })

const place = z.string().nullable().meta({ example: '4.2 km NE of Porto' })

const newestPosition = z
  .object({
    latitude: z.number().meta({ description: 'Its latitude.', example: 38.7223 }),
    longitude: z.number().meta({ description: 'Its longitude.', example: -9.1393 }),
    dateTime: time.meta({ description: 'When the device was there.' }),
    source: z.enum(PLACE_SOURCES).meta({
      description:
        'Where it comes from: the alert itself, one of its `updates`, or the device’s last location.',
    }),
    place: place.meta({ description: 'The place in words, like `place` of the alert.' }),
  })
  .nullable()
  .optional()
  .meta({
    description:
      'The newest place that is known, in the reply with a single alert; null if none is.',
  })

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
    place: place.meta({
      description:
        'Its place in words, by a zone of the account or by the nearest town, as it was when the alert was raised; null where there is none, or no position.',
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
    test: z.boolean().meta({
      description: 'Whether it is a test of the emergency chain.',
      example: false,
    }),
    state: z.enum(ALERT_STATES).meta({
      description:
        '`acknowledged`: someone handles it. `resolved` and `cancelled`: it is over. Any of them can be reopened.',
      example: 'open',
    }),
    acknowledged: z.boolean().meta({ description: 'True in every state but `open`.' }),
    acknowledgedAt: time.nullable(),
    acknowledgedBy: z
      .string()
      .nullable()
      .meta({ description: 'The user whose key was used, or the key when it belongs to no user.' }),
    resolvedAt: time.nullable().meta({ description: 'When it was resolved.', example: null }),
    resolvedBy: z.string().nullable().meta({
      description: 'Who resolved it, like `acknowledgedBy`.',
      example: null,
    }),
    cancelled: z
      .boolean()
      .meta({ description: 'Whether it was called off as a false alarm.', example: false }),
    cancelledAt: time.nullable().meta({ description: 'When it was cancelled.', example: null }),
    cancelledBy: z.string().nullable().meta({
      description: 'Who cancelled it, like `acknowledgedBy`.',
      example: null,
    }),
    newestPosition,
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
          place: place.meta({ description: 'The place in words, like `place` of the alert.' }),
        }),
      )
      .meta({
        description: `Later emergencies of the same device and name that joined this one while it was open, in order of time: the newest ${MAX_UPDATES}.`,
        example: [],
      }),
    deliveries: z.array(delivery).meta({
      description: 'The messages by which the alert goes to people, repeated ones too.',
    }),
    log: z
      .array(
        z.object({
          at: time.meta({ description: 'When it happened.' }),
          action: z.enum(ALERT_ACTIONS).meta({ description: 'What happened.' }),
          by: z.string().nullable().meta({
            description: 'The user, key or source; null for what the service did by itself.',
            example: 'usr_1jn7wz3h4q8v2n5t7r6m0p',
          }),
          text: z.string().nullable().meta({
            description: 'A note, the number of an escalation’s round, or a reason.',
            example: 'Helicopter on its way.',
          }),
        }),
      )
      .optional()
      .meta({
        description:
          'What happened to the alert, the oldest first. Only in replies about one alert.',
      }),
    drill: drill.optional().meta({
      description: 'Only for a test of the emergency chain, in replies about one alert.',
    }),
  })
  .meta({ id: 'Alert' })
