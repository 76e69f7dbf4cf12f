import * as z from 'zod'
import { MAX_GROUP_DEVICES } from '../domain/account/group.ts'
import { fold } from '../domain/text/fold.ts'
import { id, line, name, search, time } from '../http/contract/wire.ts'
import { resource } from '../http/resource/contract.ts'

const DESCRIPTION = 'A description of your own.'

const groupBody = z
  .strictObject({
    name: name
      .refine((text) => !fold(text).startsWith('grp_'), 'must not begin with grp_, as ids do')
      .meta({
        description:
          'Unique in the account, without regard to case. It must not begin with `grp_`, as ids do.',
        example: 'North fleet',
      }),
    description: line(2000).default('').meta({ description: DESCRIPTION }),
    devices: z
      .array(z.string('must be a device’s id'), 'must be a list of device ids')
      .max(MAX_GROUP_DEVICES, `must have at most ${MAX_GROUP_DEVICES} devices`)
      .default([])
      .meta({ description: 'A set of ids of devices of this account.', example: [] }),
  })
  .meta({ id: 'GroupBody' })

export const group = z
  .object({
    id: id('grp').meta({ description: 'The group’s id.' }),
    name: z.string().meta({ description: 'Unique in the account.', example: 'North fleet' }),
    description: z.string().meta({ description: DESCRIPTION }),
    devices: z
      .array(id('dev'))
      .meta({ description: 'The ids of the group’s devices, oldest device first.' }),
    creation: time.meta({ description: 'When the group was created.' }),
    lastModified: time.meta({ description: 'When the group or its devices were last changed.' }),
  })
  .meta({ id: 'Group' })

export const groups = resource({
  name: 'group',
  tag: 'Groups',
  reading: { scope: 'read' },
  writing: { scope: 'write', wholeAccount: true },
  schema: group,
  body: groupBody,
  isFlat: true,
  list: {
    description:
      'A user who is confined to a group sees that one alone. Pages with many devices have fewer groups.',
    filters: { q: search.meta({ description: 'Prefix of the name, without regard to case.' }) },
  },
  create: { problems: ['name-taken'] },
  edit: { problems: ['name-taken'] },
  replace: {
    description: 'What is left out goes back to its default: without `devices` the group is empty.',
  },
  patch: {
    description:
      'A device is added with `[{ "op": "add", "path": "/devices/-", "value": "dev_…" }]`; only what changes is written. To remove one, send its index together with the `If-Match` of the version that you read. So several editors of a group do not undo each other’s changes.',
    example: { name: 'North fleet' },
  },
  remove: {
    description: 'Its devices stay. A group that users are confined to is not deleted.',
    problems: ['group-in-use'],
  },
})
