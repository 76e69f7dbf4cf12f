import { and, eq, isNotNull, lt } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { directory } from '../db/schema.ts'
import type { Env } from '../env.ts'
import { ledgerOf } from '../ledger/stub.ts'
import { attempt } from './attempt.ts'

const ABANDONED_AFTER = 300_000
const PAGE = 100

/** Accounts whose opening was cut short: the ledger says whether there is one. A user name taken for nothing is set free. */
export const mendOpenings = async (env: Env, db: Database, now: number): Promise<void> => {
  const stuck = await db
    .select({ accountId: directory.accountId, cell: directory.cell })
    .from(directory)
    .where(and(isNotNull(directory.openingAt), lt(directory.openingAt, now - ABANDONED_AFTER)))
    .limit(PAGE)
  for (const { accountId, cell } of stuck) {
    await attempt('openings', { account: accountId }, async () => {
      const { ok } = await ledgerOf(env, accountId).account()
      if (ok)
        await db
          .update(directory)
          .set({ openingAt: null })
          .where(eq(directory.accountId, accountId))
      else {
        await db.$client.batch([
          db.$client.prepare('DELETE FROM directory WHERE account_id = ?').bind(accountId),
          db.$client
            .prepare('UPDATE cells SET accounts = accounts - 1 WHERE cell = ? AND changes() = 1')
            .bind(cell),
        ])
      }
    })
  }
}
