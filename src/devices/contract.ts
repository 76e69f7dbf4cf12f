import * as z from 'zod'
import { define } from '../http/contract/contract.ts'
import { resourceForms } from '../http/contract/resource.ts'
import { day, idList, line, search, success } from '../http/contract/wire.ts'
import { nextCursor, pageQuery } from '../http/paging/page.ts'
import { dayReport, device, deviceBody } from './forms.ts'

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
const { read, create, edit, remove } = resourceForms(reply, 'device-not-found', {
  reading: { tag, scope: 'read' },
  writing: { tag, scope: 'write' },
})
const written = { body: deviceBody, wrapper: 'device', ignored: SERVER_MEMBERS } as const
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
        description: `One to ${MAX_IDS} device ids separated by commas: only these devices. Unknown ids are left out.`,
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
  ...create,
  ...written,
  summary: 'Create a device',
  description: 'Takes a license, unless its expiration date is already reached.',
  problems: [
    'no-license-available',
    'identifier-taken',
    'device-cap-reached',
    'device-deleted',
    'group-full',
  ],
})

export const readDevice = define({ id: 'readDevice', ...read, summary: 'Read a device' })

export const replaceDevice = define({
  id: 'replaceDevice',
  ...edit,
  ...written,
  summary: 'Replace a device',
  description:
    'Members that are left out get their default values. Making an expired device active again takes a license.',
  problems: ['device-not-found', 'no-license-available', 'identifier-taken'],
})

export const patchDevice = define({
  id: 'patchDevice',
  ...edit,
  summary: 'Change a device',
  patches: replaceDevice,
  example: { name: 'Tern 8' },
  problems: ['device-not-found', 'no-license-available', 'identifier-taken', 'conflict'],
})

export const deleteDevice = define({
  id: 'deleteDevice',
  ...remove,
  summary: 'Delete a device',
  description: 'Frees its license. Its data can no longer be read and are erased soon.',
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
