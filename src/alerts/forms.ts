import * as z from 'zod'
import {
  ALERT_STATES,
  type AlertStateName,
  CHANNELS,
  type Channel,
} from '../domain/message/alert.ts'
import { MAX_DRILL_MESSAGES_PER_DAY, MAX_DRILLS_PER_DAY } from '../domain/message/emergency.ts'
import { isObject } from '../domain/text/json.ts'
import { isPlausible, NUMBER_FIELDS } from '../domain/track/location.ts'
import { dropNulls } from '../http/contract/nulls.ts'
import { instant, line } from '../http/contract/wire.ts'
import {
  absent,
  has,
  isInOrder,
  OUT_OF_ORDER,
  PAGING,
  type QueryBody,
  SINCE,
  toQuery,
  UNTIL,
} from '../http/paging/rangeQuery.ts'

const degrees = ({ min, max, description }: (typeof NUMBER_FIELDS)['latitude' | 'longitude']) =>
  z
    .number('must be a number')
    .min(min, `must be at least ${min}`)
    .max(max, `must be at most ${max}`)
    .overwrite((value) => value + 0)
    .nullable()
    .default(null)
    .meta({ description: `${description} Default: that of the device’s last location.` })

export const alertName = line(64).trim().min(1, 'must not be empty').meta({
  description:
    '`SOSButton`, `LowBattery`, `SpeedLimit`, `Offline`, `ForbiddenArea`, … or your own name.',
  example: 'SOSButton',
})

const channels = z
  .array(z.enum(CHANNELS, `must be one of ${CHANNELS.join(', ')}`), 'must be a list of channels')
  .max(CHANNELS.length, `must have at most ${CHANNELS.length} channels`)
const inOrder = (given: Channel[]): Channel[] =>
  CHANNELS.filter((channel) => given.includes(channel))

/** Of alerts that are raised later. */
export const notifications = channels
  .default([...CHANNELS])
  .transform(inOrder)
  .meta({ description: 'The channels to send messages by.' })

/** Null means left out, so both give the default. */
const withDefault = <T extends z.ZodType>(schema: T, fallback: z.output<T>) =>
  schema.nullish().transform((given) => given ?? fallback)

/** Members that the server sets. */
const SERVER_MEMBERS = [
  'id',
  'deviceId',
  'alerts',
  'acknowledged',
  'acknowledgedAt',
  'acknowledgedBy',
  'state',
  'resolvedAt',
  'resolvedBy',
  'log',
  'drill',
  'positionTime',
  'positionSource',
  'place',
  'late',
  'ruleId',
  'zoneId',
  'cancelled',
  'cancelledAt',
  'cancelledBy',
  'updates',
  'newestPosition',
  'deliveries',
] as const
const ignored = z
  .unknown()
  .optional()
  .meta({ description: 'Set by the server: accepted and ignored.' })

const IN_PAIRS = { dependentRequired: { latitude: ['longitude'], longitude: ['latitude'] } }

const newAlert = z
  .strictObject({
    alertName,
    text: withDefault(line(2000), '').meta({
      description: 'What happened, for the people who get the alert. Default: empty.',
      example: 'Man overboard',
    }),
    dateTime: instant
      .refine(
        (at) => isPlausible(at, Date.now()),
        'must not be before the year 2000 or more than 10 minutes in the future',
      )
      .nullish()
      .meta({
        description:
          'From the year 2000 to ten minutes ahead of the time of arrival. Default: now.',
      }),
    emergency: withDefault(z.boolean('must be true or false'), false).meta({
      description:
        'True for an emergency whose name is not in the account’s `emergencyAlerts`. It has no effect with a token that has no scope but `ingest`. Default: false.',
    }),
    test: withDefault(z.boolean('must be true or false'), false).meta({
      description: `True for a test of the emergency chain (a drill), whatever the alert’s name: its messages, checks and rounds are those of an emergency, each message begins with TEST, and nothing is counted against limits and budgets. Needs the scope \`write\`; at most ${MAX_DRILLS_PER_DAY} a day and account, with ${MAX_DRILL_MESSAGES_PER_DAY.Email} e-mails and ${MAX_DRILL_MESSAGES_PER_DAY.SMS} SMS together; beyond: \`suppressed\`, \`drill-limit-reached\`. Default: false.`,
    }),
    latitude: degrees(NUMBER_FIELDS.latitude),
    longitude: degrees(NUMBER_FIELDS.longitude),
    notifications: withDefault(channels, [...CHANNELS])
      .transform(inOrder)
      .meta({
        description:
          'The channels to send messages by. Default: both. With an empty list the alert is only stored.',
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
  .meta({ id: 'NewAlert', override: IN_PAIRS })
export type NewAlert = z.output<typeof newAlert>

const SORTS = ['dateTime', '-dateTime'] as const
const SORT_ERROR = 'must be dateTime or -dateTime'
export type Sort = (typeof SORTS)[number]
export const sort = (fallback: Sort) => z.enum(SORTS, SORT_ERROR).default(fallback)

export const state = z.enum(ALERT_STATES, `must be one of ${ALERT_STATES.join(', ')}`)

const query = {
  ...PAGING,
  alertName: alertName.nullish().meta({ description: 'Only alerts of this name.' }),
  acknowledged: z
    .boolean('must be true or false')
    .nullish()
    .meta({ description: 'Only alerts that are acknowledged, or only those that are not.' }),
  emergency: z
    .boolean('must be true or false')
    .nullish()
    .meta({ description: 'Only emergencies, or only other alerts.' }),
  state: state.nullish().meta({ description: 'Only alerts in this state.' }),
  sort: withDefault(z.enum(SORTS, SORT_ERROR), 'dateTime').meta({
    description: 'The oldest first (`dateTime`, the default), or the newest first.',
  }),
  alert: absent,
}

const raise = (alert: NewAlert) => ({ kind: 'raise' as const, alert })

export const forms = {
  /** A body with an alert raises it even when it has the members of a query. */
  wrapped: z
    .strictObject({ alert: newAlert, from: z.unknown().optional(), to: z.unknown().optional() })
    .transform(({ alert }) => raise(alert))
    .meta({ title: 'WrappedNewAlert' }),
  bare: newAlert.transform(raise),
  since: z
    .strictObject({ ...SINCE, ...query })
    .refine(isInOrder, OUT_OF_ORDER)
    .transform(toQuery)
    .meta({ title: 'AlertQuery' }),
  until: z
    .strictObject({ ...UNTIL, ...query })
    .transform(toQuery)
    .meta({ title: 'AlertQueryUntil' }),
}

export interface AlertsQueryBody extends QueryBody {
  alertName?: string | undefined
  acknowledged?: boolean | undefined
  emergency?: boolean | undefined
  state?: AlertStateName | undefined
  sort: Sort
}
export type AlertsBody = AlertsQueryBody | ReturnType<typeof raise>

const formOf = (body: unknown) => {
  if (has(body, 'alert')) return forms.wrapped
  if (has(body, 'from')) return forms.since
  if (has(body, 'to')) return forms.until
  return isObject(body) && Object.hasOwn(body, 'alert') ? forms.wrapped : forms.bare
}

export const readBody = (body: unknown): z.ZodSafeParseResult<AlertsBody> => {
  const form = formOf(body)
  return form.safeParse(dropNulls(form, body)) as z.ZodSafeParseResult<AlertsBody>
}
