import { Hono } from 'hono'
import { fold } from '../domain/fold.ts'
import type { Group } from '../domain/group.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { answerWithEtag } from '../http/etag.ts'
import { operation } from '../http/operation.ts'
import { answerPage, readCursor } from '../http/page.ts'
import { patched, untilUnrivalled } from '../http/patch.ts'
import { Problem } from '../http/problem.ts'
import { iso } from '../http/wire.ts'
import * as contract from './contract.ts'
import { createGroup, deleteGroup, type GroupOutcome, updateGroup } from './edit.ts'
import { findGroup, listGroups } from './store.ts'

const present = ({ id, name, description, devices, creation, lastModified }: Group) => ({
  id,
  name,
  description,
  devices,
  creation: iso(creation),
  lastModified: iso(lastModified),
})

const flat = (group: Group) => ({ success: true as const, ...present(group) })

/** The group in the path. A confined user sees one: all others are as good as none. */
const visible = async (c: Context): Promise<Group> => {
  const { accountId, groupId } = c.get('principal')
  const id = c.req.param('groupId') ?? ''
  const group = groupId === null || groupId === id ? await findGroup(c.get('db'), accountId, id) : null
  if (!group) throw new Problem('not-found')
  return group
}

const settled = (outcome: GroupOutcome): Group => {
  if (!outcome.ok) throw new Problem(outcome.refusal, 'errors' in outcome ? { errors: outcome.errors } : {})
  return outcome.group
}

/** Reads, makes the edit and writes it; begins again where a rival came between and the caller does not mind. */
const edit = (c: Context, change: (before: Group) => contract.GroupBody): Promise<Group> =>
  untilUnrivalled(c, async () => {
    const before = await visible(c)
    const versions = c.get('ifMatch')
    if (versions && !versions.includes(before.version)) return 'precondition-failed'
    const outcome = await updateGroup(c.get('db'), c.get('principal').accountId, before, change(before), Date.now())
    return !outcome.ok && outcome.refusal === 'precondition-failed' ? outcome.refusal : settled(outcome)
  })

const confinedPage = async (c: Context, groupId: string, q: string | undefined): Promise<Group[]> => {
  const group = await findGroup(c.get('db'), c.get('principal').accountId, groupId)
  return group && fold(group.name).startsWith(q ?? '') ? [group] : []
}

export const groups = new Hono<AppEnv>()
  .get('/', operation(contract.listGroups), async (c) => {
    const { limit, cursor, q } = c.req.valid('query')
    const { accountId, groupId } = c.get('principal')
    const [after = ''] = (await readCursor(c, cursor)) ?? []
    const prefix = q && fold(q)
    const page =
      groupId === null
        ? await listGroups(c.get('db'), accountId, String(after), prefix, limit)
        : { groups: await confinedPage(c, groupId, prefix), next: null }
    return answerPage(c, 'groups', page.groups.map(present), page.next === null ? null : [page.next])
  })
  .post('/', operation(contract.createGroup), async (c) => {
    const id = await c.get('newId')('grp')
    const group = settled(await createGroup(c.get('db'), c.get('principal').accountId, id, c.req.valid('json'), Date.now()))
    return answerWithEtag(c, flat(group), group.version, 201, { Location: `/api/groups/${id}` })
  })
  .get('/:groupId', operation(contract.readGroup), async (c) => {
    const group = await visible(c)
    return answerWithEtag(c, flat(group), group.version)
  })
  .put('/:groupId', operation(contract.replaceGroup), async (c) => {
    const group = await edit(c, () => c.req.valid('json'))
    return answerWithEtag(c, flat(group), group.version)
  })
  .patch('/:groupId', operation(contract.patchGroup), async (c) => {
    const group = await edit(c, (before) => patched(c.req.valid('json'), flat(before), contract.replaceGroup))
    return answerWithEtag(c, flat(group), group.version)
  })
  .delete('/:groupId', operation(contract.deleteGroup), async (c) => {
    const outcome = await deleteGroup(c.get('db'), c.get('principal').accountId, c.req.param('groupId'), c.get('ifMatch'))
    if (!outcome.ok) throw new Problem(outcome.refusal)
    return c.json({ success: true as const })
  })
