import { Hono } from 'hono'
import { readRequested, requireExisting } from '../admin/requested.ts'
import { evictKey } from '../auth/keyStatus.ts'
import { signToken } from '../auth/token.ts'
import { pokeIfSubscribed } from '../feed/stub.ts'
import type { AppEnv } from '../http/context.ts'
import { operation } from '../http/contract/operation.ts'
import { Problem } from '../http/contract/problem.ts'
import { reply } from '../http/reply/reply.ts'
import { NEWEST_VERSION } from '../http/version/versions.ts'
import { insertKey } from '../keys/store.ts'
import { operatorContext } from '../serviceContext.ts'
import * as contract from './contract.ts'
import { presentSupport } from './forms.ts'
import { endSupport } from './store.ts'

/** No secret has this hash: the access is by its token alone. */
const NO_HASH = ''

export const support = new Hono<AppEnv>()
  .post('/accounts/:accountId/support', operation(contract.startSupport), async (c) => {
    const { reason, minutes, scopes } = c.req.valid('json')
    const { account } = await readRequested(c)
    requireExisting(account)
    if (!account.supportMayWrite && scopes.some((scope) => scope !== 'read'))
      throw new Problem('forbidden', {
        detail: 'The account does not allow support to change anything (`supportMayWrite`).',
      })
    const context = operatorContext(c, account)
    const { accountId, cell, db, actor } = context
    const now = context.now()
    const key = {
      id: await context.newId('key'),
      name: actor.name ?? actor.id,
      scopes: [...scopes],
      hash: NO_HASH,
      userId: null,
      expires: now + minutes * 60_000,
      apiVersion: NEWEST_VERSION,
      support: { operatorId: actor.id, supportReason: reason },
    }
    const access = await insertKey(db, accountId, key, now)
    if (!access) throw new Error('an unbound key was refused')
    const claims = { accountId, cell, keyId: key.id, scopes: key.scopes, userId: null }
    const { token } = await signToken(c.env, claims, now, minutes * 60)
    context.waitUntil(pokeIfSubscribed(c.env, context))
    const body = { success: true as const, support: presentSupport(access), token }
    const headers = { Location: `/api/account/keys/${key.id}` }
    return reply(c, contract.startSupport, body, headers)
  })
  .delete('/accounts/:accountId/support/:keyId', operation(contract.endSupport), async (c) => {
    const { account } = await readRequested(c)
    const context = operatorContext(c, account)
    const id = c.req.param('keyId')
    if (!(await endSupport(context.db, account.id, id, context.now())))
      throw new Problem('key-not-found')
    evictKey(id)
    context.waitUntil(pokeIfSubscribed(c.env, context))
    return reply(c, contract.endSupport, { success: true })
  })
