import { Hono } from 'hono'
import { evictKeysOfUser } from '../auth/keyStatus.ts'
import { hashPassword } from '../auth/password.ts'
import { COUNTRIES } from '../domain/account/countries.ts'
import type { UserRecord } from '../domain/account/user.ts'
import { fold } from '../domain/text/fold.ts'
import { sameJson } from '../domain/text/json.ts'
import { timeZoneNames } from '../domain/time/timeZones.ts'
import { pokeIfSubscribed } from '../feed/stub.ts'
import { resolveGroup } from '../groups/store.ts'
import { admit } from '../http/auth.ts'
import { applyPatch, type Patch } from '../http/body/patch.ts'
import type { AppEnv, Context } from '../http/context.ts'
import type { Operation } from '../http/contract/contract.ts'
import { operation } from '../http/contract/operation.ts'
import { invalid, Problem, requireOk } from '../http/contract/problem.ts'
import { readCursor } from '../http/paging/page.ts'
import { editResource } from '../http/reply/editResource.ts'
import { setHeader } from '../http/reply/newReply.ts'
import { requireInPath } from '../http/reply/notFound.ts'
import { type ReplyBody, reply, replyPage, replyWithEtag } from '../http/reply/reply.ts'
import { ledgerOf } from '../ledger/stub.ts'
import * as contract from './contract.ts'
import { createUser, deleteUser, updateUser } from './edit.ts'
import type { UserBody } from './forms.ts'
import { presentUser } from './present.ts'
import { findUser, listUsers, type Position, searchUsers, type User } from './store.ts'

const presentFlat = (user: User) => ({ success: true as const, ...presentUser(user) })

/** The user in the path. */
const findRequested = (c: Context): Promise<User> =>
  requireInPath(c, 'userId', (id) => findUser(c.get('db'), c.get('principal').accountId, id))

/** The id of the group that a body names by id or name. */
const findGroupId = async (c: Context, group: string | null): Promise<string | null> => {
  if (group === null) return null
  const named = { id: group, nameKey: fold(group) }
  const found = await resolveGroup(c.get('db'), c.get('principal').accountId, named)
  if (found === null) throw invalid({ pointer: '/group', detail: 'is not a group of this account' })
  return found
}

/** The body as it is stored: without the password, and with the id of its group. */
const toRecord = async (
  c: Context,
  { password, group, groupId: given, ...record }: UserBody,
): Promise<UserRecord> => {
  const groupId = await findGroupId(c, group)
  if (given !== null && given !== groupId)
    throw invalid({
      pointer: '/groupId',
      detail: 'must be the id of the group that `group` names, or left out',
    })
  return { ...record, groupId }
}

/**
 * The patched user. A changed `group` needs no new `groupId`; an unchanged one keeps its group even
 * if that is renamed meanwhile.
 */
const patchUser = (before: User, patch: Patch): UserBody => {
  const shown = presentFlat(before)
  const body = applyPatch(patch, shown, contract.replaceUser)
  const hasSameId = body.groupId === shown.groupId
  if (body.group !== shown.group) return hasSameId ? { ...body, groupId: null } : body
  if (!hasSameId)
    throw new Problem('invalid-patch', {
      errors: [{ pointer: '/groupId', detail: 'cannot be changed: change `group`' }],
    })
  return { ...body, group: before.groupId }
}

const RIGHTS = ['disabled', 'privileges', 'groupId', 'adminDevices', 'from', 'expires'] as const

/** 403 when a user's own token would change the user's rights. */
const refuseOwnRights = (c: Context, before: User, after: UserRecord): void => {
  if (c.get('principal').userId !== before.id) return
  const changed = RIGHTS.filter((member) => !sameJson(before[member], after[member]))
  const names = changed.map((member) => (member === 'groupId' ? 'group' : member))
  if (names.length > 0)
    throw new Problem('forbidden', {
      detail: `A user’s own token cannot change the user’s ${names.join(', ')}.`,
    })
}

const editUser = async (c: Context, change: (before: User) => UserBody): Promise<User> => {
  // Kept across retries: hashing is slow by design.
  let password: string | null = null
  const { user } = await editResource(c, {
    find: () => findRequested(c),
    change: async (before) => {
      const body = change(before)
      const record = await toRecord(c, body)
      refuseOwnRights(c, before, record)
      password ??= body.password === null ? null : await hashPassword(c.env, body.password)
      return record
    },
    write: (before, record) => {
      const { accountId } = c.get('principal')
      return updateUser(c.get('db'), { accountId, before, record, password, now: Date.now() })
    },
  })
  evictKeysOfUser(user.id)
  return user
}

const replyCacheable = <O extends Operation>(c: Context, contract: O, body: ReplyBody<O>) => {
  setHeader(c, 'Cache-Control', 'public, max-age=3600')
  return replyWithEtag(c, contract, body, { version: 1 })
}

export const users = new Hono<AppEnv>()
  // `countries` and `timeZones` are never a user's id, whatever the method.
  .use('/:userId{countries|timeZones}', async (c, next) => {
    if (c.req.method === 'GET' || c.req.method === 'HEAD') return next()
    await admit(c)
    throw new Problem('method-not-allowed', { headers: { Allow: 'GET, HEAD, OPTIONS' } })
  })
  .get('/countries', operation(contract.listCountries), (c) =>
    replyCacheable(c, contract.listCountries, { success: true, countries: COUNTRIES }),
  )
  .get('/timeZones', operation(contract.listTimeZones), (c) => {
    const timeZones = timeZoneNames(Date.now())
    return replyCacheable(c, contract.listTimeZones, { success: true, timeZones })
  })
  .get('/', operation(contract.listUsers), async (c) => {
    const { limit, cursor, q } = c.req.valid('query')
    const { accountId } = c.get('principal')
    const after = (await readCursor(c, cursor)) as Position | null
    const listing = { accountId, after, limit }
    const page = q
      ? await searchUsers(c.get('db'), fold(q), listing)
      : await listUsers(c.get('db'), listing)
    return replyPage(c, contract.listUsers, { users: page.users.map(presentUser) }, page.next)
  })
  .post('/', operation(contract.createUser), async (c) => {
    const body = c.req.valid('json')
    const { accountId } = c.get('principal')
    const record = await toRecord(c, body)
    const id = await c.get('newId')('usr')
    const password = body.password === null ? null : await hashPassword(c.env, body.password)
    const { user } = requireOk(
      await createUser(c.get('db'), { accountId, id, record, password, now: Date.now() }),
    )
    return replyWithEtag(c, contract.createUser, presentFlat(user), {
      version: user.version,
      location: `/api/users/${id}`,
    })
  })
  .get('/:userId', operation(contract.readUser), async (c) => {
    const user = await findRequested(c)
    return replyWithEtag(c, contract.readUser, presentFlat(user), user)
  })
  .put('/:userId', operation(contract.replaceUser), async (c) => {
    const user = await editUser(c, () => c.req.valid('json'))
    return replyWithEtag(c, contract.replaceUser, presentFlat(user), user)
  })
  .patch('/:userId', operation(contract.patchUser), async (c) => {
    const patch = c.req.valid('json')
    const user = await editUser(c, (before) => patchUser(before, patch))
    return replyWithEtag(c, contract.patchUser, presentFlat(user), user)
  })
  .delete('/:userId', operation(contract.deleteUser), async (c) => {
    const { accountId } = c.get('principal')
    const id = c.req.param('userId')
    const versions = c.get('ifMatch')
    requireOk(await deleteUser(c.get('db'), { accountId, id, versions, now: Date.now() }))
    evictKeysOfUser(id)
    c.executionCtx.waitUntil(pokeIfSubscribed(c.env, c.get('principal')))
    // A failure is harmless: only the count of devices that the deleted user created stays behind.
    c.executionCtx.waitUntil(ledgerOf(c.env, accountId).deleteCreator(id))
    return reply(c, contract.deleteUser, { success: true })
  })
