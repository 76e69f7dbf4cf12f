import { Hono } from 'hono'
import type { Group } from '../domain/account/group.ts'
import { fold } from '../domain/text/fold.ts'
import { applyPatch } from '../http/body/patch.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { operation } from '../http/contract/operation.ts'
import { Problem, requireOk } from '../http/contract/problem.ts'
import { readCursor } from '../http/paging/page.ts'
import { editResource } from '../http/reply/editResource.ts'
import { reply, replyPage, replyWithEtag } from '../http/reply/reply.ts'
import * as contract from './contract.ts'
import { createGroup, deleteGroup, updateGroup } from './edit.ts'
import { presentGroup } from './present.ts'
import { findGroup, listGroups } from './store.ts'

const presentFlat = (group: Group) => ({ success: true as const, ...presentGroup(group) })

/** The group in the path. A confined user sees only its own group. */
const findVisible = async (c: Context): Promise<Group> => {
  const { accountId, groupId } = c.get('principal')
  const id = c.req.param('groupId') ?? ''
  const isVisible = groupId === null || groupId === id
  const group = isVisible ? await findGroup(c.get('db'), accountId, id) : null
  if (!group) throw new Problem('group-not-found')
  return group
}

const editGroup = (c: Context, change: (before: Group) => contract.GroupBody) =>
  editResource(c, {
    find: () => findVisible(c),
    change,
    write: (before, record) => {
      const { accountId } = c.get('principal')
      return updateGroup(c.get('db'), { accountId, before, record, now: Date.now() })
    },
  })

const listConfined = async (c: Context, groupId: string, q: string | undefined) => {
  const group = await findGroup(c.get('db'), c.get('principal').accountId, groupId)
  return { groups: group && fold(group.name).startsWith(q ?? '') ? [group] : [], next: null }
}

export const groups = new Hono<AppEnv>()
  .get('/', operation(contract.listGroups), async (c) => {
    const { limit, cursor, q: text } = c.req.valid('query')
    const { accountId, groupId } = c.get('principal')
    const [after = ''] = (await readCursor(c, cursor)) ?? []
    const q = text && fold(text)
    const page =
      groupId === null
        ? await listGroups(c.get('db'), { accountId, after: String(after), q, limit })
        : await listConfined(c, groupId, q)
    const last = page.next === null ? null : [page.next]
    return replyPage(c, contract.listGroups, { groups: page.groups.map(presentGroup) }, last)
  })
  .post('/', operation(contract.createGroup), async (c) => {
    const id = await c.get('newId')('grp')
    const { accountId } = c.get('principal')
    const record = c.req.valid('json')
    const { group } = requireOk(
      await createGroup(c.get('db'), { accountId, id, record, now: Date.now() }),
    )
    return replyWithEtag(c, contract.createGroup, presentFlat(group), {
      version: group.version,
      location: `/api/groups/${id}`,
    })
  })
  .get('/:groupId', operation(contract.readGroup), async (c) => {
    const group = await findVisible(c)
    return replyWithEtag(c, contract.readGroup, presentFlat(group), group)
  })
  .put('/:groupId', operation(contract.replaceGroup), async (c) => {
    const { group } = await editGroup(c, () => c.req.valid('json'))
    return replyWithEtag(c, contract.replaceGroup, presentFlat(group), group)
  })
  .patch('/:groupId', operation(contract.patchGroup), async (c) => {
    const patch = c.req.valid('json')
    const { group } = await editGroup(c, (before) =>
      applyPatch(patch, presentFlat(before), contract.replaceGroup),
    )
    return replyWithEtag(c, contract.patchGroup, presentFlat(group), group)
  })
  .delete('/:groupId', operation(contract.deleteGroup), async (c) => {
    const { accountId } = c.get('principal')
    const id = c.req.param('groupId')
    const versions = c.get('ifMatch')
    requireOk(await deleteGroup(c.get('db'), { accountId, id, versions }))
    return reply(c, contract.deleteGroup, { success: true })
  })
