import { asc, lte } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { accounts } from '../db/schema.ts'
import type { Env } from '../env.ts'
import { ledgerOf } from '../ledger/stub.ts'

const MOST_ACCOUNTS = 50
const MOST_CALLS = 500

/** Asks the ledgers whose next expiry has come to record it. What it costs grows with what is due, not with what exists. */
export const recordExpirations = async (env: Env, db: Database, now: number): Promise<number> => {
  let recorded = 0
  let calls = 0
  const seen = new Set<string>()
  while (calls < MOST_CALLS) {
    const due = await db
      .select({ id: accounts.id })
      .from(accounts)
      .where(lte(accounts.nextExpiry, now))
      .orderBy(asc(accounts.nextExpiry))
      .limit(MOST_ACCOUNTS)
    const fresh = due.filter(({ id }) => !seen.has(id))
    if (fresh.length === 0) return recorded
    for (const { id } of fresh) {
      seen.add(id)
      for (let more = true; more && calls < MOST_CALLS; calls++) {
        const page = await ledgerOf(env, id).sweep()
        recorded += page.recorded
        more = page.more
      }
    }
  }
  return recorded
}
