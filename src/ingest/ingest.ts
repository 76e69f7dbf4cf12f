import { BoundedCache } from '../domain/cache/boundedCache.ts'
import { pokeFeed } from '../feed/stub.ts'
import { countWork } from '../http/admission/rateLimit.ts'
import { requireOk } from '../http/contract/problem.ts'
import { recallArchived } from '../locations/history/recall.ts'
import type { ServiceContext } from '../serviceContext.ts'
import { type AssumedState, type Batch, type DeviceArrivals, INITIAL_STATE } from './arrival.ts'
import { storeWithinBudget } from './budget.ts'
import { handOverLater, handOverRaises } from './handOver.ts'
import { storeArrivals } from './store.ts'

/* The one way in: every location is stored by `ingest`, wherever it comes from. */

/** Accounts' states as this isolate last saw them. Each batch checks what it assumes. */
const assumedStates = new BoundedCache<AssumedState>(10_000)

export interface IngestOptions extends Partial<Pick<Batch, 'raisesBy' | 'skipsLongWindows'>> {
  /** Quarantines locations that cannot be true. */
  checksCredibility?: boolean
  /** No budget refuses it. It counts all the same. */
  mayExceedBudget?: boolean
  now?: number
}

/**
 * Stores what arrived and hands its alerts to the ledger. When it returns, everything is durable;
 * when it throws, a repeat stores what is missing.
 */
export const ingest = async (
  context: ServiceContext,
  devices: DeviceArrivals[],
  { mayExceedBudget = false, ...options }: IngestOptions = {},
) => {
  const { db, accountId, groupId } = context
  const run = () =>
    storeArrivals(db, {
      viewer: { accountId, groupId },
      devices,
      raisesBy: null,
      checksCredibility: false,
      countWork: (units) => countWork(context, units),
      now: context.now(),
      ...options,
      get origin() {
        return context.origin
      },
      assumed: assumedStates.get(accountId) ?? INITIAL_STATE,
    })
  const arrivals = devices.flatMap((device) => device.arrivals)
  await recallArchived(db, { accountId, groupId }, devices)
  const stored =
    arrivals.length === 0
      ? await run()
      : await storeWithinBudget(context, arrivals, run, mayExceedBudget)
  const outcome = requireOk(stored)
  assumedStates.set(accountId, outcome.actual)
  handOverLater(context, outcome.hits)
  const alertId = await handOverRaises(context, outcome.raises)
  if (outcome.actual.hasSubscribers && outcome.accepted > 0)
    context.waitUntil(pokeFeed(context.env, context))
  return { ...outcome, alertId }
}
