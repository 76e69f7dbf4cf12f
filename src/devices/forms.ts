import * as z from 'zod'
import { DEFAULT_DAILY_LIMITS, DEFAULT_MAX_SPEED } from '../domain/account/device.ts'
import { MAX_COUNTED } from '../domain/account/source.ts'
import { day, id, line, name, tags, time, writtenPhone } from '../http/contract/wire.ts'
import { location } from '../locations/forms.ts'

/** What each member means, in requests and replies alike. */
const ABOUT = {
  name: 'The device’s name; several devices may have the same one.',
  description: 'A description of your own.',
  min: 'The device’s own phone number in E.164; spaces, brackets and hyphens are allowed.',
  identifier:
    'IMEI, ESN or serial number; unique in the account, without regard to case. To a user who is confined to a group, one that waits to be claimed at a source is taken.',
  model: 'The device’s make or model.',
  tags: 'Your own names and values.',
  maxSpeed:
    'In km/h. A location that a source reports and that needs a higher speed is quarantined; 0 for no check.',
  limits:
    'When the device expires, and how many messages its alerts may send a day. Beside e-mails and SMS, 1,000 notifications in browsers and 20 calls are allowed.',
  expires: 'Whether the device expires on `expirationDate`.',
  expirationDate:
    'The device expires when this day begins in the account’s time zone, if `expires` is true.',
  dailyEmailLimit: 'How many e-mails the device’s alerts may send a day.',
  dailySmsLimit: 'How many SMS the device’s alerts may send a day.',
  emergencyReserve:
    'How many messages of the daily limits only emergencies may use; at most the limits themselves.',
  emailReserve: 'How many e-mails of `dailyEmailLimit` are kept for emergencies.',
  smsReserve: 'How many SMS of `dailySmsLimit` are kept for emergencies.',
} as const

const LIMITS_EXAMPLE = {
  expires: true,
  expirationDate: '2027-01-01',
  ...DEFAULT_DAILY_LIMITS,
  emergencyReserve: { email: 10, sms: 5 },
}

const dailyLimit = (fallback: number) =>
  z
    .int('must be a whole number')
    .min(0, 'must be at least 0')
    .max(100_000, 'must be at most 100000')
    .default(fallback)

const limits = z
  .strictObject({
    expires: z.boolean('must be true or false').default(false).meta({ description: ABOUT.expires }),
    expirationDate: day.nullable().default(null).meta({ description: ABOUT.expirationDate }),
    dailyEmailLimit: dailyLimit(DEFAULT_DAILY_LIMITS.dailyEmailLimit).meta({
      description: ABOUT.dailyEmailLimit,
    }),
    dailySmsLimit: dailyLimit(DEFAULT_DAILY_LIMITS.dailySmsLimit).meta({
      description: ABOUT.dailySmsLimit,
    }),
    emergencyReserve: z
      .strictObject({
        email: dailyLimit(0).meta({ description: ABOUT.emailReserve }),
        sms: dailyLimit(0).meta({ description: ABOUT.smsReserve }),
      })
      .prefault({})
      .meta({ description: ABOUT.emergencyReserve }),
  })
  .refine(({ expires, expirationDate }) => !expires || expirationDate !== null, {
    path: ['expirationDate'],
    error: 'is required when expires is true',
  })
  .refine(({ dailyEmailLimit, emergencyReserve }) => emergencyReserve.email <= dailyEmailLimit, {
    path: ['emergencyReserve', 'email'],
    error: 'must be at most dailyEmailLimit',
  })
  .refine(({ dailySmsLimit, emergencyReserve }) => emergencyReserve.sms <= dailySmsLimit, {
    path: ['emergencyReserve', 'sms'],
    error: 'must be at most dailySmsLimit',
  })
  .meta({ description: ABOUT.limits, example: LIMITS_EXAMPLE })

export const deviceBody = z
  .strictObject({
    name: name.meta({ description: ABOUT.name, example: 'Tern 7' }),
    description: line(2000).default('').meta({ description: ABOUT.description }),
    min: writtenPhone.default('').meta({ description: ABOUT.min, example: '+881632000000' }),
    identifier: line(64)
      .trim()
      .nullable()
      .default(null)
      .transform((text) => text || null)
      .meta({ description: ABOUT.identifier, example: '300434060000000' }),
    model: line(200).default('').meta({ description: ABOUT.model, example: 'RockSTAR' }),
    tags: tags.default({}),
    limits: limits.prefault({}),
    maxSpeed: z
      .number('must be a number')
      .min(0, 'must be at least 0')
      .max(100_000, 'must be at most 100000')
      .default(DEFAULT_MAX_SPEED)
      .meta({ description: ABOUT.maxSpeed, example: DEFAULT_MAX_SPEED }),
  })
  .meta({ id: 'DeviceBody' })

const usage = z
  .object({
    date: day.meta({ description: 'The day in the account’s time zone.' }),
    emailsSent: z.int().meta({ description: 'How many e-mails of its alerts count on this day.' }),
    smsSent: z.int().meta({ description: 'How many SMS of its alerts count on this day.' }),
  })
  .meta({
    description: 'What counts against the daily limits today.',
    example: { date: '2026-11-14', emailsSent: 3, smsSent: 0 },
  })

const suppressed = z.int().optional().meta({
  description: 'How many messages the daily limit suppressed; absent when there were none.',
})
export const dayReport = z
  .object({ ...usage.shape, emailsSuppressed: suppressed, smsSuppressed: suppressed })
  .meta({ example: { date: '2026-11-14', emailsSent: 3, smsSent: 20, smsSuppressed: 4 } })

export const device = z
  .object({
    id: id('dev').meta({ description: 'The device’s id.' }),
    name: z.string().meta({ description: ABOUT.name, example: 'Tern 7' }),
    description: z.string().meta({ description: ABOUT.description, example: '' }),
    min: z.string().meta({ description: ABOUT.min, example: '+881632000000' }),
    identifier: z
      .string()
      .nullable()
      .meta({ description: ABOUT.identifier, example: '300434060000000' }),
    model: z.string().meta({ description: ABOUT.model, example: 'RockSTAR' }),
    tags: z
      .record(z.string(), z.string())
      .meta({ description: ABOUT.tags, example: { fleet: 'north' } }),
    groups: z
      .array(id('grp'))
      .meta({ description: 'The groups of the device. To change them, edit the groups.' }),
    state: z
      .enum(['active', 'expired'])
      .meta({ description: 'An active device uses a license. An expired one cannot report.' }),
    expires: time.nullable().meta({
      description: 'When the device expires or expired; null when it never does.',
      example: '2027-01-01T00:00:00.000Z',
    }),
    limits: z
      .object({
        expires: z.boolean().meta({ description: ABOUT.expires }),
        expirationDate: day.nullable().meta({ description: ABOUT.expirationDate }),
        dailyEmailLimit: z.int().meta({ description: ABOUT.dailyEmailLimit }),
        dailySmsLimit: z.int().meta({ description: ABOUT.dailySmsLimit }),
        emergencyReserve: z
          .object({
            email: z.int().meta({ description: ABOUT.emailReserve }),
            sms: z.int().meta({ description: ABOUT.smsReserve }),
          })
          .meta({ description: ABOUT.emergencyReserve }),
      })
      .meta({ description: ABOUT.limits, example: LIMITS_EXAMPLE }),
    maxSpeed: z.number().meta({ description: ABOUT.maxSpeed, example: DEFAULT_MAX_SPEED }),
    deletedAt: time.optional().meta({ description: 'When it was deleted; only of such devices.' }),
    restorableUntil: time.optional().meta({
      description: 'Until when it can be restored; only of deleted devices.',
    }),
    usage,
    lastLocation: location
      .nullable()
      .meta({ description: 'The location with the latest `dateTime`; null before the first.' }),
    lastContact: time
      .nullable()
      .meta({ description: 'When anything last arrived from the device, even if it was refused.' }),
    quarantined: z.int().meta({
      description: `How many of its locations wait in quarantine; ${MAX_COUNTED.ofDevice} stands for that many or more.`,
      example: 0,
    }),
    creation: time.meta({ description: 'When the device was created.' }),
    lastModified: time.meta({ description: 'When the device was last edited.' }),
  })
  .meta({ id: 'Device' })
