import type { DeviceRecord } from '../domain/device.ts'
import { fold } from '../domain/fold.ts'
import type { Context } from '../http/context.ts'
import { Problem, requireOk } from '../http/problem.ts'
import { ledgerOf } from '../ledger/stub.ts'
import { ingest } from './ingest.ts'
import { type Holder, readHeld, releaseHeld } from './unclaimed.ts'

/** More than an identifier can have waiting, so that one page is enough. */
const PAGE = 1000

/** Gives the identifier to a device: a decision of the ledger. */
export const giveIdentifier = async (
  c: Context,
  identifier: string,
  given: { deviceId?: string | undefined; device?: DeviceRecord | undefined },
) => {
  const ledger = ledgerOf(c.env, c.get('principal').accountId)
  if (given.device) {
    const { userId, adminDevices: cap } = c.get('principal')
    const maker = { userId, groupId: null, cap }
    const id = await c.get('newId')('dev')
    return requireOk(await ledger.create(id, { ...given.device, identifier }, maker))
  }
  const id = given.deviceId ?? ''
  for (;;) {
    const { device } = requireOk(await ledger.device(id))
    if (device.identifier !== null && fold(device.identifier) === fold(identifier))
      return requireOk(await ledger.device(id))
    const { key, id: _, usage, creation, lastModified, version, ...record } = device
    const outcome = await ledger.replace(id, { ...record, identifier }, [version])
    if (outcome.ok || outcome.refusal !== 'precondition-failed') return requireOk(outcome)
  }
}

/**
 * Moves the reports of an identifier that a device has now. Storing them again changes nothing, so a
 * crash between storing and deleting loses and doubles nothing.
 */
export const importHeld = async (
  c: Context,
  holder: Holder,
  identifier: string,
): Promise<{ imported: number; pending: number }> => {
  const held = await readHeld(c.get('db'), holder, identifier, PAGE)
  if (held.length === 0) return { imported: 0, pending: 0 }
  try {
    const items = held.map(({ item }) => item)
    const unknown = await ingest(c, {
      items,
      now: Date.now(),
      sourceId: holder.sourceId,
      isImport: true,
    })
    if (unknown.length > 0) return { imported: 0, pending: held.length }
    const numbers = held.map(({ number }) => number)
    await releaseHeld(c.get('db'), holder, identifier, numbers)
    return { imported: held.length, pending: 0 }
  } catch (error) {
    // The device has the identifier: the sweep moves the reports.
    if (error instanceof Problem && error.code !== 'unavailable') throw error
    return { imported: 0, pending: held.length }
  }
}
