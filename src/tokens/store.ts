import { eq } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { accounts, directory, keys } from '../db/schema.ts'

export const findAccount = async (db: Database, userNameKey: string): Promise<{ accountId: string; cell: number } | undefined> => {
  const [row] = await db
    .select({ accountId: directory.accountId, cell: directory.cell })
    .from(directory)
    .where(eq(directory.userNameKey, userNameKey))
  return row
}

export const findKey = async (db: Database, keyId: string) => {
  const [row] = await db
    .select({
      accountId: keys.accountId,
      hash: keys.hash,
      scopes: keys.scopes,
      expires: keys.expires,
      userId: keys.userId,
      disabled: accounts.disabled,
    })
    .from(keys)
    .innerJoin(accounts, eq(accounts.id, keys.accountId))
    .where(eq(keys.id, keyId))
  return row
}
