import * as z from 'zod'
import { MAX_GROUP_DEVICES } from '../domain/account/group.ts'
import { fold } from '../domain/text/fold.ts'
import { define } from '../http/contract/contract.ts'
import { resourceForms } from '../http/contract/resource.ts'
import { done, id, line, name, search, success, time } from '../http/contract/wire.ts'
import { nextCursor, pageQuery } from '../http/paging/page.ts'

const DESCRIPTION = 'A description of your own.'

export const groupBody = z
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
export type GroupBody = z.output<typeof groupBody>

const members = {
  id: id('grp').meta({ description: 'The group’s id.' }),
  name: z.string().meta({ description: 'Unique in the account.', example: 'North fleet' }),
  description: z.string().meta({ description: DESCRIPTION }),
  devices: z
    .array(id('dev'))
    .meta({ description: 'The ids of the group’s devices, oldest device first.' }),
  creation: time.meta({ description: 'When the group was created.' }),
  lastModified: time.meta({ description: 'When the group or its devices were last changed.' }),
}

export const group = z.object(members).meta({ id: 'Group' })
const reply = z.intersection(group, done).meta({ id: 'GroupReply' })
const tag = 'Groups'
const { read, create, edit, remove } = resourceForms(reply, 'group-not-found', {
  reading: { tag, scope: 'read' },
  writing: { tag, scope: 'write', wholeAccount: true },
})
const written = {
  body: groupBody,
  ignored: ['success', 'id', 'creation', 'lastModified'],
} as const

export const listGroups = define({
  id: 'listGroups',
  tag,
  summary: 'List groups',
  description:
    'A user who is confined to a group sees that one alone. Pages with many devices have fewer groups.',
  scope: 'read',
  query: z.strictObject({
    ...pageQuery,
    q: search.meta({ description: 'Prefix of the name, without regard to case.' }),
  }),
  reply: z.object({ success, groups: z.array(group), nextCursor }),
})

export const createGroup = define({
  id: 'createGroup',
  ...create,
  ...written,
  summary: 'Create a group',
  problems: ['name-taken'],
})

export const readGroup = define({ id: 'readGroup', ...read, summary: 'Read a group' })

export const replaceGroup = define({
  id: 'replaceGroup',
  ...edit,
  ...written,
  summary: 'Replace a group',
  description: 'What is left out goes back to its default: without `devices` the group is empty.',
  problems: ['group-not-found', 'name-taken', 'conflict'],
})

export const patchGroup = define({
  id: 'patchGroup',
  ...edit,
  summary: 'Change a group',
  description:
    'A device is added with `[{ "op": "add", "path": "/devices/-", "value": "dev_…" }]`; only what changes is written.',
  patches: replaceGroup,
  example: { name: 'North fleet' },
  problems: ['group-not-found', 'name-taken', 'conflict'],
})

export const deleteGroup = define({
  id: 'deleteGroup',
  ...remove,
  summary: 'Delete a group',
  description: 'Its devices stay. A group that users are confined to is not deleted.',
  problems: ['group-not-found', 'group-in-use'],
})
