import { eq } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { accounts } from '../db/schema.ts'

export const readCallerAccount = (db: Database, accountId: string) => {
  const { id, userName, name, timeZone, status, statusMessage } = accounts
  return db
    .select({ id, userName, name, timeZone, status, statusMessage })
    .from(accounts)
    .where(eq(id, accountId))
    .get()
}
