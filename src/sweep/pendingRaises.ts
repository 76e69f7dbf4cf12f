import { type PendingRow, readPendingRaises } from '../db/queries/pendingRaises.ts'
import { MAX_RAISES_PER_CALL } from '../domain/message/pendingRaise.ts'
import { ledgerOf } from '../ledger/stub.ts'
import { type CellRun, runPart } from './run.ts'

/** A request that is still running hands over its alerts itself. */
const GRACE_MS = 30_000
const PAGE = 200
const MAX_PAGES = 5
/** Of one run: each call is a request of the Worker, like the queries. */
const MAX_CALLS = 100
export const MAX_RAISE_QUERIES = MAX_PAGES

const callsOf = (page: PendingRow[]): PendingRow[][] =>
  [...Map.groupBy(page, ({ accountId }) => accountId).values()].flatMap((rows) =>
    Array.from({ length: Math.ceil(rows.length / MAX_RAISES_PER_CALL) }, (_, index) =>
      rows.slice(index * MAX_RAISES_PER_CALL, (index + 1) * MAX_RAISES_PER_CALL),
    ),
  )

/**
 * Hands alerts to the ledger that a crash has left between a report and its reply. The ledger
 * deletes what it has decided on. Alerts that fail are passed over until the next run.
 */
export const raiseLeftovers = async ({ env, cell, db, now, take }: CellRun): Promise<void> => {
  const before = now - GRACE_MS
  let calls = 0
  let after: PendingRow | null = null
  for (let pages = 0; pages < MAX_PAGES && take(); pages++) {
    const page: PendingRow[] = await readPendingRaises(db, { before, after, limit: PAGE })
    for (const rows of callsOf(page)) {
      const [{ accountId } = { accountId: '' }] = rows
      if (calls++ === MAX_CALLS) return
      await runPart('pending-raises', { cell, account: accountId }, () =>
        ledgerOf(env, accountId).raisePendingAlerts(rows.map(({ raise }) => raise)),
      )
    }
    if (page.length < PAGE) return
    after = page.at(-1) ?? null
  }
}
