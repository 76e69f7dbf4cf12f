import { and, eq, isNull, lt, or, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { accounts, keys, users } from '../db/schema.ts'
import { BoundedCache } from '../domain/boundedCache.ts'
import type { Privilege, Term } from '../domain/user.ts'

/** How an API key stands in its cell: what a token is held against on every request. */
export interface KeyStatus {
  accountId: string
  disabled: boolean
  userId: string | null
  expires: number | null
  lastUsed: number
  /** The user that the key is bound to: it acts as that user and has no more than the user's privileges. */
  user:
    | (Term & { privileges: Privilege[]; groupId: string | null; adminDevices: number | null })
    | null
}

const MINUTE = 60_000
/** Half of the 30 s within which a revocation must be felt, so that a slow read still keeps the promise. */
const KEY_CACHE_MS = 15_000

const cache = new BoundedCache<{ standing: KeyStatus | null; readAt: number }>(10_000)

/** How these keys stand at this moment; those that are no more, or whose user is no more, are left out. */
export const readKeyStatuses = async (
  db: Database,
  keyIds: string[],
): Promise<Map<string, KeyStatus>> => {
  const rows = await db
    .select({
      keyId: keys.id,
      accountId: keys.accountId,
      disabled: accounts.disabled,
      userId: keys.userId,
      expires: keys.expires,
      lastUsed: keys.lastUsed,
      user: {
        disabled: users.disabled,
        from: users.fromTime,
        expires: users.expires,
        privileges: users.privileges,
        groupId: users.groupId,
        adminDevices: users.adminDevices,
      },
    })
    .from(keys)
    .innerJoin(accounts, eq(accounts.id, keys.accountId))
    .leftJoin(users, and(eq(users.id, keys.userId), eq(users.accountId, keys.accountId)))
    .where(sql`${keys.id} IN (SELECT value FROM json_each(${JSON.stringify(keyIds)}))`)
  const standing = rows.filter(({ userId, user }) => userId === null || user !== null)
  return new Map(
    standing.map(({ keyId, ...row }) => [keyId, { ...row, lastUsed: row.lastUsed ?? 0 }]),
  )
}

export const findKeyStatus = async (
  db: Database,
  keyId: string,
  now: number,
): Promise<KeyStatus | null> => {
  const known = cache.get(keyId)
  if (known && now - known.readAt < KEY_CACHE_MS && now >= known.readAt) return known.standing
  const standing = (await readKeyStatuses(db, [keyId])).get(keyId) ?? null
  cache.set(keyId, { standing, readAt: now })
  return standing
}

/** For the isolate that made the change itself: it need not wait until its memory is stale. */
export const forgetKey = (keyId: string): void => cache.delete(keyId)

export const forgetKeysOfAccount = (accountId: string): void =>
  cache.deleteWhere(({ standing }) => standing?.accountId === accountId)

/** The same for a user who was changed: all keys that are bound to it. */
export const forgetKeysOfUser = (userId: string): void =>
  cache.deleteWhere(({ standing }) => standing?.userId === userId)

/** The minute up to which this isolate has told of each key's use. */
const recordedUses = new BoundedCache<number>(10_000)

/** Moves `lastUsed` to this minute, at most once a minute and isolate; null when there is nothing to write. */
export const recordKeyUse = (
  db: Database,
  keyId: string,
  standing: KeyStatus,
  now: number,
): Promise<unknown> | null => {
  const minute = now - (now % MINUTE)
  if (Math.max(standing.lastUsed, recordedUses.get(keyId) ?? 0) >= minute) return null
  recordedUses.set(keyId, minute)
  return db
    .update(keys)
    .set({ lastUsed: minute })
    .where(and(eq(keys.id, keyId), or(isNull(keys.lastUsed), lt(keys.lastUsed, minute))))
}
