import { eq } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { accounts } from '../db/schema.ts'

export interface CallerAccount {
  id: string
  userName: string
  name: string
  timeZone: string
}

export const readCallerAccount = async (
  db: Database,
  accountId: string,
): Promise<CallerAccount | null> => {
  const { id, userName, name, timeZone } = accounts
  const [account] = await db
    .select({ id, userName, name, timeZone })
    .from(accounts)
    .where(eq(id, accountId))
  return account ?? null
}
