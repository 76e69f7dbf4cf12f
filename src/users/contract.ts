import * as z from 'zod'
import { countryCode } from '../domain/countries.ts'
import { emailKey } from '../domain/email.ts'
import { PRIVILEGES } from '../domain/user.ts'
import { define } from '../http/contract.ts'
import { nextCursor, pageQuery } from '../http/page.ts'
import {
  done,
  instant,
  line,
  name,
  phone,
  search,
  success,
  tags,
  time,
  timeZone,
} from '../http/wire.ts'

const COUNTRY = 'must be an ISO 3166-1 country code, alpha-2 or alpha-3, such as PT or PRT'
const country = z
  .string(COUNTRY)
  .transform((text) => countryCode(text) ?? '')
  .refine((code) => code !== '', COUNTRY)
  .meta({ description: 'ISO 3166-1 code, alpha-2 or alpha-3; stored as alpha-2.', example: 'PT' })

const EMAIL = 'must be an e-mail address, such as ana@example.com'
const email = z
  .string(EMAIL)
  .refine((text) => emailKey(text) !== null, EMAIL)
  .meta({
    format: 'idn-email',
    description: 'Unique in the account, ignoring case.',
    example: 'ana@example.com',
  })

const privileges = z
  .array(z.enum(PRIVILEGES, 'must be read, write or admin'), 'must be a list of privileges')
  .max(PRIVILEGES.length, `must have at most ${PRIVILEGES.length} privileges`)
  .transform((given) => PRIVILEGES.filter((privilege) => given.includes(privilege)))
  .default(['read'])

const password = z
  .string('must be text')
  .min(8, 'must have at least 8 characters')
  .max(256, 'must have at most 256 characters')
  .nullable()
  .default(null)
  .meta({
    description:
      'Write-only: stored as a salted hash and always null in replies. If left out or null, it stays unchanged.',
  })

const flag = (fallback: boolean) => z.boolean('must be true or false').default(fallback)
const notify = z.strictObject({ email: flag(true), sms: flag(false) })

export const userBody = z
  .strictObject({
    name: name.meta({ example: 'Ana Sousa' }),
    email,
    country,
    timeZone,
    phone: phone.nullable().default(null),
    notify: notify
      .prefault({})
      .meta({ description: 'The channels by which the user receives messages of alerts.' }),
    description: line(2000).default(''),
    message: line(2000).default(''),
    disabled: flag(false),
    disabledMessage: line(2000)
      .default('')
      .meta({ description: 'The error that a disabled user gets when it asks for a token.' }),
    tags: tags.default({}),
    privileges,
    group: z.string('must be a group’s id or name').nullable().default(null).meta({
      description:
        'The id or name of the one group whose devices the user may see; null for the whole account.',
    }),
    deviceId: z.string('must be a device’s id').nullable().default(null),
    adminDevices: z
      .int('must be a whole number')
      .min(0, 'must be at least 0')
      .max(1_000_000, 'must be at most 1000000')
      .nullable()
      .default(null)
      .meta({
        description: 'How many devices the user may create; null for no limit.',
      }),
    from: instant.nullable().default(null).meta({
      description: 'The user can do nothing before this time.',
      example: '2026-01-01T00:00:00.000Z',
    }),
    expires: instant.nullable().default(null).meta({
      description: 'The user can do nothing from this time on.',
      example: '2028-01-01T00:00:00.000Z',
    }),
    password,
  })
  .refine(({ from, expires }) => from === null || expires === null || from < expires, {
    path: ['expires'],
    error: 'must be later than `from`',
  })
  .meta({ id: 'UserBody' })
export type UserBody = z.output<typeof userBody>

const members = {
  id: z.string().meta({ example: 'usr_01k…' }),
  name: z.string().meta({ example: 'Ana Sousa' }),
  email: z.string().meta({ example: 'ana@example.com' }),
  country: z.string().meta({ example: 'PT' }),
  timeZone: z.string().meta({ example: 'Europe/Lisbon' }),
  phone: z.string().nullable().meta({ example: '+881632000000' }),
  notify: z.object({ email: z.boolean(), sms: z.boolean() }),
  description: z.string(),
  message: z.string(),
  disabled: z.boolean(),
  disabledMessage: z.string(),
  tags: z.record(z.string(), z.string()),
  privileges: z.array(z.enum(PRIVILEGES)),
  group: z.string().nullable(),
  deviceId: z.string().nullable(),
  adminDevices: z.int().nullable(),
  from: time.nullable().meta({ example: '2026-01-01T00:00:00.000Z' }),
  expires: time.nullable().meta({ example: '2028-01-01T00:00:00.000Z' }),
  password: z.null(),
  creation: time,
  modification: time,
  lastLogin: time
    .nullable()
    .meta({ description: 'When a key bound to the user was last exchanged for a token.' }),
}

export const user = z.object(members).meta({ id: 'User' })
const reply = z.intersection(user, done).meta({ id: 'UserReply' })
const WRITTEN = ['success', 'id', 'creation', 'modification', 'lastLogin'] as const
const tag = 'Users'

export const listCountries = define({
  id: 'listCountries',
  tag,
  summary: 'List countries',
  description:
    'The 249 countries of ISO 3166-1: alpha-2 code to English name. Can be cached for an hour.',
  scope: 'read',
  reply: z.object({ success, countries: z.record(z.string(), z.string()) }),
  etag: true,
})

export const listTimeZones = define({
  id: 'listTimeZones',
  tag,
  summary: 'List time zones',
  description: 'IANA name to long English name. Can be cached for an hour.',
  scope: 'read',
  reply: z.object({ success, timeZones: z.record(z.string(), z.string()) }),
  etag: true,
})

export const listUsers = define({
  id: 'listUsers',
  tag,
  summary: 'List users',
  scope: 'read',
  wholeAccount: true,
  query: z.strictObject({
    ...pageQuery,
    q: search.meta({ description: 'Prefix of the name or the e-mail address, ignoring case.' }),
  }),
  reply: z.object({ success, users: z.array(user), nextCursor }),
})

export const createUser = define({
  id: 'createUser',
  tag,
  summary: 'Create a user',
  scope: 'admin',
  wholeAccount: true,
  body: userBody,
  ignored: WRITTEN,
  status: 201,
  reply,
  problems: ['email-taken'],
  etag: true,
  idempotent: true,
})

export const readUser = define({
  id: 'readUser',
  tag,
  summary: 'Read a user',
  scope: 'read',
  wholeAccount: true,
  reply,
  problems: ['user-not-found'],
  etag: true,
})

export const replaceUser = define({
  id: 'replaceUser',
  tag,
  summary: 'Replace a user',
  description:
    'Members that are left out get their default, except `password`, which stays unchanged. A user’s own token cannot change the user’s rights: `disabled`, `privileges`, `group`, `adminDevices`, `from` and `expires`.',
  scope: 'admin',
  wholeAccount: true,
  body: userBody,
  ignored: WRITTEN,
  reply,
  problems: ['user-not-found', 'email-taken', 'conflict'],
  etag: true,
  ifMatch: true,
})

export const patchUser = define({
  id: 'patchUser',
  tag,
  summary: 'Change a user',
  description:
    'A user’s own token cannot change the user’s rights: `disabled`, `privileges`, `group`, `adminDevices`, `from` and `expires`.',
  scope: 'admin',
  wholeAccount: true,
  patches: replaceUser,
  example: { disabled: true, disabledMessage: 'On leave until May.' },
  reply,
  problems: ['user-not-found', 'email-taken', 'conflict'],
  etag: true,
  ifMatch: true,
})

export const deleteUser = define({
  id: 'deleteUser',
  tag,
  summary: 'Delete a user',
  description: 'Also deletes the API keys that are bound to the user.',
  scope: 'admin',
  wholeAccount: true,
  reply: done,
  problems: ['user-not-found'],
  ifMatch: true,
})
