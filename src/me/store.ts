import { eq } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { accounts } from '../db/schema.ts'

export const readCallerAccount = (db: Database, accountId: string) => {
  const { id, userName, name, timeZone } = accounts
  return db.select({ id, userName, name, timeZone }).from(accounts).where(eq(id, accountId)).get()
}
