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

/** Hands alerts to the ledgers of their accounts. Returns how many of `maxCalls` are left. */
export const handOver = async (
  { env, cell }: CellRun,
  part: string,
  rows: Pick<PendingRow, 'accountId' | 'raise'>[],
  maxCalls: number,
): Promise<number> => {
  let left = maxCalls
  for (const [account, own] of Map.groupBy(rows, ({ accountId }) => accountId)) {
    for (let at = 0; at < own.length && left > 0; at += MAX_RAISES_PER_CALL, left--) {
      const raises = own.slice(at, at + MAX_RAISES_PER_CALL).map(({ raise }) => raise)
      await runPart(part, { cell, account }, () =>
        ledgerOf(env, account).raisePendingAlerts(raises),
      )
    }
  }
  return left
}

/**
 * Hands alerts to the ledger that a crash has left between a report and its reply. The ledger
 * deletes what it has decided on. Alerts that fail are passed over until the next run.
 */
export const raiseLeftovers = async (run: CellRun): Promise<void> => {
  const { db, now, take } = run
  const before = now - GRACE_MS
  let calls = MAX_CALLS
  let after: PendingRow | null = null
  for (let pages = 0; pages < MAX_PAGES && take(); pages++) {
    const page: PendingRow[] = await readPendingRaises(db, { before, after, limit: PAGE })
    calls = await handOver(run, 'pending-raises', page, calls)
    if (page.length < PAGE || calls === 0) return
    after = page.at(-1) ?? null
  }
}
