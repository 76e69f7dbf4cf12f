import * as z from 'zod'
import { CHANNELS } from '../domain/message/alert.ts'
import { RULE_LIMITS } from '../domain/rule/rule.ts'
import { MAX_SPAN_LOCATIONS } from '../domain/track/location.ts'
import { define } from '../http/contract/contract.ts'
import { id, instant, success, time } from '../http/contract/wire.ts'
import { isInOrder, OUT_OF_ORDER } from '../http/paging/rangeQuery.ts'
import { resource } from '../http/resource/contract.ts'
import { condition, ruleBody, scheduleEntry } from './forms.ts'

export const MAX_TESTED_ALERTS = 1000
const MAX_DAYS = 31

export const rule = z
  .object({
    id: id('rul').meta({ description: 'The rule’s id.' }),
    name: z.string().meta({ description: 'What people call the rule.', example: 'Night watch' }),
    enabled: z.boolean().meta({ description: 'Whether the rule is in force.' }),
    devices: z.array(id('dev')).meta({ description: 'The devices that it is for.' }),
    groups: z.array(id('grp')).meta({
      description: 'The groups that it is for. Without devices and groups it is for all devices.',
    }),
    when: condition,
    schedule: z
      .array(scheduleEntry)
      .meta({ description: 'When it is in force, as it was sent. Empty: always.', example: [] }),
    alertName: z.string().meta({ description: 'The alert’s name.', example: 'ForbiddenArea' }),
    text: z.string().meta({ description: 'The text of its alerts; empty for a sentence of ours.' }),
    notifications: z
      .array(z.enum(CHANNELS))
      .meta({ description: 'The channels to send messages by.' }),
    emergency: z.boolean().meta({ description: 'Whether its alerts are emergencies.' }),
    hysteresis: z
      .object({
        metres: z.number().meta({ description: 'How far the border must be away.', example: 0 }),
        fixes: z.int().meta({ description: 'How many locations must agree.', example: 1 }),
      })
      .meta({ description: 'What keeps a device on a border from flapping.' }),
    cooldownMinutes: z
      .int()
      .meta({ description: 'So long after an alert there is no other.', example: 0 }),
    lateMinutes: z
      .int()
      .meta({ description: 'An alert that is older sends no messages.', example: 60 }),
    creation: time.meta({ description: 'When the rule was created.' }),
    lastModified: time.meta({
      description: 'When it was last changed. Locations that are dated before raise no alert.',
    }),
  })
  .meta({ id: 'Rule' })

const EXAMPLE = { name: 'Speed', when: { type: 'speed', above: 90 } }

export const rules = resource({
  name: 'rule',
  tag: 'Rules',
  reading: { scope: 'read', wholeAccount: true },
  writing: { scope: 'write', wholeAccount: true },
  schema: rule,
  body: ruleBody,
  list: { description: 'In the order in which they were created.' },
  create: {
    description: `The rule holds from the next report on; locations that are dated before the last change of the rule, or of its zone, raise no alert. A condition that already holds when the rule is created, enabled or gets another condition, or with the first location of a device, raises one alert, with the next location that fulfils it; whoever is in a zone already does not enter it. ${RULE_LIMITS} When a device or group is deleted, rules no longer name it; one that is left without any is disabled.`,
    problems: ['rule-cap-reached'],
    example: EXAMPLE,
  },
  edit: { problems: ['rule-cap-reached'] },
  replace: { example: EXAMPLE },
  patch: { example: { enabled: false } },
})

export const testedAlert = z
  .object({
    deviceId: id('dev').meta({ description: 'The device.' }),
    dateTime: time.meta({ description: 'When it happened.' }),
    latitude: z.number().nullable().meta({ description: 'Degrees, WGS 84.', example: 38.7223 }),
    longitude: z.number().nullable().meta({ description: 'Degrees, WGS 84.', example: -9.1393 }),
    text: z.string().meta({ description: 'The text of the alert.', example: 'Entered Harbour.' }),
    alerts: z
      .array(z.string())
      .meta({ description: 'The alert’s name.', example: ['ForbiddenArea'] }),
    emergency: z.boolean().meta({ description: 'Whether it would be an emergency.' }),
    ruleId: id('rul').meta({ description: 'The rule.' }),
    zoneId: id('zon').nullable().meta({ description: 'The zone, where there is one.' }),
    sinceChange: z.boolean().meta({
      description:
        'Whether it is dated since the last change of the rule and of its zone. Others are found by a test only: locations before the change raise no alert.',
    }),
  })
  .meta({ id: 'TestedAlert' })

export const testRule = define({
  id: 'testRule',
  tag: 'Rules',
  wholeAccount: true,
  summary: 'Try a rule on history',
  ignoresStorage: true,
  description: `Evaluates the stored locations of a device as the rule would have evaluated them as they came, whether or not it is enabled and for this device. Nothing is raised. Reports raise alerts only for locations since the last change of the rule and of its zone; a test finds earlier ones as well, and \`sinceChange\` tells them apart. A condition that holds with the first location of the span counts as one that begins there. At most ${MAX_DAYS} days, ${MAX_SPAN_LOCATIONS.toLocaleString('en')} locations and ${MAX_TESTED_ALERTS} alerts. A test counts in the rate limit by what it evaluates, and \`testedUntil\` says where it stopped if that was too much.`,
  scope: 'read',
  body: z
    .strictObject({
      deviceId: z
        .string('must be a device’s id')
        .meta({ description: 'The device.', example: 'dev_1jn7wz3h4q8v2n5t7r6m0p' }),
      from: instant.meta({ description: 'The beginning of the span, included.' }),
      to: instant.meta({ description: 'The end of the span, included.' }),
    })
    .refine(isInOrder, OUT_OF_ORDER)
    .refine(
      ({ from, to }) =>
        typeof from !== 'number' ||
        typeof to !== 'number' ||
        to - from <= MAX_DAYS * 86_400_000 + 3_600_000,
      { error: `must be at most ${MAX_DAYS} days after from`, path: ['to'] },
    )
    .meta({ id: 'RuleTest' }),
  reply: z.object({
    success,
    alerts: z.array(testedAlert).meta({ description: 'What it would have raised, oldest first.' }),
    testedUntil: time.nullable().meta({
      description:
        'Null when all locations of the span were evaluated. Otherwise the time of the last one that was: many locations near large zones, or many alerts, are more than one test evaluates. Test the rest with `from` at this time.',
    }),
  }),
  problems: ['rule-not-found', 'span-too-large'],
})
