import { and, eq, isNull, lt, or, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { accounts, keys, users } from '../db/schema.ts'
import type { Privilege, Term } from '../domain/user.ts'
import { Recent } from './recent.ts'

/** How an API key stands in its cell: what a token is held against on every request. */
export interface Standing {
  accountId: string
  disabled: boolean
  userId: string | null
  expires: number | null
  lastUsed: number
  /** The user that the key is bound to: it acts as that user and has no more than the user's privileges. */
  user: (Term & { privileges: Privilege[]; groupId: string | null; adminDevices: number | null }) | null
}

const MINUTE = 60_000
/** Half of the 30 s within which a revocation must be felt, so that a slow read still keeps the promise. */
const KEPT_FOR = 15_000

const kept = new Recent<{ standing: Standing | null; readAt: number }>(10_000)

/** How these keys stand at this moment; those that are no more, or whose user is no more, are left out. */
export const readStandings = async (db: Database, keyIds: string[]): Promise<Map<string, Standing>> => {
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
  return new Map(standing.map(({ keyId, ...row }) => [keyId, { ...row, lastUsed: row.lastUsed ?? 0 }]))
}

export const standingOf = async (db: Database, keyId: string, now: number): Promise<Standing | null> => {
  const known = kept.get(keyId)
  if (known && now - known.readAt < KEPT_FOR && now >= known.readAt) return known.standing
  const standing = (await readStandings(db, [keyId])).get(keyId) ?? null
  kept.set(keyId, { standing, readAt: now })
  return standing
}

/** For the isolate that made the change itself: it need not wait until its memory is stale. */
export const forgetStanding = (keyId: string): void => kept.delete(keyId)

export const forgetStandingsOf = (accountId: string): void => kept.deleteWhere(({ standing }) => standing?.accountId === accountId)

/** The same for a user who was changed: all keys that are bound to it. */
export const forgetUser = (userId: string): void => kept.deleteWhere(({ standing }) => standing?.userId === userId)

/** The minute up to which this isolate has told of each key's use. */
const told = new Recent<number>(10_000)

/** Moves `lastUsed` to this minute, at most once a minute and isolate; null when there is nothing to write. */
export const touchKey = (db: Database, keyId: string, standing: Standing, now: number): Promise<unknown> | null => {
  const minute = now - (now % MINUTE)
  if (Math.max(standing.lastUsed, told.get(keyId) ?? 0) >= minute) return null
  told.set(keyId, minute)
  return db
    .update(keys)
    .set({ lastUsed: minute })
    .where(and(eq(keys.id, keyId), or(isNull(keys.lastUsed), lt(keys.lastUsed, minute))))
}
