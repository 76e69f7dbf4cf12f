import * as z from 'zod'
import { define } from '../http/contract.ts'
import { nextCursor, pageQuery } from '../http/page.ts'
import { day, done, id, idList, line, name, search, success, tags, time } from '../http/wire.ts'
import { location } from '../locations/forms.ts'

const LIMITS_EXAMPLE = {
  expires: true,
  expirationDate: '2027-01-01',
  dailyEmailLimit: 100,
  dailySmsLimit: 20,
}

const dailyLimit = (fallback: number) =>
  z
    .int('must be a whole number')
    .min(0, 'must be at least 0')
    .max(100_000, 'must be at most 100000')
    .default(fallback)

const limits = z
  .strictObject({
    expires: z.boolean('must be true or false').default(false),
    expirationDate: day.nullable().default(null).meta({
      description: 'The device expires when this day begins in the account’s time zone.',
    }),
    dailyEmailLimit: dailyLimit(100),
    dailySmsLimit: dailyLimit(20),
  })
  .refine(({ expires, expirationDate }) => !expires || expirationDate !== null, {
    path: ['expirationDate'],
    error: 'is required when expires is true',
  })
  .meta({ example: LIMITS_EXAMPLE })

export const deviceBody = z
  .strictObject({
    name: name.meta({ example: 'Tern 7' }),
    description: line(2000).default(''),
    min: line(32)
      .default('')
      .meta({ description: 'The device’s own phone number.', example: '+881632000000' }),
    identifier: line(64)
      .trim()
      .nullable()
      .default(null)
      .transform((text) => text || null)
      .meta({
        description: 'IMEI, ESN or serial number; unique in the account.',
        example: '300434060000000',
      }),
    model: line(200).default('').meta({ example: 'RockSTAR' }),
    tags: tags.default({}),
    limits: limits.prefault({}),
  })
  .meta({ id: 'DeviceBody' })

const usage = z
  .object({ date: day, emailsSent: z.int(), smsSent: z.int() })
  .meta({ example: { date: '2026-11-14', emailsSent: 3, smsSent: 0 } })

const suppressed = z.int().optional().meta({
  description: 'How many messages the daily limit suppressed; absent when there were none.',
})
const dayReport = z
  .object({ ...usage.shape, emailsSuppressed: suppressed, smsSuppressed: suppressed })
  .meta({ example: { date: '2026-11-14', emailsSent: 3, smsSent: 20, smsSuppressed: 4 } })

export const device = z
  .object({
    id: id('dev'),
    name: z.string().meta({ example: 'Tern 7' }),
    description: z.string().meta({ example: '' }),
    min: z.string().meta({ example: '+881632000000' }),
    identifier: z.string().nullable().meta({ example: '300434060000000' }),
    model: z.string().meta({ example: 'RockSTAR' }),
    tags: z.record(z.string(), z.string()).meta({ example: { fleet: 'north' } }),
    groups: z
      .array(id('grp'))
      .meta({ description: 'The groups of the device. To change them, edit the groups.' }),
    state: z.enum(['active', 'expired']),
    expires: time.nullable().meta({
      description: 'When the device expires or expired; null when it never does.',
      example: '2027-01-01T00:00:00.000Z',
    }),
    limits: z
      .object({
        expires: z.boolean(),
        expirationDate: day.nullable(),
        dailyEmailLimit: z.int(),
        dailySmsLimit: z.int(),
      })
      .meta({ example: LIMITS_EXAMPLE }),
    usage,
    lastLocation: location.nullable(),
    lastContact: time
      .nullable()
      .meta({ description: 'When anything last arrived from the device, even if it was refused.' }),
    creation: time,
    lastModified: time,
  })
  .meta({ id: 'Device' })

const reply = z.object({ success, device })
/** Members that the server sets. */
const SERVER_MEMBERS = [
  'success',
  'id',
  'groups',
  'state',
  'expires',
  'usage',
  'lastLocation',
  'lastContact',
  'creation',
  'lastModified',
] as const
const tag = 'Devices'
const MAX_IDS = 100

export const listDevices = define({
  id: 'listDevices',
  tag,
  summary: 'List devices',
  description: 'With several filters, only devices that match all of them are listed.',
  scope: 'read',
  query: z.strictObject({
    ...pageQuery,
    state: z
      .enum(['active', 'expired'], 'must be active or expired')
      .optional()
      .meta({ description: 'Only devices in this state.' }),
    group: z
      .string()
      .optional()
      .meta({ description: 'Only devices in this group, named by its id.' }),
    identifier: line(64)
      .trim()
      .min(1, 'must not be empty')
      .optional()
      .meta({ description: 'Only the device with this identifier, without regard to case.' }),
    ids: idList(MAX_IDS)
      .refine((given) => given.length > 0, 'must name at least one id')
      .optional()
      .meta({
        description: `Up to ${MAX_IDS} device ids separated by commas: only these devices. Unknown ids are left out.`,
        example: 'dev_01k…,dev_02m…',
      }),
    q: search.meta({ description: 'Prefix of name or identifier, without regard to case.' }),
    sort: z
      .enum(
        ['name', '-name', 'creation', '-creation'],
        'must be name, -name, creation or -creation',
      )
      .default('name')
      .meta({ description: 'The order of the list; `-` means descending.' }),
  }),
  reply: z.object({ success, devices: z.array(device), nextCursor }),
})

export const createDevice = define({
  id: 'createDevice',
  tag,
  summary: 'Create a device',
  description: 'Takes a license, unless its expiration date is already reached.',
  scope: 'write',
  body: deviceBody,
  wrapper: 'device',
  ignored: SERVER_MEMBERS,
  status: 201,
  reply,
  problems: ['no-license-available', 'identifier-taken', 'device-cap-reached', 'group-full'],
  etag: true,
  idempotent: true,
})

export const readDevice = define({
  id: 'readDevice',
  tag,
  summary: 'Read a device',
  scope: 'read',
  reply,
  problems: ['device-not-found'],
  etag: true,
})

export const replaceDevice = define({
  id: 'replaceDevice',
  tag,
  summary: 'Replace a device',
  description:
    'Members that are left out get their default values. Making an expired device active again takes a license.',
  scope: 'write',
  body: deviceBody,
  wrapper: 'device',
  ignored: SERVER_MEMBERS,
  reply,
  problems: ['device-not-found', 'no-license-available', 'identifier-taken'],
  etag: true,
  ifMatch: true,
})

export const patchDevice = define({
  id: 'patchDevice',
  tag,
  summary: 'Change a device',
  scope: 'write',
  patches: replaceDevice,
  example: { name: 'Tern 8' },
  reply,
  problems: ['device-not-found', 'no-license-available', 'identifier-taken', 'conflict'],
  etag: true,
  ifMatch: true,
})

export const deleteDevice = define({
  id: 'deleteDevice',
  tag,
  summary: 'Delete a device',
  description: 'Frees its license. Its data can no longer be read and are erased soon.',
  scope: 'write',
  reply: done,
  problems: ['device-not-found'],
  ifMatch: true,
})

export const reactivateDevice = define({
  id: 'reactivateDevice',
  tag,
  summary: 'Reactivate a device',
  description:
    'Makes the device active until a date, or forever. A device that is already active just gets the new date.',
  scope: 'write',
  optionalBody: true,
  body: z.strictObject({
    expirationDate: day
      .nullable()
      .default(null)
      .meta({ description: 'Null or left out: the device does not expire.' }),
  }),
  example: { expirationDate: '2027-01-01' },
  reply,
  problems: ['device-not-found', 'no-license-available', 'expiration-date-reached'],
  etag: true,
  idempotent: true,
})

export const readUsage = define({
  id: 'readUsage',
  tag,
  summary: 'Read a device’s daily usage',
  description:
    'Messages sent on each day in the account’s time zone, both ends included. By default the last 90 days; at most 400.',
  scope: 'read',
  query: z.strictObject({
    from: day.optional().meta({ description: 'The first day. Default: 89 days before the last.' }),
    to: day.optional().meta({ description: 'The last day. Default: today.' }),
  }),
  reply: z.object({ success, usage: z.array(dayReport) }),
  problems: ['device-not-found'],
})
