import { LOCATION_BYTES } from '../domain/account/budget.ts'
import { findEmergencies } from '../domain/message/reportedEmergency.ts'
import { iso } from '../domain/time/iso.ts'
import type { BudgetMeter } from '../http/budget/budgetMeter.ts'
import { confirmExceeded, findExceeded, findMeter, writeUsageLater } from '../http/budget/meters.ts'
import { Problem } from '../http/contract/problem.ts'
import type { ServiceContext } from '../serviceContext.ts'
import type { Arrival } from './arrival.ts'

/*
 * Refuses reports of accounts that are over a budget. An ordinary report reads and writes nothing
 * more for it.
 */

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
const requireBudgets = async (
  context: ServiceContext,
  meter: BudgetMeter,
  arrivals: readonly Arrival[],
): Promise<void> => {
  const exceeded = await confirmExceeded(context, meter)
  if (!exceeded || carriesEmergency(arrivals, meter)) return
  if (exceeded === 'storageBytes') throw new Problem('storage-full')
  throw dailyLocationsReached(meter.resetAt())
}

type StoreOutcome = { ok: true; accepted: number; storedBytes: number } | { ok: false }

const NOT_STORED = { accepted: 0, storedBytes: 0 }

/**
 * Stores a report and counts it. Throws when the account is over a budget, unless it may exceed it
 * or the report carries an emergency.
 */
export const storeWithinBudget = async <Outcome extends StoreOutcome>(
  context: ServiceContext,
  arrivals: readonly Arrival[],
  store: () => Promise<Outcome>,
  mayExceed = false,
): Promise<Outcome> => {
  const meter = await findMeter(context)
  if (!meter) return store()
  if (context.status === 'disabled' && !mayExceed && !carriesEmergency(arrivals, meter))
    throw new Problem('account-disabled')
  if (!mayExceed && findExceeded(context, meter)) await requireBudgets(context, meter, arrivals)
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
    writeUsageLater(context, meter)
    return outcome
  } catch (error) {
    correct(NOT_STORED)
    throw error
  }
}
