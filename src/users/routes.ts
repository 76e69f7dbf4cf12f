import { Hono } from 'hono'
import { evictKeysOfUser } from '../auth/keyStatus.ts'
import { COUNTRIES } from '../domain/account/countries.ts'
import { isGain, type UserRecord, widerLimits } from '../domain/account/user.ts'
import { fold } from '../domain/text/fold.ts'
import { sameJson } from '../domain/text/json.ts'
import { timeZoneNames } from '../domain/time/timeZones.ts'
import { pokeIfSubscribed } from '../feed/stub.ts'
import { resolveGroup } from '../groups/store.ts'
import { hashOnce } from '../http/admission/passwordWork.ts'
import { admit } from '../http/auth.ts'
import { applyPatch, type Patch } from '../http/body/patch.ts'
import type { AppEnv, Context } from '../http/context.ts'
import type { Operation } from '../http/contract/contract.ts'
import { operation } from '../http/contract/operation.ts'
import { invalid, Problem } from '../http/contract/problem.ts'
import { refuseLinkInName } from '../http/contract/validation.ts'
import { setHeader } from '../http/reply/newReply.ts'
import { type ReplyBody, replyWithEtag } from '../http/reply/reply.ts'
import { inAccount, resourceRoutes } from '../http/resource/routes.ts'
import { refuseAgent } from '../keys/boundKeys.ts'
import { ledgerOf } from '../ledger/stub.ts'
import * as contract from './contract.ts'
import { createUser, deleteUser, updateUser } from './edit.ts'
import type { UserBody } from './forms.ts'
import { presentUser } from './present.ts'
import { findUser, ownUsers, searchUsers, type User } from './store.ts'

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
  const shown = presentUser(before)
  const body = applyPatch(patch, shown, contract.users.replace)
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

/**
 * 403 when a bound caller would make a user with wider limits than its own, or would get at one.
 * Privileges and group need no check: only `admin` without a group writes users.
 */
const refuseWiderLimits = async (c: Context, record: UserRecord): Promise<void> => {
  const { accountId, userId } = c.get('principal')
  if (userId === null) return
  const caller = await findUser(c.get('db'), accountId, userId)
  if (!caller) throw new Problem('forbidden')
  const wider = widerLimits(record, caller)
  if (wider.length > 0)
    throw new Problem('forbidden', {
      detail: `The user would have wider limits than the user of this token: ${wider.join(', ')}.`,
    })
}

const resource = resourceRoutes(contract.users, {
  prefix: 'usr',
  find: inAccount(ownUsers).find,
  list: (c, after, { limit, q }) => {
    const { accountId } = c.get('principal')
    return q
      ? searchUsers(c.get('db'), { accountId, q: fold(q), after, limit })
      : ownUsers.list(c.get('db'), accountId, String(after.at(-1) ?? ''), limit)
  },
  present: presentUser,
  create: async (db, { record: body, ...creation }, c) => {
    refuseAgent(c.get('principal'))
    refuseLinkInName(body.name)
    const record = await toRecord(c, body)
    await refuseWiderLimits(c, record)
    const password = await hashOnce(c, body.password)
    return createUser(db, { ...creation, record, password })
  },
  update: async (db, { record: body, ...edit }, c) => {
    refuseAgent(c.get('principal'))
    refuseLinkInName(body.name, edit.before.name)
    const record = await toRecord(c, body)
    refuseOwnRights(c, edit.before, record)
    if (isGain(edit.before, record, body.password !== null)) await refuseWiderLimits(c, record)
    const password = await hashOnce(c, body.password)
    const outcome = await updateUser(db, { ...edit, record, password })
    if (outcome.ok) evictKeysOfUser(edit.before.id)
    return outcome
  },
  patch: patchUser,
  remove: async (db, deletion, c) => {
    const outcome = await deleteUser(db, deletion)
    if (!outcome.ok) return outcome
    const { id, accountId } = deletion
    evictKeysOfUser(id)
    c.executionCtx.waitUntil(pokeIfSubscribed(c.env, c.get('principal')))
    // A failure is harmless: only the count of devices that the deleted user created stays behind.
    c.executionCtx.waitUntil(ledgerOf(c.env, accountId).deleteCreator(id))
    return outcome
  },
})

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
  .route('/', resource)
