import { Hono } from 'hono'
import { evictKeysOfAccount } from '../auth/keyStatus.ts'
import { findOperator } from '../auth/operator.ts'
import { issueApiKey } from '../auth/secret.ts'
import { type Database, openCell, openDirectory, withRetries, withWriter } from '../db/open.ts'
import { mayOperate, rightsOf } from '../domain/admin/operator.ts'
import { cellNumbers } from '../env.ts'
import { applyPatch } from '../http/body/patch.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { operation } from '../http/contract/operation.ts'
import { Problem, requireOk } from '../http/contract/problem.ts'
import { requireRight } from '../http/operator.ts'
import { replyList } from '../http/paging/list.ts'
import { requireInPath } from '../http/reply/notFound.ts'
import { reply, replyWithEtag } from '../http/reply/reply.ts'
import { editResource } from '../http/resource/editResource.ts'
import { writerOf } from '../http/writer.ts'
import { requireFutureExpiry } from '../keys/contract.ts'
import { endSupportOf } from '../support/store.ts'
import * as contract from './contract.ts'
import { presentOperator } from './present.ts'
import * as store from './store.ts'

const directoryOf = (c: Context): Database => withWriter(openDirectory(c.env), writerOf(c))

const presentWrapped = (row: store.Operator) => ({
  success: true as const,
  operator: presentOperator(row, Date.now()),
})

/** The operator in the path. */
const findRequested = (c: Context): Promise<store.Operator> =>
  requireInPath(c, 'operatorId', (id) => findOperator(withRetries(openDirectory(c.env)), id))

const requireFree = <T extends { ok: boolean }>(outcome: T) => {
  if ('refusal' in outcome && outcome.refusal === 'email-taken')
    throw new Problem('email-taken', { detail: 'Another operator has this e-mail address.' })
  return outcome
}

/** Ends the access that an operator has to accounts, in all cells. */
const endAllSupport = async (c: Context, operatorId: string): Promise<void> => {
  const cells = cellNumbers(c.env).map((cell) => withWriter(openCell(c.env, cell), writerOf(c)))
  const ended = await Promise.all(cells.map((db) => endSupportOf(db, operatorId, Date.now())))
  for (const accountId of ended.flat()) evictKeysOfAccount(accountId)
}

/** An operator may replace the key that it uses. With an address alone it has to be an owner. */
const requireOwnKey = (c: Context): void => {
  const isOwn = c.get('operator').id === c.req.param('operatorId')
  if (!isOwn || c.get('operatorAccess').signIn !== 'key') requireRight(c, 'own')
}

export const operators = new Hono<AppEnv>()
  .get('/me', operation(contract.readSelf), (c) => {
    const { id, name } = c.get('operator')
    const { role, signIn } = c.get('operatorAccess')
    const operator = { id, name, role, rights: [...rightsOf(role)], signIn }
    return reply(c, contract.readSelf, { success: true, operator })
  })
  .get('/operators', operation(contract.listOperators), (c) =>
    replyList(c, contract.listOperators, c.req.valid('query'), {
      readPage: ([after = ''], limit) =>
        store.listOperators(withRetries(openDirectory(c.env)), String(after), limit),
      toBody: (rows) => ({ operators: rows.map((row) => presentOperator(row, Date.now())) }),
    }),
  )
  .post('/operators', operation(contract.createOperator), async (c) => {
    const { key: hasKey, ...record } = c.req.valid('json')
    const now = Date.now()
    requireFutureExpiry(record.expires, now)
    const id = await c.get('newId')('opr')
    const { apiKey, hash } = await issueApiKey(id)
    const isKeyed = hasKey ?? record.email === null
    const key = isKeyed ? { keyId: await c.get('newId')('key'), hash } : null
    const created = await store.createOperator(directoryOf(c), { id, record, key, now })
    const { row } = requireOk(requireFree(created))
    const body = { ...presentWrapped(row), apiKey: isKeyed ? apiKey : null }
    return replyWithEtag(c, contract.createOperator, body, {
      version: row.version,
      location: `/admin/operators/${id}`,
    })
  })
  .get('/operators/:operatorId', operation(contract.readOperator), async (c) => {
    const row = await findRequested(c)
    return replyWithEtag(c, contract.readOperator, presentWrapped(row), row)
  })
  .patch('/operators/:operatorId', operation(contract.patchOperator), async (c) => {
    const patch = c.req.valid('json')
    const now = Date.now()
    const { row } = await editResource(c, {
      find: () => findRequested(c),
      change: (before) => {
        const shown = presentOperator(before, now)
        const record = applyPatch(patch, shown, contract.replaceOperator)
        if (record.expires !== before.expires) requireFutureExpiry(record.expires, now)
        return record
      },
      write: async (before, record) =>
        requireFree(await store.updateOperator(directoryOf(c), { before, record, now })),
    })
    if (!mayOperate(row.role, 'support')) await endAllSupport(c, row.id)
    return replyWithEtag(c, contract.patchOperator, presentWrapped(row), row)
  })
  .delete('/operators/:operatorId', operation(contract.deleteOperator), async (c) => {
    const id = c.req.param('operatorId')
    const deletion = { id, versions: c.get('ifMatch'), now: Date.now() }
    const outcome = await store.deleteOperator(directoryOf(c), deletion)
    // Also when it is gone already: an attempt before may have failed between the two.
    if (outcome.ok || outcome.refusal === 'operator-not-found') await endAllSupport(c, id)
    requireOk(outcome)
    return reply(c, contract.deleteOperator, { success: true })
  })
  .post(
    '/operators/:operatorId/regenerate',
    operation(contract.regenerateOperatorKey),
    async (c) => {
      requireOwnKey(c)
      const { overlapSeconds, expires: asked } = c.req.valid('json')
      const { id, expires: current } = await findRequested(c)
      const now = Date.now()
      const expires = asked === undefined ? current : asked
      requireFutureExpiry(expires, now)
      // Whoever has only the key must not make it last longer than an owner has allowed.
      if (current !== null && (expires === null || expires > current)) requireRight(c, 'own')
      const keyId = await c.get('newId')('key')
      const { apiKey, hash } = await issueApiKey(id)
      const overlapEnd = now + overlapSeconds * 1000
      const { row } = requireOk(
        await store.regenerateOperatorKey(directoryOf(c), {
          id,
          keyId,
          hash,
          overlapEnd,
          expires,
          now,
        }),
      )
      return reply(c, contract.regenerateOperatorKey, { ...presentWrapped(row), apiKey })
    },
  )
