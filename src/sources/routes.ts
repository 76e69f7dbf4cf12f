import { Hono } from 'hono'
import { hashSecret } from '../auth/secret.ts'
import { openDirectory } from '../db/open.ts'
import { makeSecret, SECRET_BYTES } from '../domain/account/apiKey.ts'
import { workOfPayload } from '../domain/account/requestCost.ts'
import type { SourceRecord } from '../domain/account/source.ts'
import { runCostlyWork } from '../http/admission/costlyWork.ts'
import { Slices } from '../http/admission/slices.ts'
import { applyPatch } from '../http/body/patch.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { operation } from '../http/contract/operation.ts'
import { Problem } from '../http/contract/problem.ts'
import { reply } from '../http/reply/reply.ts'
import { inAccount, resourceRoutes } from '../http/resource/routes.ts'
import { writerOf } from '../http/writer.ts'
import { refuseTemporaryAccess } from '../keys/boundKeys.ts'
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
  ownSources,
  replaceHash,
  updateSource,
} from './store.ts'

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
    await ledgerOf(c.env, c.get('principal').accountId).editSourceSecrets(id, change, writerOf(c))
  return { ...record, settings: open }
}

/** 403 to a user with a limit of devices: those that a source creates count for nobody. */
const refuseCreation = (c: Context, { newDevices }: SourceRecord, before?: SourceRecord): void => {
  if (newDevices !== 'create' || before?.newDevices === 'create') return
  if (c.get('principal').adminDevices === null) return
  throw new Problem('forbidden', {
    detail: 'The user of this token has `adminDevices` and cannot set `newDevices` to `create`.',
  })
}

/** Locations of a device that are kept apart. */
export const deviceQuarantine = addQuarantineRoutes(new Hono<AppEnv>())

const resource = resourceRoutes(contract.sources, {
  ...inAccount(ownSources),
  prefix: 'src',
  present: presentSource,
  create: async (db, { record: given, ...creation }, c) => {
    const { id, accountId } = creation
    refuseTemporaryAccess(c.get('principal'), 'A source')
    refuseCreation(c, given)
    // Asked first: what is refused must leave neither secrets nor an entry in the directory.
    if (await isCapReached(db, accountId, id)) return { ok: false, refusal: 'source-cap-reached' }
    const record = await keepSecrets(c, id, given)
    await listInDirectory(openDirectory(c.env), { id, accountId, cell: c.get('principal').cell })
    const secret = newSecret()
    const outcome = await createSource(db, { ...creation, record }, await hashSecret(secret))
    evictSource(id)
    return { ...outcome, shownOnce: { url: addressOf(c, id, secret) } }
  },
  update: async (db, edit, c) => {
    const { before } = edit
    refuseCreation(c, edit.record, before)
    const record = await keepSecrets(c, before.id, edit.record, before)
    const outcome = await updateSource(db, { ...edit, record })
    if (outcome.ok) evictSource(before.id)
    return outcome
  },
  patch: (before, patch) => applyPatch(patch, presentSource(before), contract.patchedSource),
  remove: async (db, deletion, c) => {
    const outcome = await deleteSource(db, deletion)
    if (!outcome.ok) return outcome
    const { id, accountId } = deletion
    evictSource(id)
    // Without the source's row both are useless: what fails here is erased with the account.
    c.executionCtx.waitUntil(
      Promise.allSettled([
        removeFromDirectory(openDirectory(c.env), id),
        ledgerOf(c.env, accountId).editSourceSecrets(id, 'delete', writerOf(c)),
      ]),
    )
    return outcome
  },
})

export const sources = addDataRoutes(new Hono<AppEnv>())
  .route('/', resource)
  .post('/decode', operation(contract.decodePayload), async (c) => {
    const pasted = c.req.valid('json')
    const push = toPush(pasted, Date.now(), new Slices(c.get('principal').accountId))
    const { items, failures } = await runCostlyWork(c, workOfPayload(push.body.byteLength), () =>
      decodePush(pasted.provider, push),
    )
    return reply(c, contract.decodePayload, {
      success: true,
      items: items.map(presentItem),
      failures,
      reply: replyTo(pasted.provider, push),
    })
  })
  .post('/:sourceId/rotate', operation(contract.rotateSource), async (c) => {
    refuseTemporaryAccess(c.get('principal'), 'The address of a source')
    const source = await requireSource(c)
    const secret = newSecret()
    const { accountId } = c.get('principal')
    const replaced = { accountId, id: source.id, hash: await hashSecret(secret), now: Date.now() }
    await replaceHash(c.get('db'), replaced)
    evictSource(source.id)
    const url = addressOf(c, source.id, secret)
    return reply(c, contract.rotateSource, { success: true, source: presentSource(source), url })
  })
