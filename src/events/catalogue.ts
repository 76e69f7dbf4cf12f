import * as z from 'zod'
import { EVENT_TYPES, type EventType } from '../domain/event/event.ts'
import { MEANINGS } from '../domain/event/meanings.ts'
import { CHANNELS, POSITION_SOURCES, SUPPRESSED_REASONS } from '../domain/message/alert.ts'
import { UNDELIVERED_REASONS } from '../domain/message/emergency.ts'
import { WATCH_COUNTS, WATCH_STATES } from '../domain/watch/watch.ts'
import { day, id, time } from '../http/contract/wire.ts'
import { location } from '../locations/forms.ts'

/* Every type of event, with the schema of its `data`. */

const deviceId = id('dev')
const name = z.string().meta({ example: 'Tern 7' })
const device = z.object({ deviceId, name })
const channel = z.enum(CHANNELS)
const alertId = id('alr')
const test = z
  .literal(true)
  .optional()
  .meta({ description: 'Only for a test of the emergency chain.' })
const alertName = z.string().meta({ description: 'The alert’s name.', example: 'SOSButton' })
const NOT_SENT =
  'How many are not sent because the account has reached its `dailyNoticeLimit` or its budget of messages.'
const author = z.string().meta({
  description: 'The user whose key was used, or the key when it belongs to no user.',
  example: 'usr_1jn7wz3h4q8v2n5t7r6m0p',
})
const note = z.string().nullable().meta({
  description: 'The note. Null without one, and once the device is deleted.',
  example: 'Helicopter on its way.',
})
const notices = {
  notices: z.int().meta({ description: 'How many notices are sent.', example: 3 }),
  noticesSuppressed: z.int().meta({ description: NOT_SENT, example: 0 }),
}
const resetAt = time.meta({ description: 'When the device can send messages again.' })
const licenses = z.object({
  used: z.int().meta({ example: 10 }),
  total: z.int().meta({ example: 10 }),
})
const message = z.object({
  deviceId: deviceId.optional(),
  messageId: id('msg'),
  alertId: alertId.optional().meta({ description: 'The alert; absent for a command.' }),
  commandId: id('cmd').optional().meta({ description: 'The command; absent for an alert.' }),
  test,
  channel,
})

const ruleId = id('rul').meta({ description: 'The rule.' })
const crossing = z.object({
  deviceId,
  ruleId,
  zoneId: id('zon').nullable().meta({ description: 'The zone.' }),
  dateTime: time.meta({ description: 'The time of the location.' }),
})
const silence = z.object({
  deviceId,
  ruleId,
  lastContact: time.meta({ description: 'The latest arrival of anything from the device.' }),
})

const watch = z.object({
  deviceId,
  watchId: id('wat').meta({ description: 'The watch.' }),
  nextDue: time.meta({ description: 'By when the check-in is, or was, due.' }),
})

const DATA = {
  'device.created': device,
  'device.updated': device,
  'device.deleted': device,
  'device.restored': device,
  'device.expired': device.extend({ expirationDate: day }),
  'device.reactivated': device.partial().extend({
    devices: z.int().optional().meta({
      description:
        'How many devices became active at once, when a change of the account’s time zone was the cause.',
    }),
    timeZone: z
      .string()
      .optional()
      .meta({ description: 'The new time zone of the account, in that case.' }),
  }),
  'location.reported': z.object({
    deviceId,
    dateTime: time,
    count: z.int().meta({ description: 'How many locations of the report were new.', example: 1 }),
    location: location
      .nullable()
      .meta({ description: 'The newest of them; null once that location is erased.' }),
  }),
  'alert.raised': z.object({
    deviceId,
    alertId,
    test,
    alertName: z.string().meta({ example: 'SOSButton' }),
    text: z.string().nullable().meta({
      description: 'Null, like the coordinates, once the device is deleted.',
      example: 'Man overboard',
    }),
    dateTime: time,
    latitude: z.number().nullable().meta({ example: 38.7223 }),
    longitude: z.number().nullable().meta({ example: -9.1393 }),
    positionTime: time.nullable().optional().meta({
      description: 'When the position was taken. Events from before emergencies existed lack it.',
    }),
    positionSource: z.enum(POSITION_SOURCES).optional().meta({
      description: 'Whether the position was reported, is the last known one, or there is none.',
    }),
    emergency: z.boolean().optional().meta({ description: 'Whether it is an emergency.' }),
    late: z.boolean().optional().meta({
      description: 'Whether it happened more than an hour before it arrived.',
    }),
    ruleId: ruleId.optional(),
    zoneId: id('zon').nullish().meta({ description: 'The zone that it is about, if any.' }),
  }),
  'alert.updated': z.object({
    deviceId,
    alertId: alertId.meta({ description: 'The emergency that it has joined.' }),
    alertName,
    emergency: z.literal(true).meta({ description: 'Only emergencies are joined.' }),
    dateTime: time,
    latitude: z.number().nullable().meta({
      description: 'Null without a position, and once the device is deleted.',
      example: 38.7223,
    }),
    longitude: z.number().nullable().meta({ example: -9.1393 }),
  }),
  'alert.acknowledged': z.object({
    deviceId,
    alertId,
    test,
    acknowledgedBy: author,
  }),
  'alert.undelivered': z.object({
    deviceId,
    alertId,
    test,
    alertName,
    reason: z
      .enum(UNDELIVERED_REASONS)
      .meta({ description: 'Why the emergency has reached nobody.' }),
    ...notices,
  }),
  'alert.escalated': z.object({
    deviceId,
    alertId,
    test,
    alertName,
    round: z.int().meta({ description: 'How many times it has been sent again.', example: 1 }),
    messages: z.int().meta({ description: 'How many messages are sent.', example: 4 }),
    messagesSuppressed: z.int().meta({
      description:
        'How many are not sent because the account has reached its budget of escalations.',
      example: 0,
    }),
  }),
  'zone.entered': crossing,
  'zone.left': crossing,
  'device.silent': silence,
  'device.returned': silence,
  'watch.due': watch,
  'watch.overdue': watch.extend({
    alertId: alertId.meta({ description: 'Its alert, unless it joined an open emergency.' }),
  }),
  'watch.checkedIn': watch.extend({
    dateTime: time.meta({ description: 'When the check-in arrived.' }),
    counts: z
      .enum(WATCH_COUNTS)
      .meta({ description: 'What it was: a contact, a message of the device, or a person’s own.' }),
    state: z.enum(WATCH_STATES).meta({ description: 'The state of the watch after it.' }),
    nextDue: time.meta({ description: 'By when the next one is due, if the watch goes on.' }),
  }),
  'alert.cancelled': z.object({
    deviceId,
    alertId,
    test,
    cancelledBy: author,
    text: note.optional(),
    ...notices,
  }),
  'alert.resolved': z.object({ deviceId, alertId, resolvedBy: author, text: note }),
  'alert.reopened': z.object({
    deviceId,
    alertId,
    test,
    reopenedBy: author.nullable().meta({
      description: 'Who reopened it; null when nothing had happened for `againAfterMinutes`.',
      example: 'usr_1jn7wz3h4q8v2n5t7r6m0p',
    }),
    text: note,
  }),
  'alert.noted': z.object({ deviceId, alertId, notedBy: author, text: note }),
  'message.sent': message,
  'message.failed': message.extend({ reason: z.string().nullable() }),
  'message.suppressed': z.object({
    deviceId,
    alertId,
    test,
    channel,
    messages: z.int().meta({ description: 'How many were not sent.', example: 2 }),
    reason: z.enum(SUPPRESSED_REASONS).meta({
      description:
        'Which part of the daily limit is used up, or that the budget of the account or its messages of drills are.',
    }),
    resetAt,
  }),
  'message.received': z.object({
    deviceId,
    commandId: id('cmd').meta({ description: 'Its id in the list of the device’s commands.' }),
    text: z.string().meta({ description: 'The text, or the bytes in hex.', example: 'On my way.' }),
    format: z.enum(['Text', 'Hex']).meta({ description: '`Hex` when the bytes are not text.' }),
    dateTime: time.meta({ description: 'When it was sent.' }),
  }),
  'limit.reached': z.object({
    deviceId,
    channel,
    limit: z.int().meta({ example: 20 }),
    date: day,
    resetAt,
  }),
  'license.exhausted': licenses,
  'license.available': licenses,
  'key.created': z.object({ keyId: id('key'), name: z.string().meta({ example: 'Dispatch' }) }),
  'key.revoked': z.object({ keyId: id('key') }),
} satisfies Record<EventType, z.ZodType>

const eventOf = (type: EventType) =>
  z
    .object({
      id: id('evt'),
      type: z.literal(type),
      time,
      sequence: z.int().min(1).meta({
        description: 'The number of the event in its account, counted without gaps.',
        example: 42,
      }),
      accountId: id('acc'),
      data: DATA[type],
    })
    .meta({ id: `Event.${type}`, description: MEANINGS[type] })

export const EVENTS = Object.fromEntries(
  EVENT_TYPES.map((type) => [type, eventOf(type)]),
) as Record<EventType, ReturnType<typeof eventOf>>

const [first = eventOf('device.created'), ...others] = Object.values(EVENTS)
export const event = z.discriminatedUnion('type', [first, ...others]).meta({ id: 'Event' })
