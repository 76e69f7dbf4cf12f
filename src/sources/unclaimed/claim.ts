import { and, eq } from 'drizzle-orm'
import type { Database } from '../../db/open.ts'
import { accounts, devices } from '../../db/schema.ts'
import type { DeviceRecord } from '../../domain/account/device.ts'
import { currentDay, hasEnded } from '../../domain/account/license.ts'
import type { Writer } from '../../domain/admin/audit.ts'
import { fold } from '../../domain/text/fold.ts'
import { Problem, requireOk } from '../../http/contract/problem.ts'
import { ledgerOf } from '../../ledger/stub.ts'
import { logFailure } from '../../log.ts'
import { type ServiceContext, writerIn } from '../../serviceContext.ts'
import { ingestSenders } from '../push/ingestItems.ts'
import {
  countReports,
  deleteReports,
  readReports,
  setClaimedAt,
  type UnclaimedReport,
} from './reports.ts'
import type { Holder } from './unclaimed.ts'

const PAGE = 1000

type Ledger = ReturnType<typeof ledgerOf>
type DeviceOutcome = Awaited<ReturnType<Ledger['createDevice']>>

/** The device that is to have the identifier: one that exists, or a new one. */
interface Claim {
  deviceId?: string | undefined
  device?: DeviceRecord | undefined
}

const hasIdentifier = (device: DeviceRecord, identifier: string): boolean =>
  device.identifier !== null && fold(device.identifier) === fold(identifier)

/** The identifier of a claim is in the path. */
const requireGiven = (outcome: DeviceOutcome) =>
  requireOk(
    !outcome.ok && outcome.refusal === 'identifier-taken'
      ? { ...outcome, errors: [{ pointer: '#/path/identifier', detail: 'is used by a device' }] }
      : outcome,
  )

/** Gives the identifier to a device that exists. */
const setIdentifier = async (ledger: Ledger, id: string, identifier: string, writer: Writer) => {
  for (;;) {
    const found = requireOk(await ledger.readDevice(id))
    if (hasIdentifier(found.device, identifier)) return found
    const { key, id: _, usage, creation, lastModified, version, ...record } = found.device
    const outcome = await ledger.editDevice(id, { ...record, identifier }, [version], writer)
    if (outcome.ok || outcome.refusal !== 'precondition-failed') return requireGiven(outcome)
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
  context: ServiceContext,
  holder: Holder,
  identifier: string,
  { deviceId, device }: Claim,
) => {
  const { env, db, newId, userId, adminDevices } = context
  const ledger = ledgerOf(env, holder.accountId)
  const writer = writerIn(context)
  const [first] = await readReports(db, holder, identifier, 1)
  const id = deviceId ?? (await newId('dev'))
  if (!first) return findGranted(ledger, id, identifier)
  // As the network spells it.
  const { identifier: spelled } = first.item
  if (!device) return setIdentifier(ledger, id, spelled, writer)
  const creator = { userId, groupId: null, cap: adminDevices }
  const record = { ...device, identifier: spelled }
  return requireGiven(await ledger.createDevice(id, record, creator, writer))
}

/** The device that has the identifier, with what of its account decides whether it is active. */
export const findClaimant = async (db: Database, accountId: string, identifier: string) => {
  const { key, id, ends } = devices
  const { day, timeZone } = accounts
  const isIdentified = eq(devices.identifierKey, fold(identifier))
  const [found] = await db
    .select({ key, id, ends, day, timeZone })
    .from(devices)
    .innerJoin(accounts, eq(accounts.id, devices.accountId))
    .where(and(eq(devices.accountId, accountId), isIdentified))
  return found ?? null
}

/** Stores a page of reports at their device, then deletes them. A repeat stores nothing twice. */
const importPage = async (
  context: ServiceContext,
  holder: Holder,
  device: { key: number; id: string },
  arrived: UnclaimedReport[],
): Promise<void> => {
  const identifier = arrived[0]?.item.identifier ?? ''
  const sender = { identifier, arrived, device }
  const given = { sourceId: holder.sourceId, arrived, now: context.now(), isOld: true }
  const { statuses } = await ingestSenders(context, [sender], given)
  // The device has expired since it was looked up: its reports wait until it is active.
  if (statuses[0]?.includes('refused') || statuses[0]?.includes('unknown')) return
  const numbers = arrived.map(({ number }) => number)
  await deleteReports(context.db, holder, identifier, numbers)
}

/**
 * Moves the reports of an identifier to the device that has it. Whatever fails, the identifier is
 * the device's: the sweep moves what is left (`pending`).
 */
export const importReports = async (
  context: ServiceContext,
  holder: Holder,
  identifier: string,
): Promise<{ imported: number; pending: number }> => {
  const { db, requestId } = context
  const reports = await readReports(db, holder, identifier, PAGE)
  if (reports.length === 0) return { imported: 0, pending: 0 }
  const claimant = await findClaimant(db, holder.accountId, identifier)
  // An expired device takes nothing: the reports wait until it is active.
  if (claimant && !hasEnded(claimant.ends, currentDay(claimant, context.now())))
    await importPage(context, holder, claimant, reports).catch((error) => {
      // Over a budget, or the ledger is out of reach.
      if (error instanceof Problem) return
      logFailure('import-failed', error, { requestId })
    })
  const pending = await countReports(db, holder, identifier).catch(() => reports.length)
  if (!claimant) await setClaimedAt(db, holder, identifier, null)
  return { imported: Math.max(0, reports.length - pending), pending }
}
