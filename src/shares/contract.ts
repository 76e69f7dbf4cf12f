import * as z from 'zod'
import {
  MAX_SHARE_DELAY_MINUTES,
  MAX_SHARE_HOURS,
  MAX_SHARED_DEVICES,
  MAX_SHARES,
  PRECISIONS,
} from '../domain/share/share.ts'
import { MAX_FILTERED } from '../events/contract.ts'
import { id, instant, line, name, time } from '../http/contract/wire.ts'
import { resource } from '../http/resource/contract.ts'

const DEVICE_ID = 'dev_1jn7wz3h4q8v2n5t7r6m0p'
const ABOUT = {
  name: 'What the page of the share is called. Those who open it see it.',
  devices: 'The devices that are shown, beside those in `groups`.',
  groups: 'The groups whose devices are shown, as they are in them when somebody looks.',
  from: 'The share is open from then, and shows no older location; null: from now, and all.',
  until: 'The share is open until then; null: until it is deleted.',
  history: `How many hours of the tracks are shown, at most ${MAX_SHARE_HOURS}; 0: only where the devices are.`,
  delayMinutes:
    'Locations are shown when they are so many minutes old, so that nobody can follow a device live.',
  precision:
    '`exact`, or the middle of a grid cell of about 1 or 10 km in place of each position, with times rounded down to ten minutes or an hour. A location is shown when these have passed; one that arrives later shows when it arrives.',
}

const list = z
  .array(
    z.string('must be an id').max(64, 'must be an id: text of at most 64 characters'),
    'must be a list of ids',
  )
  .max(MAX_FILTERED, `must have at most ${MAX_FILTERED} ids`)
  .transform((ids) => [...new Set(ids)])
  .default([])
const whole = (max: number) =>
  z
    .int('must be a whole number')
    .min(0, 'must be 0 or more')
    .max(max, `must be at most ${max}`)
    .default(0)
const end = instant.nullable().default(null)

const MIN_PASSWORD_LENGTH = 8
const password = line(256)
  .refine(
    (text) => text === '' || [...text].length >= MIN_PASSWORD_LENGTH,
    `must have at least ${MIN_PASSWORD_LENGTH} characters, or none to remove the password`,
  )
  .nullable()
  .default(null)
  .meta({
    description: `Write-only: stored as a salted hash and always null in replies. At least ${MIN_PASSWORD_LENGTH} characters. If left out or null, it stays unchanged; an empty text removes it. Viewers send it by HTTP Basic authentication, with any user name.`,
    example: null,
  })

export const shareBody = z
  .strictObject({
    name: name.meta({ description: ABOUT.name, example: 'Regatta' }),
    devices: list.meta({ description: ABOUT.devices, example: [DEVICE_ID] }),
    groups: list.meta({ description: ABOUT.groups, example: [] }),
    from: end.meta({ description: ABOUT.from, example: null }),
    until: end.meta({ description: ABOUT.until, example: null }),
    history: whole(MAX_SHARE_HOURS).meta({ description: ABOUT.history, example: 24 }),
    delayMinutes: whole(MAX_SHARE_DELAY_MINUTES).meta({
      description: ABOUT.delayMinutes,
      example: 0,
    }),
    precision: z
      .enum(PRECISIONS, `must be one of ${PRECISIONS.join(', ')}`)
      .default('exact')
      .meta({ description: ABOUT.precision }),
    password,
  })
  .refine(({ devices, groups }) => devices.length + groups.length > 0, {
    path: ['devices'],
    error: 'must name a device, unless `groups` names a group',
  })
  .refine(({ from, until }) => from === null || until === null || from < until, {
    path: ['until'],
    error: 'must be later than `from`',
  })
  .meta({ id: 'ShareBody' })
export type ShareBody = z.output<typeof shareBody>

const share = z
  .object({
    id: id('shr'),
    name: z.string().meta({ description: ABOUT.name, example: 'Regatta' }),
    devices: z.array(z.string()).meta({ description: ABOUT.devices, example: [DEVICE_ID] }),
    groups: z.array(z.string()).meta({ description: ABOUT.groups, example: [] }),
    from: time.nullable().meta({ description: ABOUT.from, example: null }),
    until: time.nullable().meta({ description: ABOUT.until, example: null }),
    history: z.int().meta({ description: ABOUT.history, example: 24 }),
    delayMinutes: z.int().meta({ description: ABOUT.delayMinutes, example: 0 }),
    precision: z.enum(PRECISIONS).meta({ description: ABOUT.precision }),
    password: z.null().meta({ description: 'Always null: only a hash is stored.' }),
    hasPassword: z
      .boolean()
      .meta({ description: 'Whether viewers need a password.', example: false }),
    views: z.int().meta({
      description:
        'How often the page or the network link was opened. It is counted with a delay of some seconds.',
      example: 12,
    }),
    lastViewed: time.nullable().meta({
      description: 'When the page or its data were last read; null before that.',
      example: null,
    }),
    creation: time,
    lastModified: time,
  })
  .meta({ id: 'Share' })

const url = z.string().nullable().meta({
  description:
    'The address of the page. Only this reply shows it; a replay by `Idempotency-Key` has null.',
  example: 'https://perigee.example.com/s/00…',
})

const access = { scope: 'write' } as const
const EXAMPLE = {
  name: 'Regatta',
  devices: [DEVICE_ID],
  history: 24,
  delayMinutes: 30,
  precision: '1km',
}

export const shares = resource({
  name: 'share',
  tag: 'Shares',
  reading: access,
  writing: access,
  schema: share,
  body: shareBody,
  ignored: ['url'],
  shownOnce: { url },
  list: {
    description:
      'In the order in which they were created. A user who is confined to a group sees those that users of the group have made.',
  },
  create: {
    description: `Anybody who has the \`url\` sees the names, places and times of the devices, without an account, at most ${MAX_SHARED_DEVICES} devices: a page, \`{url}/locations.geojson\` and \`{url}/link.kml\`, a network link for Google Earth. An address that is wrong, not open or deleted gets 404. A user who is confined to a group can share only devices of the group, and only while they are in it. An account can have at most ${MAX_SHARES} shares.`,
    problems: ['share-limit-reached'],
    example: EXAMPLE,
  },
  replace: {
    description:
      'Members that are left out return to their defaults, except `password`, which stays unchanged. Viewers see the change after a few seconds. The address stays the same.',
    example: EXAMPLE,
  },
  patch: { example: { until: '2026-11-14T09:30:00.000Z' } },
  remove: { description: 'The address gets 404 after a few seconds.' },
})
