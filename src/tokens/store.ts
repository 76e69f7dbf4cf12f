import { and, eq } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { accounts, directory, keys, users } from '../db/schema.ts'

export const findAccount = async (
  db: Database,
  userNameKey: string,
): Promise<{ accountId: string; cell: number } | undefined> => {
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
      user: {
        disabled: users.disabled,
        disabledMessage: users.disabledMessage,
        from: users.fromTime,
        expires: users.expires,
      },
    })
    .from(keys)
    .innerJoin(accounts, eq(accounts.id, keys.accountId))
    .leftJoin(users, and(eq(users.id, keys.userId), eq(users.accountId, keys.accountId)))
    .where(eq(keys.id, keyId))
  return row
}

/** No edit: the user's version and `modification` stay. */
export const recordLogin = (db: Database, userId: string, now: number) =>
  db.update(users).set({ lastLogin: now }).where(eq(users.id, userId))
