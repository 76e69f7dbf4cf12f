import { and, isNotNull, lt } from 'drizzle-orm'
import { confirmOpening, eraseAgain } from '../admin/store.ts'
import { type Database, openCell } from '../db/open.ts'
import { directory } from '../db/schema.ts'
import type { Env } from '../env.ts'
import { ledgerOf } from '../ledger/stub.ts'
import { runPart } from './run.ts'

const ABANDONED_AFTER_MS = 300_000
const PAGE = 20

/**
 * Settles accounts whose opening or import was interrupted. One that has a ledger is confirmed;
 * otherwise its user name becomes free again, and what was stored of it is erased.
 */
export const settleAbandonedAccounts = async (
  env: Env,
  db: Database,
  now: number,
): Promise<void> => {
  const abandoned = await db
    .select({ accountId: directory.accountId, cell: directory.cell })
    .from(directory)
    .where(and(isNotNull(directory.openingAt), lt(directory.openingAt, now - ABANDONED_AFTER_MS)))
    .limit(PAGE)
  for (const entry of abandoned) {
    const { accountId } = entry
    await runPart('abandoned-accounts', { account: accountId }, async () => {
      const isGone = await ledgerOf(env, accountId).abandonImport()
      if (isGone) await eraseAgain(db, openCell(env, entry.cell), { ...entry, now })
      else await confirmOpening(db, accountId)
    })
  }
}
