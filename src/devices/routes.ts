import { Hono } from 'hono'
import { addDays } from '../domain/day.ts'
import { fold } from '../domain/fold.ts'
import { currentDay } from '../domain/license.ts'
import { isFull } from '../groups/store.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { retryOnConflict } from '../http/editResource.ts'
import { expectedVersions, replyWithEtag } from '../http/etag.ts'
import { operation } from '../http/operation.ts'
import { readCursor, replyPage } from '../http/page.ts'
import { applyPatch } from '../http/patch.ts'
import { invalid, Problem, refusalProblem } from '../http/problem.ts'
import { type Ledger, ledgerOf } from '../ledger/stub.ts'
import * as contract from './contract.ts'
import { presentDevice } from './present.ts'
import { findDevice, groupExists, listDevices, type StoredDevice } from './store.ts'

const ledger = (c: Context): Ledger => ledgerOf(c.env, c.get('principal').accountId)

/** The device in the path, where the caller may see it. */
const visible = async (c: Context): Promise<StoredDevice> => {
  const stored = await findDevice(
    c.get('db'),
    c.get('principal'),
    c.req.param('deviceId') ?? '',
    Date.now(),
  )
  if (!stored) throw new Problem('not-found')
  return stored
}

/** The ledger knows every device of the account; what a confined user may see of them only the cell knows. */
const refuseUnseen = async (c: Context): Promise<void> => {
  if (c.get('principal').groupId !== null) await visible(c)
}

type Outcome = Awaited<ReturnType<Ledger['device']>>

/** The ledger's own outcome, with what the cell adds to it where the cell answers. */
const present = async (c: Context, { device, account }: Extract<Outcome, { ok: true }>) => {
  const now = Date.now()
  const stored = await findDevice(c.get('db'), c.get('principal'), device.id, now).catch(() => null)
  return presentDevice(
    device,
    account,
    stored ?? { groups: [], lastLocation: null, lastContact: null },
    now,
  )
}

const answer = async (c: Context, outcome: Outcome, status: 200 | 201 = 200) => {
  if (!outcome.ok) {
    if (outcome.refusal === 'expiration-date-reached')
      throw new Problem(outcome.refusal, {
        errors: [{ pointer: '/expirationDate', detail: 'is reached already' }],
      })
    throw refusalProblem(outcome)
  }
  const { id, version } = outcome.device
  return replyWithEtag(
    c,
    { success: true, device: await present(c, outcome) },
    version,
    status,
    status === 201 ? { Location: `/api/devices/${id}` } : {},
  )
}

export const devices = new Hono<AppEnv>()
  .get('/', operation(contract.listDevices), async (c) => {
    const { limit, cursor, state, group, q, sort } = c.req.valid('query')
    const owner = c.get('principal')
    const now = Date.now()
    if (group !== undefined && !(await groupExists(c.get('db'), owner, group)))
      throw invalid({ pointer: '#/query/group', detail: 'is not a group of this account' })
    const after = await readCursor(c, cursor)
    const page = await listDevices(
      c.get('db'),
      owner,
      { state, group, q: q && fold(q), sort, after, limit },
      now,
    )
    return replyPage(
      c,
      'devices',
      page.devices.map((stored) => presentDevice(stored.device, stored.account, stored, now)),
      page.next,
    )
  })
  .post('/', operation(contract.createDevice), async (c) => {
    const { userId, groupId, adminDevices } = c.get('principal')
    if (groupId !== null && (await isFull(c.get('db'), groupId))) throw new Problem('group-full')
    const id = await c.get('newId')('dev')
    const outcome = await ledger(c).create(id, c.req.valid('json'), {
      userId,
      groupId,
      cap: adminDevices,
    })
    return answer(c, outcome, 201)
  })
  .get('/:deviceId', operation(contract.readDevice), async (c) => {
    const stored = await visible(c)
    return replyWithEtag(
      c,
      { success: true, device: presentDevice(stored.device, stored.account, stored, Date.now()) },
      stored.device.version,
    )
  })
  .put('/:deviceId', operation(contract.replaceDevice), async (c) => {
    await refuseUnseen(c)
    return answer(
      c,
      await ledger(c).replace(c.req.param('deviceId'), c.req.valid('json'), c.get('ifMatch')),
    )
  })
  .patch('/:deviceId', operation(contract.patchDevice), async (c) => {
    await refuseUnseen(c)
    const id = c.req.param('deviceId')
    const outcome = await retryOnConflict(c, async () => {
      const before = await ledger(c).device(id)
      if (!before.ok) return before
      const versions = expectedVersions(c, before.device.version)
      const record = applyPatch(
        c.req.valid('json'),
        await present(c, before),
        contract.replaceDevice,
      )
      const after = await ledger(c).replace(id, record, versions)
      return !after.ok && after.refusal === 'precondition-failed' ? after.refusal : after
    })
    return answer(c, outcome)
  })
  .delete('/:deviceId', operation(contract.deleteDevice), async (c) => {
    await refuseUnseen(c)
    const outcome = await ledger(c).remove(c.req.param('deviceId'), c.get('ifMatch'))
    if (!outcome.ok) throw refusalProblem(outcome)
    return c.json({ success: true as const })
  })
  .post('/:deviceId/reactivate', operation(contract.reactivateDevice), async (c) => {
    await refuseUnseen(c)
    return answer(
      c,
      await ledger(c).reactivate(c.req.param('deviceId'), c.req.valid('json').expirationDate),
    )
  })
  .get('/:deviceId/usage', operation(contract.readUsage), async (c) => {
    const { device, account } = await visible(c)
    const today = currentDay(account, Date.now())
    const { to = today, from = addDays(to, -89) } = c.req.valid('query')
    if (from > to) throw invalid({ pointer: '#/query/from', detail: 'must not be after to' })
    if (from < addDays(to, -399))
      throw invalid({ pointer: '#/query/from', detail: 'must be at most 400 days before to' })
    return c.json({ success: true as const, usage: await ledger(c).usage(device.key, from, to) })
  })
