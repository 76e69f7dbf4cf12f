import { and, asc, lte } from 'drizzle-orm'
import { isHere } from '../db/movedCell.ts'
import { accounts } from '../db/schema.ts'
import { ledgerOf } from '../ledger/stub.ts'
import { simulate } from '../sandbox/simulate.ts'
import { readSimulated } from '../sandbox/store.ts'
import { systemContext } from '../serviceContext.ts'
import { type CellRun, runPart, savePosition } from './run.ts'
import { SWEEP_WRITER } from './usageMonths.ts'

/* Moves the devices of sandboxes, and erases those that nobody has kept. */

const PART = 'sandboxes'
/** However many sandboxes a cell has: with more of them, each is moved less often. */
const MAX_ACCOUNTS = 10
/** Of one report of all its devices. */
const REPORT_QUERIES = 30
const MAX_ERASED = 10
const OWN_QUERIES = 3
export const MAX_SANDBOX_QUERIES = OWN_QUERIES + MAX_ACCOUNTS * REPORT_QUERIES

/** The ledger decides: it may have been kept meanwhile. */
const eraseDue = async ({ env, cell, db, now }: CellRun): Promise<void> => {
  const due = await db
    .select({ id: accounts.id })
    .from(accounts)
    .where(and(lte(accounts.sandboxErasesAt, now), isHere(accounts.id)))
    .orderBy(asc(accounts.sandboxErasesAt))
    .limit(MAX_ERASED)
  for (const { id: account } of due)
    await runPart(PART, { cell, account }, () =>
      ledgerOf(env, account).eraseDueSandbox(now, SWEEP_WRITER),
    )
}

/** With more sandboxes than one run moves, the next run goes on after the last of this one. */
const moveDevices = async ({ env, cell, db, now, take }: CellRun): Promise<void> => {
  const page = await readSimulated(db, { part: PART, limit: MAX_ACCOUNTS })
  let last = page.length < MAX_ACCOUNTS ? null : page.at(-1)
  for (const [index, account] of page.entries()) {
    if (!take(REPORT_QUERIES)) {
      last = page[index - 1] ?? null
      break
    }
    const { id: accountId } = account
    const context = systemContext({ env, db, cell, accountId, name: 'sweep', now })
    await runPart(PART, { cell, account: accountId }, () => simulate(context, account))
  }
  if (last) await savePosition(db, PART, last.number)
}

export const runSandboxes = async (run: CellRun): Promise<void> => {
  if (!run.take(OWN_QUERIES)) return
  await eraseDue(run)
  run.later(() => runPart(PART, { cell: run.cell }, () => moveDevices(run)))
}
