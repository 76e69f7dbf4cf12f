import * as z from 'zod'
import { PRIVILEGES } from '../domain/account/user.ts'
import { define } from '../http/contract/contract.ts'
import { resourceForms } from '../http/contract/resource.ts'
import { done, id, search, success, time } from '../http/contract/wire.ts'
import { nextCursor, pageQuery } from '../http/paging/page.ts'
import { ABOUT, userBody } from './forms.ts'

const members = {
  id: id('usr').meta({ description: 'The user’s id.' }),
  name: z.string().meta({ description: ABOUT.name, example: 'Ana Sousa' }),
  email: z.string().meta({ description: ABOUT.email, example: 'ana@example.com' }),
  country: z.string().meta({ description: 'ISO 3166-1 alpha-2.', example: 'PT' }),
  timeZone: z.string().meta({ description: ABOUT.timeZone, example: 'Europe/Lisbon' }),
  phone: z.string().nullable().meta({ description: ABOUT.phone, example: '+881632000000' }),
  notify: z
    .object({
      email: z.boolean().meta({ description: ABOUT.notifyEmail }),
      sms: z.boolean().meta({ description: ABOUT.notifySms }),
    })
    .meta({ description: ABOUT.notify }),
  description: z.string().meta({ description: ABOUT.description }),
  message: z.string().meta({ description: ABOUT.message }),
  disabled: z.boolean().meta({ description: ABOUT.disabled }),
  disabledMessage: z.string().meta({ description: ABOUT.disabledMessage }),
  tags: z.record(z.string(), z.string()).meta({ description: 'Your own names and values.' }),
  privileges: z.array(z.enum(PRIVILEGES)).meta({ description: ABOUT.privileges }),
  group: z.string().nullable().meta({ description: ABOUT.group, example: 'North fleet' }),
  groupId: id('grp').nullable().meta({ description: ABOUT.groupId }),
  deviceId: z.string().nullable().meta({ description: ABOUT.deviceId }),
  adminDevices: z.int().nullable().meta({ description: ABOUT.adminDevices }),
  from: time.nullable().meta({ description: ABOUT.from, example: '2026-01-01T00:00:00.000Z' }),
  expires: time
    .nullable()
    .meta({ description: ABOUT.expires, example: '2028-01-01T00:00:00.000Z' }),
  password: z.null().meta({ description: 'Always null: only a hash is stored.' }),
  creation: time.meta({ description: 'When the user was created.' }),
  modification: time.meta({ description: 'When the user was last edited.' }),
  lastLogin: time
    .nullable()
    .meta({ description: 'When the user last signed in, or a key bound to the user got a token.' }),
}

export const user = z.object(members).meta({ id: 'User' })
const reply = z.intersection(user, done).meta({ id: 'UserReply' })
const tag = 'Users'
const { read, create, edit, remove } = resourceForms(reply, 'user-not-found', {
  reading: { tag, scope: 'read', wholeAccount: true },
  writing: { tag, scope: 'admin', wholeAccount: true },
})
const written = {
  body: userBody,
  ignored: ['success', 'id', 'creation', 'modification', 'lastLogin'],
} as const

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
  ...create,
  ...written,
  summary: 'Create a user',
  problems: ['email-taken'],
})

export const readUser = define({ id: 'readUser', ...read, summary: 'Read a user' })

export const replaceUser = define({
  id: 'replaceUser',
  ...edit,
  ...written,
  summary: 'Replace a user',
  description:
    'Members that are left out get their default, except `password`, which stays unchanged. A user’s own token cannot change the user’s rights: `disabled`, `privileges`, `group`, `adminDevices`, `from` and `expires`.',
  problems: ['user-not-found', 'email-taken', 'conflict'],
})

export const patchUser = define({
  id: 'patchUser',
  ...edit,
  summary: 'Change a user',
  description:
    'A user’s own token cannot change the user’s rights: `disabled`, `privileges`, `group`, `adminDevices`, `from` and `expires`.',
  patches: replaceUser,
  example: { disabled: true, disabledMessage: 'On leave until May.' },
  problems: ['user-not-found', 'email-taken', 'conflict'],
})

export const deleteUser = define({
  id: 'deleteUser',
  ...remove,
  summary: 'Delete a user',
  description:
    'Also deletes the API keys that are bound to the user, and ends the user’s sessions.',
})
