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

const COUNTRY = 'must be a country of ISO 3166-1, alpha-2 or alpha-3'
const country = z
  .string(COUNTRY)
  .transform((text) => countryCode(text) ?? '')
  .refine((code) => code !== '', COUNTRY)
  .meta({ description: 'ISO 3166-1 alpha-2 or alpha-3; kept as alpha-2.', example: 'PT' })

const EMAIL = 'must be an e-mail address'
const email = z
  .string(EMAIL)
  .refine((text) => emailKey(text) !== null, EMAIL)
  .meta({
    format: 'idn-email',
    description: 'Unique in the account, without regard to case.',
    example: 'ana@example.com',
  })

const privileges = z
  .array(z.enum(PRIVILEGES, 'must be read, write or admin'), 'must be a list of privileges')
  .max(PRIVILEGES.length, 'must not repeat itself')
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
      'Write-only: kept as a salted hash and answered as null. Left out or null, it stays as it is.',
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
      .meta({ description: 'By which channels the user gets the messages of alerts.' }),
    description: line(2000).default(''),
    message: line(2000).default(''),
    disabled: flag(false),
    disabledMessage: line(2000)
      .default('')
      .meta({ description: 'What a disabled user is told when asking for a token.' }),
    tags: tags.default({}),
    privileges,
    group: z.string('must be a group’s id or name').nullable().default(null).meta({
      description:
        'The id or the name of the group that the user is confined to; null for the whole account.',
    }),
    deviceId: z.string('must be a device’s id').nullable().default(null),
    adminDevices: z
      .int('must be a whole number')
      .min(0, 'must be at least 0')
      .max(1_000_000, 'must be at most 1000000')
      .nullable()
      .default(null)
      .meta({
        description: 'How many devices of its own making the user may have; null for no cap.',
      }),
    from: instant.nullable().default(null).meta({
      description: 'Before this the user may do nothing.',
      example: '2026-01-01T00:00:00.000Z',
    }),
    expires: instant.nullable().default(null).meta({
      description: 'From this on the user may do nothing.',
      example: '2028-01-01T00:00:00.000Z',
    }),
    password,
  })
  .refine(({ from, expires }) => from === null || expires === null || from < expires, {
    path: ['expires'],
    error: 'must be after from',
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
    .meta({ description: 'When a key bound to the user last got a token.' }),
}

export const user = z.object(members).meta({ id: 'User' })
const reply = z.object({ success, ...members })
const WRITTEN = ['success', 'id', 'creation', 'modification', 'lastLogin'] as const
const tag = 'Users'

export const listCountries = define({
  id: 'listCountries',
  tag,
  summary: 'List countries',
  description: 'The 249 of ISO 3166-1, alpha-2 to English name. May be kept for an hour.',
  scope: 'read',
  reply: z.object({ success, countries: z.record(z.string(), z.string()) }),
  etag: true,
})

export const listTimeZones = define({
  id: 'listTimeZones',
  tag,
  summary: 'List time zones',
  description: 'IANA names, each with its long English name. May be kept for an hour.',
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
    q: search.meta({ description: 'Prefix of name or e-mail, without regard to case.' }),
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
  problems: ['not-found'],
  etag: true,
})

export const replaceUser = define({
  id: 'replaceUser',
  tag,
  summary: 'Replace a user',
  description:
    'What is left out goes back to its default, but for `password`. A token of the user itself cannot change what it may.',
  scope: 'admin',
  wholeAccount: true,
  body: userBody,
  ignored: WRITTEN,
  reply,
  problems: ['not-found', 'email-taken', 'conflict'],
  etag: true,
  ifMatch: true,
})

export const patchUser = define({
  id: 'patchUser',
  tag,
  summary: 'Change a user',
  description: 'A token of the user itself cannot change what it may.',
  scope: 'admin',
  wholeAccount: true,
  patches: replaceUser,
  example: { disabled: true, disabledMessage: 'On leave until May.' },
  reply,
  problems: ['not-found', 'email-taken', 'conflict'],
  etag: true,
  ifMatch: true,
})

export const deleteUser = define({
  id: 'deleteUser',
  tag,
  summary: 'Delete a user',
  description: 'The keys that are bound to the user go with it.',
  scope: 'admin',
  wholeAccount: true,
  reply: done,
  problems: ['not-found'],
  ifMatch: true,
})
