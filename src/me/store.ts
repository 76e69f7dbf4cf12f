import { eq } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { accounts } from '../db/schema.ts'
import { parseSandbox } from '../domain/sandbox/sandbox.ts'

export const readCallerAccount = async (db: Database, accountId: string) => {
  const { id, userName, name, timeZone, status, statusMessage, sandbox } = accounts
  const found = await db
    .select({ id, userName, name, timeZone, status, statusMessage, sandbox })
    .from(accounts)
    .where(eq(id, accountId))
    .get()
  return found && { ...found, sandbox: parseSandbox(found.sandbox) }
}
