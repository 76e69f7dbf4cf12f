import { Hono } from 'hono'
import { forgetKey } from '../auth/keyStatus.ts'
import { issueApiKey } from '../auth/secret.ts'
import { SCOPES } from '../domain/scope.ts'
import { pokeIfSubscribed } from '../feed/stub.ts'
import type { AppEnv } from '../http/context.ts'
import { operation } from '../http/operation.ts'
import { readCursor, replyPage } from '../http/page.ts'
import { invalid, Problem } from '../http/problem.ts'
import { bindingFor, refuseOthers, refuseWider } from './boundKeys.ts'
import * as contract from './contract.ts'
import { presentKey } from './present.ts'
import {
  chosenEnd,
  deleteKey,
  findKey,
  insertKey,
  type KeyRow,
  listKeys,
  regenerateKey,
} from './store.ts'

export const keys = new Hono<AppEnv>()
  .get('/', operation(contract.listKeys), async (c) => {
    const { limit, cursor } = c.req.valid('query')
    const [after = ''] = (await readCursor(c, cursor)) ?? []
    const { accountId, userId, groupId } = c.get('principal')
    const rows = await listKeys(
      c.get('db'),
      accountId,
      groupId === null ? null : userId,
      String(after),
      limit + 1,
      Date.now(),
    )
    const page = rows.slice(0, limit)
    const last = page.at(-1)
    return replyPage(
      c,
      'keys',
      page.map(presentKey),
      rows.length > limit && last ? [last.id] : null,
    )
  })
  .post('/', operation(contract.createKey), async (c) => {
    const { name, scopes, ...asked } = c.req.valid('json')
    const now = Date.now()
    contract.refuseReached(asked.expires, now)
    const { userId, expires } = await bindingFor(c, { scopes, ...asked }, now)
    const id = await c.get('newId')('key')
    const { apiKey, hash } = await issueApiKey(id)
    const key = await insertKey(
      c.get('db'),
      c.get('principal').accountId,
      { id, name, scopes, hash, userId, expires },
      now,
    )
    if (!key) throw invalid({ pointer: '/userId', detail: 'is not a user of this account' })
    c.executionCtx.waitUntil(pokeIfSubscribed(c.env, c.get('principal')))
    return c.json({ success: true as const, key: presentKey(key), apiKey }, 201, {
      Location: `/api/account/keys/${id}`,
    })
  })
  .delete('/:keyId', operation(contract.deleteKey), async (c) => {
    const id = c.req.param('keyId')
    const { accountId, groupId } = c.get('principal')
    if (groupId !== null) refuseOthers(c, await findKey(c.get('db'), accountId, id, Date.now()))
    if (!(await deleteKey(c.get('db'), accountId, id, Date.now()))) throw new Problem('not-found')
    forgetKey(id)
    c.executionCtx.waitUntil(pokeIfSubscribed(c.env, c.get('principal')))
    return c.json({ success: true as const })
  })
  .post('/:keyId/regenerate', operation(contract.regenerateKey), async (c) => {
    const { accountId } = c.get('principal')
    const db = c.get('db')
    const now = Date.now()
    const id = await c.get('newId')('key')
    // There already when a retry after a crash comes by.
    const made = await findKey(db, accountId, id, now)
    const old = made ?? (await findKey(db, accountId, c.req.param('keyId'), now))
    if (!old) throw new Problem('not-found')
    refuseOthers(c, old)
    const { name, scopes, userId } = presentable(old)
    const expires = chosenEnd(old)
    // By the claim of the same caller, which was judged then: its own key may be in its overlap by now.
    if (!made) await refuseWider(c, { scopes, expires }, now)
    const { apiKey, hash } = await issueApiKey(id)
    const fresh = { id, name, scopes, hash, userId, expires }
    const key = made
      ? await insertKey(db, accountId, fresh, now)
      : await regenerateKey(
          db,
          accountId,
          old,
          fresh,
          now + c.req.valid('json').overlapSeconds * 1000,
          now,
        )
    if (!key) throw new Problem('not-found')
    forgetKey(old.id)
    c.executionCtx.waitUntil(pokeIfSubscribed(c.env, c.get('principal')))
    return c.json({ success: true as const, key: presentKey(key), apiKey })
  })

const presentable = (row: KeyRow) => ({
  ...row,
  scopes: SCOPES.filter((scope) => row.scopes.includes(scope)),
})
