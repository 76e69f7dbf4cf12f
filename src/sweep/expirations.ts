import { and, asc, lte, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { accounts } from '../db/schema.ts'
import type { Env } from '../env.ts'
import { ledgerOf } from '../ledger/stub.ts'
import { attempt } from './attempt.ts'

const MAX_ACCOUNTS = 50
const MAX_CALLS = 500

/** Asks the ledgers whose next expiry has come to record it. What it costs grows with what is due, not with what exists. */
export const recordExpirations = async (env: Env, db: Database, now: number): Promise<number> => {
  let recorded = 0
  let calls = 0
  let last: { id: string; nextExpiry: number | null } | undefined = { id: '', nextExpiry: -1 }
  while (last && calls < MAX_CALLS) {
    const due = await db
      .select({ id: accounts.id, nextExpiry: accounts.nextExpiry })
      .from(accounts)
      .where(
        and(
          lte(accounts.nextExpiry, now),
          sql`(next_expiry, id) > (${last.nextExpiry}, ${last.id})`,
        ),
      )
      .orderBy(asc(accounts.nextExpiry), asc(accounts.id))
      .limit(MAX_ACCOUNTS)
    for (const { id } of due) {
      await attempt('expirations', { account: id }, async () => {
        for (let more = true; more && calls < MAX_CALLS; ) {
          calls++
          const page = await ledgerOf(env, id).sweep()
          recorded += page.recorded
          more = page.more
        }
      })
    }
    last = due.at(-1)
  }
  return recorded
}
