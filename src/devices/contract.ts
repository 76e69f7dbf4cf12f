import * as z from 'zod'
import { RESTORE_DEVICE_DAYS } from '../domain/admin/status.ts'
import { define } from '../http/contract/contract.ts'
import { dropNulls } from '../http/contract/nulls.ts'
import { day, idList, line, search, success } from '../http/contract/wire.ts'
import { resource } from '../http/resource/contract.ts'
import { dayReport, device, deviceBody } from './forms.ts'

const MAX_IDS = 100

export const devices = resource({
  name: 'device',
  tag: 'Devices',
  reading: { scope: 'read' },
  writing: { scope: 'write' },
  schema: device,
  body: deviceBody,
  list: {
    description: 'With several filters, only devices that match all of them are listed.',
    filters: {
      deleted: z
        .enum(['true', 'false'], 'must be true or false')
        .default('false')
        .meta({
          description: `Lists the devices that were deleted in the last ${RESTORE_DEVICE_DAYS} days instead, with \`deletedAt\` and \`restorableUntil\`. Other filters do not apply.`,
        }),
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
      contains: search.meta({
        description:
          'Any part of name or identifier, without regard to case. A page looks at 5,000 devices at most: it may be empty and still have a `nextCursor`.',
      }),
      sort: z
        .enum(
          ['name', '-name', 'creation', '-creation'],
          'must be name, -name, creation or -creation',
        )
        .default('name')
        .meta({ description: 'The order of the list; `-` means descending.' }),
    },
  },
  create: {
    description: 'Takes a license, unless its expiration date is already reached.',
    problems: [
      'no-license-available',
      'identifier-taken',
      'device-cap-reached',
      'device-deleted',
      'group-full',
    ],
  },
  edit: { problems: ['no-license-available', 'identifier-taken'] },
  replace: {
    description:
      'Members that are left out get their default values. Making an expired device active again takes a license.',
    problems: ['device-not-found', 'no-license-available', 'identifier-taken'],
  },
  patch: { example: { name: 'Tern 8' } },
  remove: {
    description: `Frees its license. Its data can no longer be read; after ${RESTORE_DEVICE_DAYS} days they are erased. Until then \`POST …/restore\` brings it back.`,
  },
})

const editedBody = deviceBody.extend({ min: line(32).default('') })

/** PUT and PATCH take any `min`: one from before numbers were checked stays. See `requirePhone`. */
export const replacedDevice = {
  ...devices.replace,
  read: (value: unknown) => editedBody.safeParse(dropNulls(editedBody, value)),
}
export const patchedDevice = { ...devices.replace, body: editedBody }

export const reactivateDevice = define({
  id: 'reactivateDevice',
  tag: 'Devices',
  summary: 'Reactivate a device',
  ignoresStorage: true,
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
  reply: devices.read.reply,
  problems: ['device-not-found', 'no-license-available', 'expiration-date-reached'],
  etag: true,
  idempotent: true,
})

export const restoreDevice = define({
  id: 'restoreDevice',
  tag: 'Devices',
  summary: 'Restore a deleted device',
  ignoresStorage: true,
  description: `Brings back a device that was deleted in the last ${RESTORE_DEVICE_DAYS} days, with its track, its alerts and its groups, as far as they exist. Takes a license unless it has expired. Rules that named it and its check-ins do not come back.`,
  scope: 'write',
  reply: devices.read.reply,
  problems: ['device-not-found', 'no-license-available', 'identifier-taken', 'group-full'],
  etag: true,
  idempotent: true,
})

export const readUsage = define({
  id: 'readUsage',
  tag: 'Devices',
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
