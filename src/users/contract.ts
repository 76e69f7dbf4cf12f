import * as z from 'zod'
import { PRIVILEGES } from '../domain/account/user.ts'
import { define } from '../http/contract/contract.ts'
import { id, search, success, time } from '../http/contract/wire.ts'
import { resource } from '../http/resource/contract.ts'
import { ABOUT, userBody } from './forms.ts'

export const notify = z
  .object({
    email: z.boolean().meta({ description: ABOUT.notifyEmail }),
    sms: z.boolean().meta({ description: ABOUT.notifySms }),
    push: z.boolean().meta({ description: ABOUT.notifyPush }),
    voice: z.boolean().meta({ description: ABOUT.notifyVoice }),
  })
  .meta({ description: ABOUT.notify })

export const user = z
  .object({
    id: id('usr').meta({ description: 'The user’s id.' }),
    name: z.string().meta({ description: ABOUT.name, example: 'Ana Sousa' }),
    email: z.string().meta({ description: ABOUT.email, example: 'ana@example.com' }),
    country: z.string().meta({ description: 'ISO 3166-1 alpha-2.', example: 'PT' }),
    timeZone: z.string().meta({ description: ABOUT.timeZone, example: 'Europe/Lisbon' }),
    phone: z.string().nullable().meta({ description: ABOUT.phone, example: '+881632000000' }),
    notify,
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
    lastLogin: time.nullable().meta({
      description: 'When the user last signed in, or a key bound to the user got a token.',
    }),
    lastSeen: time.nullable().meta({
      description:
        '`lastLogin`, or when a session of the user was last refreshed if that is later.',
    }),
    invited: z.boolean().meta({
      description: 'Whether the user was invited and has no password yet.',
      example: false,
    }),
  })
  .meta({ id: 'User' })

export const listCountries = define({
  id: 'listCountries',
  tag: 'Users',
  summary: 'List countries',
  description:
    'The 249 countries of ISO 3166-1: alpha-2 code to English name. Can be cached for an hour.',
  scope: 'read',
  reply: z.object({ success, countries: z.record(z.string(), z.string()) }),
  etag: true,
})

export const listTimeZones = define({
  id: 'listTimeZones',
  tag: 'Users',
  summary: 'List time zones',
  description: 'IANA name to long English name. Can be cached for an hour.',
  scope: 'read',
  reply: z.object({ success, timeZones: z.record(z.string(), z.string()) }),
  etag: true,
})

const OWN_RIGHTS =
  'A user’s own token cannot change the user’s rights: `disabled`, `privileges`, `group`, `adminDevices`, `from` and `expires`.'

const OWN_LIMITS =
  'A token bound to a user cannot give a user wider `adminDevices` or `expires` than its own user has. Of a user who has wider ones it can neither change the password or the e-mail address nor extend the rights. A program that acts for a user by OAuth makes and changes no users (403).'

export const users = resource({
  name: 'user',
  tag: 'Users',
  reading: { scope: 'read', wholeAccount: true },
  writing: { scope: 'admin', wholeAccount: true },
  schema: user,
  body: userBody,
  isFlat: true,
  list: {
    filters: {
      q: search.meta({ description: 'Prefix of the name or the e-mail address, ignoring case.' }),
    },
  },
  create: { description: OWN_LIMITS, problems: ['email-taken', 'user-limit-reached'] },
  edit: { problems: ['email-taken'] },
  replace: {
    description: `Members that are left out get their default, except \`password\`, which stays unchanged. ${OWN_RIGHTS} ${OWN_LIMITS}`,
  },
  patch: {
    description: `${OWN_RIGHTS} ${OWN_LIMITS}`,
    example: { disabled: true, disabledMessage: 'On leave until May.' },
  },
  remove: {
    description:
      'Also deletes the API keys that are bound to the user, and ends the user’s sessions.',
  },
})
