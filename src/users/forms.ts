import * as z from 'zod'
import { countryCode } from '../domain/account/countries.ts'
import { PRIVILEGES } from '../domain/account/user.ts'
import { emailKey } from '../domain/message/email.ts'
import { instant, line, name, newPassword, phone, tags, timeZone } from '../http/contract/wire.ts'

/** What each member means, in requests and replies alike. */
export const ABOUT = {
  name: 'The user’s full name; without a link.',
  email: 'Receives e-mails of alerts. Unique in the account, ignoring case.',
  timeZone: 'An IANA time zone, in which messages to the user show times.',
  phone: 'Receives SMS and calls of alerts; in E.164.',
  notify: 'The channels by which the user receives messages of alerts.',
  notifyEmail: 'Whether alerts are sent by e-mail.',
  notifySms: 'Whether alerts are sent by SMS.',
  notifyPush:
    'Whether alerts are sent to the browsers in which the user has turned notifications on.',
  notifyVoice: 'Whether alerts are read to the user in a telephone call, which a key acknowledges.',
  description: 'A description of your own.',
  message: 'A text for the user, which your own software may show. It is only stored.',
  disabled: 'A disabled user can do nothing and receives no messages; its sessions end.',
  disabledMessage: 'The error that a disabled user gets at a sign-in.',
  privileges:
    'What the user may do. `write` includes `read`; `admin` includes everything. `execute` is for commands to devices.',
  group:
    'The one group whose devices the user may see; null for the whole account. Send its name or id; replies have its name.',
  groupId:
    'The id of `group`. It follows `group` and can be left out; in a request both must name the same group.',
  deviceId: 'The id of the user’s own device, such as the one that the user carries. Only stored.',
  adminDevices: 'How many devices the user may create; null for no limit.',
  from: 'The user can do nothing before this time; null for no beginning.',
  expires: 'The user can do nothing from this time on; null for no end.',
} as const

const COUNTRY =
  'must be a country of ISO 3166-1: its code, such as PT or PRT, or its English name, such as Portugal'
const country = z
  .string(COUNTRY)
  .transform((text) => countryCode(text) ?? '')
  .refine((code) => code !== '', COUNTRY)
  .meta({
    description:
      'A country of ISO 3166-1: alpha-2, alpha-3 or the English name, ignoring case; stored as alpha-2.',
    example: 'PT',
  })

const EMAIL = 'must be an e-mail address, such as ana@example.com'
export const email = z
  .string(EMAIL)
  .refine((text) => emailKey(text) !== null, EMAIL)
  .meta({ format: 'idn-email', description: ABOUT.email, example: 'ana@example.com' })

const privileges = z
  .array(
    z.enum(PRIVILEGES, `must be one of ${PRIVILEGES.join(', ')}`),
    'must be a list of privileges',
  )
  .max(PRIVILEGES.length, `must have at most ${PRIVILEGES.length} privileges`)
  .transform((given) => PRIVILEGES.filter((privilege) => given.includes(privilege)))
  .default(['read'])
  .meta({ description: ABOUT.privileges })

const password = newPassword.nullable().default(null).meta({
  description:
    'Write-only: stored as a salted hash and always null in replies. At least 12 characters, and no common password. If left out or null, it stays unchanged; a new one ends the user’s sessions.',
})

const flag = (fallback: boolean) => z.boolean('must be true or false').default(fallback)
const notify = z.strictObject({
  email: flag(true).meta({ description: ABOUT.notifyEmail }),
  sms: flag(false).meta({ description: ABOUT.notifySms }),
  push: flag(true).meta({ description: ABOUT.notifyPush }),
  voice: flag(false).meta({ description: ABOUT.notifyVoice }),
})

export const userBody = z
  .strictObject({
    name: name.meta({ description: ABOUT.name, example: 'Ana Sousa' }),
    email,
    country,
    timeZone: timeZone.meta({ description: ABOUT.timeZone }),
    phone: phone.nullable().default(null).meta({ description: ABOUT.phone }),
    notify: notify.prefault({}).meta({ description: ABOUT.notify }),
    description: line(2000).default('').meta({ description: ABOUT.description }),
    message: line(2000).default('').meta({ description: ABOUT.message }),
    disabled: flag(false).meta({ description: ABOUT.disabled }),
    disabledMessage: line(2000).default('').meta({ description: ABOUT.disabledMessage }),
    tags: tags.default({}),
    privileges,
    group: z
      .string('must be a group’s name or id')
      .nullable()
      .default(null)
      .meta({ description: ABOUT.group, example: null }),
    groupId: z
      .string('must be a group’s id')
      .nullable()
      .default(null)
      .meta({ description: ABOUT.groupId }),
    deviceId: z
      .string('must be a device’s id')
      .nullable()
      .default(null)
      .meta({ description: ABOUT.deviceId }),
    adminDevices: z
      .int('must be a whole number')
      .min(0, 'must be at least 0')
      .max(1_000_000, 'must be at most 1000000')
      .nullable()
      .default(null)
      .meta({ description: ABOUT.adminDevices }),
    from: instant
      .nullable()
      .default(null)
      .meta({ description: ABOUT.from, example: '2026-01-01T00:00:00.000Z' }),
    expires: instant
      .nullable()
      .default(null)
      .meta({ description: ABOUT.expires, example: '2028-01-01T00:00:00.000Z' }),
    password,
  })
  .refine(({ from, expires }) => from === null || expires === null || from < expires, {
    path: ['expires'],
    error: 'must be later than `from`',
  })
  .meta({ id: 'UserBody' })
export type UserBody = z.output<typeof userBody>
