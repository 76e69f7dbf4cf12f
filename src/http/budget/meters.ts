import type { Database } from '../../db/open.ts'
import { addUsage, readBudgetState, readUsage } from '../../db/queries/usage.ts'
import type { Budgets, CountedUsage, Usage } from '../../domain/account/budget.ts'
import { BoundedCache } from '../../domain/cache/boundedCache.ts'
import { budgetsPerLicense, type Env } from '../../env.ts'
import { Problem } from '../contract/problem.ts'
import { BudgetMeter, MIN_INTERVAL_MS } from './budgetMeter.ts'

/*
 * What this isolate knows of the accounts' budgets and usage. Triggers count what is stored, except
 * locations: those each isolate counts by itself, and writes its count now and then.
 */

/** Before it refuses, an isolate reads again what is older. */
const REFUSAL_CACHE_MS = 10_000
/** After it has stored something else than locations, it reads again what is older. */
const STORED_CACHE_MS = 1000

/** How long the requests of an account are counted before the first write. */
const FIRST_WRITE_MS = 25_000

/** What concerns one account: a request, a push or a job. */
export interface AccountWork {
  env: Env
  db: Database
  accountId: string
  waitUntil: (promise: Promise<unknown>) => void
}

const meters = new BoundedCache<BudgetMeter>(10_000)
/** Requests of accounts without a meter. */
const unmetered = new BoundedCache<{ requests: number; isPlanned: boolean }>(10_000)

/** Null when nothing is known: a failed read refuses nothing. */
export const findMeter = async ({ db, accountId }: AccountWork): Promise<BudgetMeter | null> => {
  const known = meters.get(accountId)
  if (known) return known
  const state = await readBudgetState(db, accountId).catch(() => null)
  if (!state) return null
  // A concurrent request may have read it too, and counted already.
  const meter = meters.get(accountId) ?? new BudgetMeter(state, Date.now())
  meters.set(accountId, meter)
  meter.add({ requests: unmetered.get(accountId)?.requests ?? 0 }, Date.now())
  unmetered.delete(accountId)
  return meter
}

/** Counts a request of the account. No row is written for it alone. */
export const countUsedRequest = (accountId: string): void => {
  const meter = meters.get(accountId)
  const first = unmetered.get(accountId)
  if (meter) meter.add({ requests: 1 }, Date.now())
  else if (first) first.requests++
  else unmetered.set(accountId, { requests: 1, isPlanned: false })
}

/** Reads the account again, unless this isolate has just done so. */
const refreshMeter = async (
  { db, accountId }: AccountWork,
  meter: BudgetMeter,
  maxAgeMs: number,
): Promise<void> => {
  const now = Date.now()
  if (now - meter.readAt < maxAgeMs) return
  // Set before the read: one of many concurrent requests reads, the others do not wait for it.
  meter.readAt = now
  const state = await readBudgetState(db, accountId).catch(() => null)
  if (state) meter.update(state, Date.now())
}

/** The budget that is used up, as far as this isolate knows. */
export const findExceeded = (
  { env }: AccountWork,
  meter: BudgetMeter,
  share?: number,
): keyof Budgets | null => meter.findExceeded(budgetsPerLicense(env), Date.now(), share)

/** The same after a new look: the operator may have raised it. */
export const confirmExceeded = async (
  work: AccountWork,
  meter: BudgetMeter,
  share?: number,
): Promise<keyof Budgets | null> => {
  await refreshMeter(work, meter, REFUSAL_CACHE_MS)
  return findExceeded(work, meter, share)
}

/** The meter of an account that has used up its storage, or `share` times as much; else null. */
export const findFullMeter = async (
  work: AccountWork,
  share?: number,
): Promise<BudgetMeter | null> => {
  const meter = await findMeter(work)
  if (!meter || findExceeded(work, meter, share) !== 'storageBytes') return null
  return (await confirmExceeded(work, meter, share)) === 'storageBytes' ? meter : null
}

/** Throws a 409 when the account has used up its storage, or `share` times as much. */
export const requireStorage = async (work: AccountWork, share?: number): Promise<void> => {
  if (await findFullMeter(work, share)) throw new Problem('storage-full')
}

/** After the budgets were changed: in this isolate they hold at once. */
export const rereadBudgets = async (work: AccountWork): Promise<void> => {
  const meter = meters.get(work.accountId)
  if (meter) await refreshMeter(work, meter, 0)
}

/** After something was stored: the next request sees how much that was. */
export const noteStored = (work: AccountWork): void => {
  const meter = meters.get(work.accountId)
  if (meter) work.waitUntil(refreshMeter(work, meter, STORED_CACHE_MS))
}

const writeCounted = async (
  { db, accountId }: AccountWork,
  meter: BudgetMeter,
  counted: CountedUsage[],
): Promise<void> => {
  for (const usage of counted) {
    // What cannot be written is still counted by this isolate. The cell never learns of it.
    const state = await addUsage(db, { accountId, ...usage }).catch(() => null)
    if (state) meter.update(state, Date.now())
  }
}

/** Writes what this isolate has counted if its last write is older than `maxAgeMs`. */
const writePending = (work: AccountWork, meter: BudgetMeter, maxAgeMs: number): Promise<void> =>
  writeCounted(work, meter, meter.takePending(Date.now(), maxAgeMs))

/**
 * Writes it after the reply, now or in time: no further report may come, and the isolate may end.
 * Mostly there is nothing to do, and `waitUntil` alone would take 50 µs.
 */
export const writeUsageLater = (work: AccountWork, meter: BudgetMeter): void => {
  const now = Date.now()
  const counted = meter.takePending(now)
  const waitMs = counted.length > 0 ? null : meter.planWrite(now)
  if (counted.length > 0) work.waitUntil(writeCounted(work, meter, counted))
  else if (waitMs !== null)
    work.waitUntil(scheduler.wait(waitMs).then(() => writePending(work, meter, 0)))
}

/** Writes the count of requests later, if no report does before: at most one row a minute. */
export const writeRequestsLater = (work: AccountWork): void => {
  const first = unmetered.get(work.accountId)
  const meter = meters.get(work.accountId)
  if (first?.isPlanned) return
  const waitMs = meter ? meter.planRequests(Date.now()) : FIRST_WRITE_MS
  if (first) first.isPlanned = true
  if (waitMs !== null) work.waitUntil(writeRequests(work, waitMs))
}

const writeRequests = async (work: AccountWork, waitMs: number): Promise<void> => {
  await scheduler.wait(waitMs)
  const meter = await findMeter(work)
  if (meter) await writeCounted(work, meter, meter.takeRequests(Date.now()))
  else unmetered.delete(work.accountId)
}

/** What the account has used, with what this isolate has counted. */
export const readCurrentUsage = async (work: AccountWork): Promise<Usage | null> => {
  const meter = meters.get(work.accountId)
  if (meter) await writePending(work, meter, MIN_INTERVAL_MS)
  return readUsage(work.db, work.accountId)
}
