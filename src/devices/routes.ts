import { Hono } from 'hono'
import { retryTransient } from '../db/transient.ts'
import { currentDay } from '../domain/account/license.ts'
import { fold } from '../domain/text/fold.ts'
import { addDays } from '../domain/time/day.ts'
import { isFull } from '../groups/store.ts'
import { applyPatch } from '../http/body/patch.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { operation } from '../http/contract/operation.ts'
import { invalid, Problem, requireOk } from '../http/contract/problem.ts'
import { replyList } from '../http/paging/list.ts'
import { requireInPath } from '../http/reply/notFound.ts'
import { reply, replyWithEtag } from '../http/reply/reply.ts'
import { editResource } from '../http/resource/editResource.ts'
import { writerOf } from '../http/writer.ts'
import { type Ledger, ledgerOf } from '../ledger/stub.ts'
import * as contract from './contract.ts'
import { listDeleted, presentDeleted, sawDeleted } from './deleted.ts'
import { deviceBody } from './forms.ts'
import { listDevices } from './list.ts'
import { NO_EXTRAS, presentDay, presentDevice } from './present.ts'
import { findDevice, hasGroup, isUnclaimed, type StoredDevice } from './store.ts'

const DEFAULT_USAGE_DAYS = 90
const MAX_USAGE_DAYS = 400

const ledger = (c: Context): Ledger => ledgerOf(c.env, c.get('principal').accountId)

/** The device in the path, if the caller can see it. */
const findVisible = (c: Context): Promise<StoredDevice> =>
  requireInPath(c, 'deviceId', (id) => findDevice(c.get('db'), c.get('principal'), id, Date.now()))

/**
 * The ledger knows all devices of the account, but not which of them a confined user can see. Null
 * for a caller who sees all.
 */
const requireVisible = async (c: Context): Promise<StoredDevice | null> =>
  c.get('principal').groupId === null ? null : findVisible(c)

/**
 * Claims are for callers with the whole account: to a confined user, an identifier that waits to be
 * claimed is taken, as if another device had it.
 */
const refuseClaim = async (c: Context, after: string | null, before: string | null = null) => {
  const { accountId, groupId } = c.get('principal')
  if (groupId === null || after === null || fold(after) === fold(before ?? '')) return
  if (await isUnclaimed(c.get('db'), accountId, after))
    requireOk({ ok: false, refusal: 'identifier-taken' })
}

/** 400 for a new phone number that is not one. */
const requirePhone = async (c: Context, id: string, min: string): Promise<void> => {
  const { error } = deviceBody.shape.min.safeParse(min)
  if (!error) return
  const { device } = requireOk(await ledger(c).readDevice(id))
  if (device.min === min) return
  throw invalid(...error.issues.map(({ message }) => ({ pointer: '/min', detail: message })))
}

type Outcome = Awaited<ReturnType<Ledger['readDevice']>>
type Granted = Extract<Outcome, { ok: true }>

/** A refusal names the device that has the identifier only to who can see that device. */
const hideHolder = async (c: Context, outcome: Outcome): Promise<Outcome> => {
  if (outcome.ok || outcome.refusal !== 'identifier-taken' || !outcome.holder) return outcome
  const viewer = c.get('principal')
  const { id } = outcome.holder
  if (viewer.groupId === null || (await findDevice(c.get('db'), viewer, id, Date.now())))
    return outcome
  return { ...outcome, holder: undefined }
}

/** The device as the ledger returned it, with its groups and location if the cell can be read. */
const presentGranted = async (c: Context, { device, account }: Granted) => {
  const now = Date.now()
  const stored = await findDevice(c.get('db'), c.get('principal'), device.id, now).catch(() => null)
  return presentDevice(device, account, stored ?? NO_EXTRAS, now)
}

const replyGranted = async (
  c: Context,
  replied: typeof contract.devices.read,
  granted: Granted,
  location?: string,
) => {
  const device = await presentGranted(c, granted)
  const { version } = granted.device
  const tag = location === undefined ? { version } : { version, location }
  return replyWithEtag(c, replied, { success: true, device }, tag)
}

export const devices = new Hono<AppEnv>()
  .get('/', operation(contract.devices.list), async (c) => {
    const { cursor, q, contains, identifier, ...query } = c.req.valid('query')
    const { group, limit, deleted } = query
    const [db, viewer, now] = [c.get('db'), c.get('principal'), Date.now()]
    if (deleted === 'true')
      return replyList(c, contract.devices.list, c.req.valid('query'), {
        readPage: (after) => listDeleted(db, viewer, { after, limit, now }),
        toBody: (rows) => ({ devices: rows.map((row) => presentDeleted(row, viewer, now)) }),
      })
    if (group !== undefined && !(await hasGroup(db, viewer, group)))
      throw invalid({ pointer: '#/query/group', detail: 'is not a group of this account' })
    const folded = {
      q: q && fold(q),
      contains: contains && fold(contains),
      identifier: identifier && fold(identifier),
    }
    return replyList(c, contract.devices.list, c.req.valid('query'), {
      readPage: (after) => listDevices(db, viewer, { ...query, ...folded, after }, now),
      toBody: (rows) => ({
        devices: rows.map((one) => presentDevice(one.device, one.account, one, now)),
      }),
    })
  })
  .post('/', operation(contract.devices.create), async (c) => {
    const { userId, groupId, adminDevices: cap } = c.get('principal')
    if (groupId !== null && (await isFull(c.get('db'), groupId))) throw new Problem('group-full')
    await refuseClaim(c, c.req.valid('json').identifier)
    const id = await c.get('newId')('dev')
    const creator = { userId, groupId, cap }
    const outcome = await ledger(c).createDevice(id, c.req.valid('json'), creator, writerOf(c))
    const granted = requireOk(await hideHolder(c, outcome))
    return replyGranted(c, contract.devices.create, granted, `/api/devices/${id}`)
  })
  .get('/:deviceId', operation(contract.devices.read), async (c) => {
    const stored = await findVisible(c)
    const device = presentDevice(stored.device, stored.account, stored, Date.now())
    return replyWithEtag(c, contract.devices.read, { success: true, device }, stored.device)
  })
  .put('/:deviceId', operation(contract.replacedDevice), async (c) => {
    const visible = await requireVisible(c)
    const id = c.req.param('deviceId')
    const record = c.req.valid('json')
    await refuseClaim(c, record.identifier, visible?.device.identifier)
    await requirePhone(c, id, record.min)
    const outcome = await ledger(c).editDevice(id, record, c.get('ifMatch'), writerOf(c))
    const granted = requireOk(await hideHolder(c, outcome))
    return replyGranted(c, contract.devices.replace, granted)
  })
  .patch('/:deviceId', operation(contract.devices.patch), async (c) => {
    await requireVisible(c)
    const id = c.req.param('deviceId')
    const patch = c.req.valid('json')
    const granted = await editResource(c, {
      find: async () => {
        const found = requireOk(await ledger(c).readDevice(id))
        return { ...found, version: found.device.version }
      },
      change: async (before) =>
        applyPatch(patch, await presentGranted(c, before), contract.patchedDevice),
      write: async ({ device }, record, versions) => {
        await refuseClaim(c, record.identifier, device.identifier)
        await requirePhone(c, id, record.min)
        return hideHolder(c, await ledger(c).editDevice(id, record, versions, writerOf(c)))
      },
    })
    return replyGranted(c, contract.devices.patch, granted)
  })
  .delete('/:deviceId', operation(contract.devices.remove), async (c) => {
    await requireVisible(c)
    const id = c.req.param('deviceId')
    requireOk(await ledger(c).deleteDevice(id, c.get('ifMatch'), writerOf(c)))
    return reply(c, contract.devices.remove, { success: true })
  })
  .post('/:deviceId/reactivate', operation(contract.reactivateDevice), async (c) => {
    await requireVisible(c)
    const { expirationDate } = c.req.valid('json')
    const id = c.req.param('deviceId')
    const outcome = await ledger(c).reactivateDevice(id, expirationDate, writerOf(c))
    if (!outcome.ok && outcome.refusal === 'expiration-date-reached')
      throw new Problem(outcome.refusal, {
        errors: [
          { pointer: '/expirationDate', detail: 'must be after today, in the account’s time zone' },
        ],
      })
    const granted = requireOk(outcome)
    return replyGranted(c, contract.reactivateDevice, granted)
  })
  .post('/:deviceId/restore', operation(contract.restoreDevice), async (c) => {
    const id = c.req.param('deviceId')
    const [db, viewer] = [c.get('db'), c.get('principal')]
    // A confined user restores what it saw; the group may be full by now.
    if (viewer.groupId !== null && !(await sawDeleted(db, viewer, id, Date.now())))
      throw new Problem('device-not-found')
    if (viewer.groupId !== null && (await isFull(db, viewer.groupId)))
      throw new Problem('group-full')
    const outcome = await ledger(c).restoreDevice(id, writerOf(c))
    const granted = requireOk(await hideHolder(c, outcome))
    return replyGranted(c, contract.restoreDevice, granted)
  })
  .get('/:deviceId/usage', operation(contract.readUsage), async (c) => {
    const { device, account } = await findVisible(c)
    const today = currentDay(account, Date.now())
    const { to = today, from = addDays(to, 1 - DEFAULT_USAGE_DAYS) } = c.req.valid('query')
    if (from > to) throw invalid({ pointer: '#/query/from', detail: 'must not be after to' })
    if (from < addDays(to, 1 - MAX_USAGE_DAYS))
      throw invalid({
        pointer: '#/query/from',
        detail: `must be less than ${MAX_USAGE_DAYS} days before to`,
      })
    const usage = await retryTransient(() => ledger(c).readUsage(device.key, from, to))
    return reply(c, contract.readUsage, { success: true, usage: usage.map(presentDay) })
  })
