import * as z from 'zod'
import { alertName, notifications } from '../alerts/forms.ts'
import {
  ALERT_NAMES,
  MAX_AGREEING_FIXES,
  MAX_MINUTES,
  MAX_RULE_TARGETS,
  MAX_RULE_ZONES,
  type RuleCondition,
} from '../domain/rule/rule.ts'
import { WEEKDAYS } from '../domain/time/schedule.ts'
import { atLeastOne, exactlyOne, line, name } from '../http/contract/wire.ts'

const whole = (min: number, max: number) =>
  z
    .int('must be a whole number')
    .min(min, `must be at least ${min}`)
    .max(max, `must be at most ${max}`)

const minutes = whole(1, MAX_MINUTES).meta({ description: 'Minutes.', example: 30 })
const limit = z.number('must be a number').overwrite((value) => value + 0)
const above = limit.meta({ description: 'Alerts beyond this value.', example: 90 })
const below = limit.meta({ description: 'Alerts under this value.', example: 20 })

const unique = <T>(list: T[]): T[] => [...new Set(list)]

const ids = (what: string, max: number) =>
  z
    .array(
      z.string(`must be a ${what}’s id`).max(64, `must be a ${what}’s id`),
      `must be a list of ${what} ids`,
    )
    .max(max, `must have at most ${max} ids`)
    .overwrite(unique)

const zones = ids('zone', MAX_RULE_ZONES)
  .min(1, 'must have at least one zone')
  .meta({ description: 'Ids of zones.', example: ['zon_1jn7wz3h4q8v2n5t7r6m0p'] })

const ONE_LIMIT = { error: 'is required, or below instead; not both', path: ['above'] }
const SOME_LIMIT = { error: 'is required, or below, or both', path: ['above'] }

const when = <const T extends RuleCondition['type'], S extends z.core.$ZodShape>(
  type: T,
  description: string,
  members: S,
) => z.strictObject({ type: z.literal(type).meta({ description }), ...members })

/** `rule` is what the document says of several members together. */
const named = <S extends z.ZodType & { shape: { type: z.ZodLiteral<string> } }>(
  schema: S,
  rule: object = {},
): S => {
  const type = schema.shape.type.value
  const id = `${type.charAt(0).toUpperCase()}${type.slice(1)}Condition`
  return schema.meta({ id, override: rule })
}

/** Replies have the condition as requests do: of the same components. */
export const condition = z
  .discriminatedUnion(
    'type',
    [
      named(when('enters', 'The device comes into a zone.', { zones })),
      named(when('leaves', 'The device goes out of a zone.', { zones })),
      named(
        when('inside', 'The device is in a zone for longer than `minutes`.', { zones, minutes }),
      ),
      named(
        when('outside', 'The device is outside all of the zones for longer than `minutes`.', {
          zones,
          minutes,
        }),
      ),
      named(
        when('speed', 'The speed is above or below a limit, in km/h.', {
          above: above.optional(),
          below: below.optional(),
          zones: zones
            .optional()
            .meta({ description: 'Only in these zones; without them, anywhere.' }),
          computed: z.boolean('must be true or false').optional().meta({
            description:
              'Whether the speed is computed for a location that has no `speed`: on the straight line from the last location that is at least 30 seconds older, and at most a day, or an hour for `below`. A computed speed decides nothing if the limit lies within its error, if an `accuracy` is worse than 100 m, or above the device’s `maxSpeed`. Without `computed` a location that has no `speed` decides nothing.',
            example: true,
          }),
        }).refine(
          (given) => (given.above === undefined) !== (given.below === undefined),
          ONE_LIMIT,
        ),
        exactlyOne('above', 'below'),
      ),
      named(
        when('value', 'A number of the location is above or below a limit.', {
          member: line(64).min(1, 'must not be empty').meta({
            description:
              'A numeric member of a location, such as `battery` or `temperature`, or else the name of one of its `attributes`.',
            example: 'battery',
          }),
          above: above.optional(),
          below: below.optional(),
        }).refine((given) => given.above !== undefined || given.below !== undefined, SOME_LIMIT),
        atLeastOne('above', 'below'),
      ),
      named(
        when('moves', 'The device is away from where it was five minutes before.', {
          metres: whole(10, 1_000_000).meta({ description: 'How far away.', example: 200 }),
        }),
      ),
      named(
        when(
          'stands',
          'The device stays within 100 m, or `hysteresis.metres` if that is more, for longer than `minutes`. A location with a worse `accuracy` decides nothing.',
          { minutes },
        ),
      ),
      named(
        when('silent', 'Nothing comes from the device for longer than `minutes`.', {
          minutes: whole(5, MAX_MINUTES).meta({ description: 'Minutes.', example: 60 }),
        }),
      ),
      named(when('returns', 'A device that a `silent` rule found silent is in contact again.', {})),
    ],
    { error: 'must have a type: enters, leaves, inside, outside, speed, value, …' },
  )
  .meta({
    id: 'RuleCondition',
    description: 'What to watch for.',
    example: { type: 'enters', zones: ['zon_1jn7wz3h4q8v2n5t7r6m0p'] },
  })

const CLOCK = /^([01]\d|2[0-3]):[0-5]\d$/
const from = z
  .string('must be a time, such as 20:00')
  .regex(CLOCK, 'must be a time, such as 20:00')
  .meta({ description: 'From this time of day.', example: '20:00' })
const to = z
  .string('must be a time, such as 06:00')
  .regex(/^(([01]\d|2[0-3]):[0-5]\d|24:00)$/, 'must be a time, such as 06:00')
  .meta({
    description:
      'Until this time of day, which is not included; if it is not after `from`, on the next day.',
    example: '06:00',
  })

export const scheduleEntry = z
  .strictObject({
    days: z
      .array(z.enum(WEEKDAYS, `must be one of ${WEEKDAYS.join(', ')}`), 'must be a list of days')
      .min(1, 'must have at least one day')
      .max(WEEKDAYS.length, `must have at most ${WEEKDAYS.length} days`)
      .overwrite((given) => WEEKDAYS.filter((day) => given.includes(day)))
      .meta({ description: 'The days on which it begins.', example: ['mon', 'tue'] }),
    from,
    to,
  })
  .meta({ id: 'ScheduleEntry' })

const hysteresis = z
  .strictObject({
    metres: z
      .number('must be a number')
      .min(0, 'must be at least 0')
      .max(100_000, 'must be at most 100000')
      .default(0)
      .meta({
        description:
          'A location decides only if the border is at least this far away, or as far as the location’s `accuracy`.',
      }),
    fixes: whole(1, MAX_AGREEING_FIXES)
      .default(1)
      .meta({ description: 'How many locations in a row must agree.' }),
  })
  .default({ metres: 0, fixes: 1 })

export const ruleBody = z
  .strictObject({
    name: name.meta({ description: 'What people call the rule.', example: 'Night watch' }),
    enabled: z
      .boolean('must be true or false')
      .default(true)
      .meta({ description: 'Whether the rule is in force.' }),
    devices: ids('device', MAX_RULE_TARGETS).default([]).meta({
      description: 'For these devices. Without `devices` and `groups` for all.',
      example: [],
    }),
    groups: ids('group', MAX_RULE_TARGETS)
      .default([])
      .meta({ description: 'For the devices of these groups.', example: [] }),
    when: condition,
    schedule: z
      .array(scheduleEntry, 'must be a list')
      .max(50, 'must have at most 50 entries')
      .default([])
      .meta({
        description:
          'Only at these times of the account’s time zone, by the time of the location. Empty: always.',
        example: [{ days: ['sat', 'sun'], from: '20:00', to: '06:00' }],
      }),
    alertName: alertName.optional().meta({
      description: 'The name of the alert. Default: by the type of the condition.',
      example: 'ForbiddenArea',
    }),
    text: line(2000)
      .default('')
      .meta({ description: 'The text of the alert. Empty: what happened, in a sentence.' }),
    notifications,
    emergency: z
      .boolean('must be true or false')
      .default(false)
      .meta({ description: 'Whether its alerts are emergencies.' }),
    hysteresis: hysteresis.meta({ description: 'What keeps a device on a border from flapping.' }),
    cooldownMinutes: whole(0, MAX_MINUTES)
      .default(0)
      .meta({ description: 'So long after an alert the same device and zone raise no other.' }),
    lateMinutes: whole(0, MAX_MINUTES)
      .default(60)
      .meta({ description: 'An alert that is older when it is found sends no messages.' }),
  })
  .transform((given) => ({ ...given, alertName: given.alertName ?? ALERT_NAMES[given.when.type] }))
  .meta({ id: 'RuleBody' })
