import { Hono } from 'hono'
import { forgetKeysOfUser } from '../auth/keyStatus.ts'
import { COUNTRIES } from '../domain/countries.ts'
import { fold } from '../domain/fold.ts'
import { iso, isoOrNull } from '../domain/iso.ts'
import { sameJson } from '../domain/json.ts'
import { timeZoneNames } from '../domain/timeZones.ts'
import type { UserRecord } from '../domain/user.ts'
import { pokeIfSubscribed } from '../feed/stub.ts'
import { resolveGroup } from '../groups/store.ts'
import { admit } from '../http/auth.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { retryOnConflict } from '../http/editResource.ts'
import { replyWithEtag } from '../http/etag.ts'
import { operation } from '../http/operation.ts'
import { readCursor, replyPage } from '../http/page.ts'
import { applyPatch } from '../http/patch.ts'
import { invalid, Problem } from '../http/problem.ts'
import { ledgerOf } from '../ledger/stub.ts'
import * as contract from './contract.ts'
import { createUser, deleteUser, type UserOutcome, updateUser } from './edit.ts'
import { hashPassword } from './password.ts'
import { findUser, listUsers, type Position, searchUsers, type User } from './store.ts'

const present = ({ version, from, expires, creation, modification, lastLogin, ...user }: User) => ({
  ...user,
  from: isoOrNull(from),
  expires: isoOrNull(expires),
  password: null,
  creation: iso(creation),
  modification: iso(modification),
  lastLogin: isoOrNull(lastLogin),
})

const flat = (user: User) => ({ success: true as const, ...present(user) })

const found = async (c: Context): Promise<User> => {
  const user = await findUser(
    c.get('db'),
    c.get('principal').accountId,
    c.req.param('userId') ?? '',
  )
  if (!user) throw new Problem('not-found')
  return user
}

const settled = (outcome: UserOutcome): User => {
  if (!outcome.ok)
    throw new Problem(outcome.refusal, 'errors' in outcome ? { errors: outcome.errors } : {})
  return outcome.user
}

/** A body with its group as an id: a client may name it by its name. */
const withGroupId = async (
  c: Context,
  { password, ...record }: contract.UserBody,
): Promise<UserRecord> => {
  if (record.group === null) return record
  const group = await resolveGroup(c.get('db'), c.get('principal').accountId, {
    id: record.group,
    nameKey: fold(record.group),
  })
  if (group === null) throw invalid({ pointer: '/group', detail: 'is not a group of this account' })
  return { ...record, group }
}

const RIGHTS = ['disabled', 'privileges', 'group', 'adminDevices', 'from', 'expires'] as const

/** What a token may is its user's to have, not to give itself. */
const refuseOwnRights = (c: Context, before: User, after: UserRecord): void => {
  if (c.get('principal').userId !== before.id) return
  const changed = RIGHTS.filter((member) => !sameJson(before[member], after[member]))
  if (changed.length > 0)
    throw new Problem('forbidden', {
      detail: `A user’s own token cannot change its ${changed.join(', ')}.`,
    })
}

/** Reads, makes the edit and writes it; begins again where a rival came between and the caller does not mind. */
const edit = async (c: Context, change: (before: User) => contract.UserBody): Promise<User> => {
  let hashed: string | null = null
  const user = await retryOnConflict(c, async () => {
    const before = await found(c)
    const versions = c.get('ifMatch')
    if (versions && !versions.includes(before.version)) return 'precondition-failed'
    const body = change(before)
    const record = await withGroupId(c, body)
    refuseOwnRights(c, before, record)
    hashed ??= body.password === null ? null : await hashPassword(body.password)
    const outcome = await updateUser(
      c.get('db'),
      c.get('principal').accountId,
      before,
      record,
      hashed,
      Date.now(),
    )
    return !outcome.ok && outcome.refusal === 'precondition-failed'
      ? outcome.refusal
      : settled(outcome)
  })
  forgetKeysOfUser(user.id)
  return user
}

const answerForAnHour = (c: Context, body: object) => {
  c.header('Cache-Control', 'public, max-age=3600')
  return replyWithEtag(c, body, 1)
}

export const users = new Hono<AppEnv>()
  // Neither is ever taken for a user's id, whatever the method.
  .use('/:userId{countries|timeZones}', async (c, next) => {
    if (c.req.method === 'GET' || c.req.method === 'HEAD') return next()
    await admit(c)
    throw new Problem('method-not-allowed', { headers: { Allow: 'GET, HEAD, OPTIONS' } })
  })
  .get('/countries', operation(contract.listCountries), (c) =>
    answerForAnHour(c, { success: true, countries: COUNTRIES }),
  )
  .get('/timeZones', operation(contract.listTimeZones), (c) =>
    answerForAnHour(c, { success: true, timeZones: timeZoneNames(Date.now()) }),
  )
  .get('/', operation(contract.listUsers), async (c) => {
    const { limit, cursor, q } = c.req.valid('query')
    const { accountId } = c.get('principal')
    const after = (await readCursor(c, cursor)) as Position | null
    const page = q
      ? await searchUsers(c.get('db'), accountId, fold(q), after, limit)
      : await listUsers(c.get('db'), accountId, after?.[2] ?? '', limit)
    return replyPage(c, 'users', page.users.map(present), page.next)
  })
  .post('/', operation(contract.createUser), async (c) => {
    const body = c.req.valid('json')
    const record = await withGroupId(c, body)
    const id = await c.get('newId')('usr')
    const hashed = body.password === null ? null : await hashPassword(body.password)
    const user = settled(
      await createUser(c.get('db'), c.get('principal').accountId, id, record, hashed, Date.now()),
    )
    return replyWithEtag(c, flat(user), user.version, 201, { Location: `/api/users/${id}` })
  })
  .get('/:userId', operation(contract.readUser), async (c) => {
    const user = await found(c)
    return replyWithEtag(c, flat(user), user.version)
  })
  .put('/:userId', operation(contract.replaceUser), async (c) => {
    const user = await edit(c, () => c.req.valid('json'))
    return replyWithEtag(c, flat(user), user.version)
  })
  .patch('/:userId', operation(contract.patchUser), async (c) => {
    const user = await edit(c, (before) =>
      applyPatch(c.req.valid('json'), flat(before), contract.replaceUser),
    )
    return replyWithEtag(c, flat(user), user.version)
  })
  .delete('/:userId', operation(contract.deleteUser), async (c) => {
    const { accountId } = c.get('principal')
    const id = c.req.param('userId')
    const outcome = await deleteUser(c.get('db'), accountId, id, c.get('ifMatch'), Date.now())
    if (!outcome.ok) throw new Problem(outcome.refusal)
    forgetKeysOfUser(id)
    c.executionCtx.waitUntil(pokeIfSubscribed(c.env, c.get('principal')))
    // Nothing depends on it: what is left behind counts the devices of somebody who makes no more.
    c.executionCtx.waitUntil(ledgerOf(c.env, accountId).forgetMaker(id))
    return c.json({ success: true as const })
  })
