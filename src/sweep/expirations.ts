import { and, asc, isNull, lte, sql } from 'drizzle-orm'
import { isHere } from '../db/movedCell.ts'
import type { Database } from '../db/open.ts'
import { accounts } from '../db/schema.ts'
import { ledgerOf } from '../ledger/stub.ts'
import { type CellRun, runPart } from './run.ts'

const MAX_ACCOUNTS = 50
const MAX_CALLS = 500
export const MAX_EXPIRATION_QUERIES = 2 + MAX_CALLS / MAX_ACCOUNTS

type Due = { id: string; nextExpiry: number | null }

/** The next accounts with an expiry that is due, after the one that the page before ended with. */
const readDue = (db: Database, after: Due, now: number): Promise<Due[]> =>
  db
    .select({ id: accounts.id, nextExpiry: accounts.nextExpiry })
    .from(accounts)
    .where(
      and(
        lte(accounts.nextExpiry, now),
        isNull(accounts.deletedAt),
        isHere(accounts.id),
        sql`(${accounts.nextExpiry}, ${accounts.id}) > (${after.nextExpiry}, ${after.id})`,
      ),
    )
    .orderBy(asc(accounts.nextExpiry), asc(accounts.id))
    .limit(MAX_ACCOUNTS)

/** Asks ledgers with a due expiry to record it. The cost grows only with what is due. */
export const recordExpirations = async ({ env, db, now, take }: CellRun): Promise<void> => {
  let calls = 0
  let last: Due | undefined = { id: '', nextExpiry: -1 }
  while (last && calls < MAX_CALLS && take()) {
    const due: Due[] = await readDue(db, last, now)
    for (const { id } of due) {
      await runPart('expirations', { account: id }, async () => {
        for (let hasMore = true; hasMore && calls < MAX_CALLS; ) {
          calls++
          const page = await ledgerOf(env, id).recordExpirations()
          hasMore = page.more
        }
      })
    }
    last = due.at(-1)
  }
}
