import { addUsage, readBudgetState } from '../../account/store.ts'
import { LOCATION_BYTES } from '../../domain/account/budget.ts'
import { BoundedCache } from '../../domain/cache/boundedCache.ts'
import { findEmergencies } from '../../domain/message/reportedEmergency.ts'
import { iso } from '../../domain/time/iso.ts'
import { budgetsPerLicense } from '../../env.ts'
import { Problem } from '../../http/contract/problem.ts'
import type { ServiceContext } from '../../serviceContext.ts'
import type { Arrival } from '../arrival.ts'
import { BudgetMeter } from './budgetMeter.ts'

/*
 * Refuses reports of accounts that are over a budget. Each isolate counts by itself and writes its
 * count now and then, so that an ordinary report reads and writes nothing more for it.
 */

/** Before it refuses, an isolate reads again what is older: the operator may have raised a budget. */
const REFUSAL_CACHE_MS = 10_000

const meters = new BoundedCache<BudgetMeter>(10_000)

/** Null when nothing is known: a failed read refuses no report. */
const findMeter = async (context: ServiceContext): Promise<BudgetMeter | null> => {
  const { accountId } = context
  const known = meters.get(accountId)
  if (known) return known
  const state = await readBudgetState(context.db, accountId).catch(() => null)
  if (!state) return null
  // A concurrent report may have read it too, and counted already.
  const meter = meters.get(accountId) ?? new BudgetMeter(state, Date.now())
  meters.set(accountId, meter)
  return meter
}

const findExceeded = (context: ServiceContext, meter: BudgetMeter) =>
  meter.findExceeded(budgetsPerLicense(context.env), Date.now())

/** Reads the account again, unless this isolate has just done so. */
const refresh = async (context: ServiceContext, meter: BudgetMeter): Promise<void> => {
  const now = Date.now()
  if (now - meter.readAt < REFUSAL_CACHE_MS) return
  // Set before the read: one of many concurrent reports reads, the others are refused at once.
  meter.readAt = now
  const { accountId } = context
  const state = await readBudgetState(context.db, accountId).catch(() => null)
  if (state) meter.update(state, Date.now())
}

const dailyLocationsReached = (resetAt: number) =>
  new Problem('daily-locations-reached', {
    headers: { 'Retry-After': String(Math.max(1, Math.ceil((resetAt - Date.now()) / 1000))) },
    members: { resetAt: iso(resetAt) },
  })

const carriesEmergency = (arrivals: readonly Arrival[], { emergencyAlerts }: BudgetMeter) => {
  const sent = arrivals.map(({ location }) => location)
  return findEmergencies(sent, emergencyAlerts).length > 0
}

/** Throws a 429 or a 409, unless the account turns out to be within its budgets by now. */
const refuse = async (
  context: ServiceContext,
  meter: BudgetMeter,
  arrivals: readonly Arrival[],
): Promise<void> => {
  await refresh(context, meter)
  if (carriesEmergency(arrivals, meter)) return
  const exceeded = findExceeded(context, meter)
  if (exceeded === 'storageBytes') throw new Problem('storage-full')
  if (exceeded) throw dailyLocationsReached(meter.resetAt())
}

/** Writes what this isolate has counted, if it is time to, after the reply. */
const writeIfDue = (context: ServiceContext, meter: BudgetMeter): void => {
  const usage = meter.takePending(Date.now())
  if (!usage) return
  const { accountId } = context
  const written = addUsage(context.db, { accountId, ...usage }).then(
    (state) => state && meter.update(state, Date.now()),
    // Still counted by this isolate. The cell never learns of it: budgets are soft.
    () => {},
  )
  context.waitUntil(written)
}

type StoreOutcome = { ok: true; accepted: number; storedBytes: number } | { ok: false }

const NOT_STORED = { accepted: 0, storedBytes: 0 }

/**
 * Stores a report and counts it. Throws when the account is over a budget, unless the report
 * carries an emergency.
 */
export const storeWithinBudget = async <Outcome extends StoreOutcome>(
  context: ServiceContext,
  arrivals: readonly Arrival[],
  store: () => Promise<Outcome>,
): Promise<Outcome> => {
  const meter = await findMeter(context)
  if (!meter) return store()
  if (findExceeded(context, meter) && !carriesEmergency(arrivals, meter))
    await refuse(context, meter, arrivals)
  // Counted first, so that concurrent reports see it, and corrected when the outcome is known. After
  // a disconnect this may never happen: then the report was probably stored.
  const expected = { locations: arrivals.length, storageBytes: arrivals.length * LOCATION_BYTES }
  meter.add(expected, Date.now())
  const correct = ({ accepted, storedBytes }: typeof NOT_STORED) => {
    const locations = accepted - expected.locations
    meter.add({ locations, storageBytes: storedBytes - expected.storageBytes }, Date.now())
  }
  try {
    const outcome = await store()
    correct(outcome.ok ? outcome : NOT_STORED)
    writeIfDue(context, meter)
    return outcome
  } catch (error) {
    correct(NOT_STORED)
    throw error
  }
}
