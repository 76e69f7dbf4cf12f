import type { DeviceRecord } from '../../domain/account/device.ts'
import { fold } from '../../domain/text/fold.ts'
import type { Context } from '../../http/context.ts'
import { Problem, requireOk } from '../../http/contract/problem.ts'
import { ledgerOf } from '../../ledger/stub.ts'
import { logFailure } from '../../log.ts'
import { countHeld, readHeld, withdrawClaim } from './held.ts'
import { findClaimant, importPage, isExpired } from './importReports.ts'
import type { Holder } from './unclaimed.ts'

const PAGE = 1000

type Ledger = ReturnType<typeof ledgerOf>

/** The device that is to have the identifier: one that exists, or a new one. */
interface Claim {
  deviceId?: string | undefined
  device?: DeviceRecord | undefined
}

const hasIdentifier = (device: DeviceRecord, identifier: string): boolean =>
  device.identifier !== null && fold(device.identifier) === fold(identifier)

/** Gives the identifier to a device that exists. */
const editDevice = async (ledger: Ledger, id: string, identifier: string) => {
  for (;;) {
    const found = requireOk(await ledger.readDevice(id))
    if (hasIdentifier(found.device, identifier)) return found
    const { key, id: _, usage, creation, lastModified, version, ...record } = found.device
    const outcome = await ledger.editDevice(id, { ...record, identifier }, [version])
    if (outcome.ok || outcome.refusal !== 'precondition-failed') return requireOk(outcome)
  }
}

/** A repeat of a claim whose reports were moved before its reply finds its own device. */
const findGranted = async (ledger: Ledger, id: string, identifier: string) => {
  const outcome = await ledger.readDevice(id)
  if (outcome.ok && hasIdentifier(outcome.device, identifier)) return outcome
  throw new Problem('identifier-not-found')
}

/** Gives the identifier to a device: a decision of the ledger. */
export const giveIdentifier = async (
  c: Context,
  holder: Holder,
  identifier: string,
  { deviceId, device }: Claim,
) => {
  const ledger = ledgerOf(c.env, holder.accountId)
  const [held] = await readHeld(c.get('db'), holder, identifier, 1)
  const id = deviceId ?? (await c.get('newId')('dev'))
  if (!held) return findGranted(ledger, id, identifier)
  // As the network spells it.
  const { identifier: spelled } = held.item
  if (!device) return editDevice(ledger, id, spelled)
  const { userId, adminDevices: cap } = c.get('principal')
  const creator = { userId, groupId: null, cap }
  return requireOk(await ledger.createDevice(id, { ...device, identifier: spelled }, creator))
}

export interface ImportOutcome {
  imported: number
  /** Still to be moved. The sweep does that. */
  pending: number
}

/**
 * Moves the reports of an identifier to the device that has it. Whatever fails, the identifier is
 * the device's: the sweep moves what is left.
 */
export const importHeld = async (
  c: Context,
  holder: Holder,
  identifier: string,
): Promise<ImportOutcome> => {
  const db = c.get('db')
  const held = await readHeld(db, holder, identifier, PAGE)
  if (held.length === 0) return { imported: 0, pending: 0 }
  const claimant = await findClaimant(db, holder.accountId, identifier)
  const isMovable = claimant && !isExpired(claimant, Date.now())
  if (isMovable)
    await importPage(c, holder, claimant, held).catch((error) => {
      // Over a budget, or the ledger is out of reach.
      if (error instanceof Problem) return
      logFailure('import-failed', error, { requestId: c.get('requestId') })
    })
  const pending = await countHeld(db, holder, identifier).catch(() => held.length)
  if (!claimant) await withdrawClaim(db, holder, identifier)
  return { imported: Math.max(0, held.length - pending), pending }
}
