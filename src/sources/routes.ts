import { Hono } from 'hono'
import { hashSecret } from '../auth/secret.ts'
import { openDirectory } from '../db/open.ts'
import { makeSecret, SECRET_BYTES } from '../domain/account/apiKey.ts'
import type { SourceRecord } from '../domain/account/source.ts'
import { applyPatch } from '../http/body/patch.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { operation } from '../http/contract/operation.ts'
import { Problem, requireOk } from '../http/contract/problem.ts'
import { byId, replyList } from '../http/paging/list.ts'
import { editResource } from '../http/reply/editResource.ts'
import { reply, replyWithEtag } from '../http/reply/reply.ts'
import { ledgerOf } from '../ledger/stub.ts'
import { requestContext } from '../serviceContext.ts'
import * as contract from './contract.ts'
import { addDataRoutes, addQuarantineRoutes, requireSource } from './dataRoutes.ts'
import { decodePush, replyTo } from './decoding/decode.ts'
import { toPush } from './decoding/pastedPush.ts'
import { listInDirectory, removeFromDirectory } from './directory.ts'
import { presentItem, presentSource } from './present.ts'
import { evictSource } from './push/knownSource.ts'
import { NO_SECRETS, splitSettings } from './settings.ts'
import {
  createSource,
  deleteSource,
  isCapReached,
  listSources,
  replaceHash,
  type StoredSource,
  updateSource,
} from './store.ts'

const presentOne = (source: StoredSource) => ({
  success: true as const,
  source: presentSource(source),
})

const newSecret = (): string => makeSecret(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)))
const addressOf = (c: Context, id: string, secret: string): string =>
  `${requestContext(c).origin}/in/${id}/${secret}`

/**
 * Stores the secrets among the settings in the ledger and returns the record without them. Those of
 * another provider than before are forgotten: they must not be sent to this one.
 */
const keepSecrets = async (
  c: Context,
  id: string,
  record: SourceRecord,
  before: SourceRecord = record,
): Promise<SourceRecord> => {
  const { open, secrets } = splitSettings(record.settings)
  const change = record.provider === before.provider ? secrets : { ...NO_SECRETS, ...secrets }
  if (Object.keys(change).length > 0)
    await ledgerOf(c.env, c.get('principal').accountId).editSourceSecrets(id, change)
  return { ...record, settings: open }
}

const editSource = async (
  c: Context,
  change: (before: StoredSource) => SourceRecord,
): Promise<StoredSource> => {
  const { accountId } = c.get('principal')
  const { source } = await editResource(c, {
    find: () => requireSource(c),
    change,
    write: async (before, given) => {
      const { id, version } = before
      const record = await keepSecrets(c, id, given, before)
      const write = { accountId, id, record, now: Date.now() }
      return updateSource(c.get('db'), write, version)
    },
  })
  evictSource(source.id)
  return source
}

/** Locations of a device that are kept apart. */
export const deviceQuarantine = addQuarantineRoutes(new Hono<AppEnv>())

export const sources = addDataRoutes(new Hono<AppEnv>())
  .get('/', operation(contract.listSources), (c) =>
    replyList(c, contract.listSources, c.req.valid('query'), {
      read: ([after = ''], limit) =>
        listSources(c.get('db'), c.get('principal').accountId, String(after), limit),
      positionOf: byId,
      toBody: (rows) => ({ sources: rows.map(presentSource) }),
    }),
  )
  .post('/', operation(contract.createSource), async (c) => {
    const { accountId, cell } = c.get('principal')
    const id = await c.get('newId')('src')
    const secret = newSecret()
    // Asked first: what is refused must leave neither secrets nor an entry in the directory.
    if (await isCapReached(c.get('db'), accountId, id)) throw new Problem('source-cap-reached')
    const record = await keepSecrets(c, id, c.req.valid('json'))
    await listInDirectory(openDirectory(c.env), { id, accountId, cell })
    const write = { accountId, id, record, now: Date.now() }
    const outcome = await createSource(c.get('db'), write, await hashSecret(secret))
    evictSource(id)
    const { source } = requireOk(outcome)
    const body = { ...presentOne(source), url: addressOf(c, id, secret) }
    return replyWithEtag(c, contract.createSource, body, {
      version: source.version,
      location: `/api/sources/${id}`,
    })
  })
  .post('/decode', operation(contract.decodePayload), async (c) => {
    const pasted = c.req.valid('json')
    const push = toPush(pasted, Date.now())
    const { items, failures } = await decodePush(pasted.provider, push)
    return reply(c, contract.decodePayload, {
      success: true,
      items: items.map(presentItem),
      failures,
      reply: replyTo(pasted.provider, push),
    })
  })
  .get('/:sourceId', operation(contract.readSource), async (c) => {
    const source = await requireSource(c)
    return replyWithEtag(c, contract.readSource, presentOne(source), source)
  })
  .put('/:sourceId', operation(contract.replaceSource), async (c) => {
    const source = await editSource(c, () => c.req.valid('json'))
    return replyWithEtag(c, contract.replaceSource, presentOne(source), source)
  })
  .patch('/:sourceId', operation(contract.patchSource), async (c) => {
    const patch = c.req.valid('json')
    const source = await editSource(c, (before) =>
      applyPatch(patch, presentSource(before), contract.patchedSource),
    )
    return replyWithEtag(c, contract.patchSource, presentOne(source), source)
  })
  .delete('/:sourceId', operation(contract.deleteSource), async (c) => {
    const id = c.req.param('sourceId')
    const { accountId } = c.get('principal')
    requireOk(await deleteSource(c.get('db'), accountId, id, c.get('ifMatch')))
    evictSource(id)
    // Without the source's row both are useless: what fails here is erased with the account.
    c.executionCtx.waitUntil(
      Promise.allSettled([
        removeFromDirectory(openDirectory(c.env), id),
        ledgerOf(c.env, accountId).editSourceSecrets(id, 'delete'),
      ]),
    )
    return reply(c, contract.deleteSource, { success: true })
  })
  .post('/:sourceId/rotate', operation(contract.rotateSource), async (c) => {
    const source = await requireSource(c)
    const secret = newSecret()
    const { accountId } = c.get('principal')
    await replaceHash(c.get('db'), accountId, source.id, await hashSecret(secret))
    evictSource(source.id)
    const body = { ...presentOne(source), url: addressOf(c, source.id, secret) }
    return reply(c, contract.rotateSource, body)
  })
