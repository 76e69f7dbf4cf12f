import { Hono } from 'hono'
import { evictKey } from '../auth/keyStatus.ts'
import { issueApiKey } from '../auth/secret.ts'
import { pokeIfSubscribed } from '../feed/stub.ts'
import type { AppEnv } from '../http/context.ts'
import { operation } from '../http/contract/operation.ts'
import { invalid, Problem } from '../http/contract/problem.ts'
import { replyList } from '../http/paging/list.ts'
import { reply, replyWithEtag } from '../http/reply/reply.ts'
import { refuseAgent, requireNoWiderKey, requireOwnKey, resolveBinding } from './boundKeys.ts'
import * as contract from './contract.ts'
import { presentKey } from './present.ts'
import { chosenExpiry, deleteKey, findKey, insertKey, listKeys, regenerateKey } from './store.ts'

/** A key is never edited: a regenerated one has a new id. */
const KEY_VERSION = 1

export const keys = new Hono<AppEnv>()
  .get('/', operation(contract.listKeys), (c) => {
    const { accountId, userId, groupId } = c.get('principal')
    const own = { accountId, userId: groupId === null ? null : userId }
    return replyList(c, contract.listKeys, c.req.valid('query'), {
      readPage: ([after = ''], limit) =>
        listKeys(c.get('db'), { ...own, after: String(after), limit, now: Date.now() }),
      toBody: (rows) => ({ keys: rows.map(presentKey) }),
    })
  })
  .post('/', operation(contract.createKey), async (c) => {
    const { name, scopes, version: apiVersion, ...asked } = c.req.valid('json')
    const { accountId } = c.get('principal')
    refuseAgent(c.get('principal'))
    const now = Date.now()
    contract.requireFutureExpiry(asked.expires, now)
    const { userId, expires } = await resolveBinding(
      c.get('db'),
      c.get('principal'),
      { scopes, ...asked },
      now,
    )
    const id = await c.get('newId')('key')
    const { apiKey, hash } = await issueApiKey(id)
    const fresh = { id, name, scopes, hash, userId, expires, apiVersion }
    const key = await insertKey(c.get('db'), accountId, fresh, now)
    if (!key) throw invalid({ pointer: '/userId', detail: 'is not a user of this account' })
    c.executionCtx.waitUntil(pokeIfSubscribed(c.env, c.get('principal')))
    const headers = { Location: `/api/account/keys/${id}` }
    const body = { success: true as const, key: presentKey(key), apiKey }
    return reply(c, contract.createKey, body, headers)
  })
  .get('/:keyId', operation(contract.readKey), async (c) => {
    const { accountId, groupId } = c.get('principal')
    const key = await findKey(c.get('db'), accountId, c.req.param('keyId'), Date.now())
    if (!key) throw new Problem('key-not-found')
    if (groupId !== null) requireOwnKey(c.get('principal'), key)
    const body = { success: true as const, key: presentKey(key) }
    return replyWithEtag(c, contract.readKey, body, { version: KEY_VERSION })
  })
  .delete('/:keyId', operation(contract.deleteKey), async (c) => {
    const id = c.req.param('keyId')
    const { accountId, groupId } = c.get('principal')
    if (groupId !== null)
      requireOwnKey(c.get('principal'), await findKey(c.get('db'), accountId, id, Date.now()))
    if (!(await deleteKey(c.get('db'), accountId, id, Date.now())))
      throw new Problem('key-not-found')
    evictKey(id)
    c.executionCtx.waitUntil(pokeIfSubscribed(c.env, c.get('principal')))
    return reply(c, contract.deleteKey, { success: true })
  })
  .post('/:keyId/regenerate', operation(contract.regenerateKey), async (c) => {
    const caller = c.get('principal')
    const { accountId } = caller
    refuseAgent(caller)
    const { overlapSeconds, version } = c.req.valid('json')
    const db = c.get('db')
    const now = Date.now()
    const id = await c.get('newId')('key')
    // A retry after a crash has the same id and finds the new key.
    const created = await findKey(db, accountId, id, now)
    const old = created ?? (await findKey(db, accountId, c.req.param('keyId'), now))
    if (!old) throw new Problem('key-not-found')
    requireOwnKey(caller, old)
    if (old.operatorId !== null)
      throw new Problem('forbidden', { detail: 'Access of the operator’s support has its end.' })
    const { name, scopes, userId } = old
    const expires = chosenExpiry(old)
    // A retry was authorised already; checking again could fail because the caller's own key is in
    // its overlap.
    if (!created) await requireNoWiderKey(db, caller, { scopes, expires }, now)
    const { apiKey, hash } = await issueApiKey(id)
    const apiVersion = version ?? old.apiVersion
    const fresh = { id, name, scopes, hash, userId, expires, apiVersion }
    const overlapEnd = now + overlapSeconds * 1000
    const key = created
      ? await insertKey(db, accountId, fresh, now)
      : await regenerateKey(db, { accountId, old, fresh, overlapEnd, now })
    if (!key) throw new Problem('key-not-found')
    evictKey(old.id)
    c.executionCtx.waitUntil(pokeIfSubscribed(c.env, c.get('principal')))
    return reply(c, contract.regenerateKey, { success: true, key: presentKey(key), apiKey })
  })
