import { and, eq, isNull, lt, or, sql } from 'drizzle-orm'
import { otherCellOf } from '../db/movedCell.ts'
import type { Database } from '../db/open.ts'
import { nullable, select } from '../db/query.ts'
import { accounts, keys, sessions, users } from '../db/schema.ts'
import { compile, type Placeholders, type RowOf, readAll, valuesOf } from '../db/statement.ts'
import { isSessionId, type SessionAgent } from '../domain/account/session.ts'
import { BoundedCache } from '../domain/cache/boundedCache.ts'

/** The audit shows which program has acted for the user. */
const NAME_OF_SESSION = sql<string>`${users.name}
  || ifnull(' (' || (${sessions.agent} ->> '$.name') || ')', '')`

const NO_AGENT = sql<SessionAgent | null>`NULL`
const AGENT = sql<SessionAgent | null>`${sessions.agent}`.mapWith(sessions.agent)

const selectStatusesOf = (table: typeof keys | typeof sessions) =>
  compile((p: Placeholders<{ ids: string }>) =>
    select(
      {
        keyId: sql<string>`${table.id}`,
        accountId: accounts.id,
        accountStatus: accounts.status,
        supportMayWrite: accounts.supportMayWrite,
        requestsPerMinute: accounts.requestsPerMinute,
        name: table === keys ? sql<string>`${keys.name}` : NAME_OF_SESSION,
        agent: table === keys ? NO_AGENT : AGENT,
        operatorId: table === keys ? sql<string | null>`${keys.operatorId}` : sql<null>`NULL`,
        apiVersion: table === keys ? sql<string | null>`${keys.apiVersion}` : sql<null>`NULL`,
        userId: sql<string | null>`${table.userId}`,
        expires: sql<number | null>`${table.expires}`,
        lastUsed: sql<number>`ifnull(${table.lastUsed}, 0)`,
        isUserDisabled: nullable(users.disabled),
        from: users.fromTime,
        userExpires: users.expires,
        privileges: users.privileges,
        groupId: users.groupId,
        adminDevices: users.adminDevices,
        otherCell: otherCellOf(accounts.id),
      },
      sql`FROM ${table} JOIN ${accounts} ON ${accounts.id} = ${table.accountId}
        LEFT JOIN ${users}
          ON ${users.id} = ${table.userId} AND ${users.accountId} = ${table.accountId}
        WHERE ${table.id} IN ${valuesOf(p.ids)} AND ${accounts.deletedAt} IS NULL`,
    ),
  )
const selectKeys = selectStatusesOf(keys)
const selectSessions = selectStatusesOf(sessions)

const toStatus = (row: RowOf<typeof selectKeys>) => {
  const { accountId, accountStatus, supportMayWrite, requestsPerMinute } = row
  const account = { accountId, accountStatus, supportMayWrite, requestsPerMinute }
  const { userId, name, agent, operatorId, apiVersion, expires, lastUsed } = row
  const { isUserDisabled, otherCell } = row
  const { from, userExpires, privileges, groupId, adminDevices } = row
  const access = { from, expires: userExpires, privileges, groupId, adminDevices }
  /** The user that the key is bound to, whose privileges limit the key. */
  const user = isUserDisabled === null ? null : { disabled: isUserDisabled, ...access }
  const key = { userId, name, agent, operatorId, apiVersion, expires, lastUsed }
  return { ...account, ...key, user, otherCell }
}

/**
 * The state of an API key or a session, its account and its user, which every request is checked
 * against. A session is like a key that is bound to its user.
 */
export type KeyStatus = ReturnType<typeof toStatus>

/**
 * Reads the status of these keys and sessions. Those that are deleted, or whose user is deleted, are
 * left out.
 */
export const readKeyStatuses = async (
  db: Database,
  keyIds: string[],
): Promise<Map<string, KeyStatus>> => {
  const sessionIds = keyIds.filter(isSessionId)
  const others = keyIds.filter((id) => !isSessionId(id))
  const reads = [
    ...(others.length > 0 ? [selectKeys(db, { ids: JSON.stringify(others) })] : []),
    ...(sessionIds.length > 0 ? [selectSessions(db, { ids: JSON.stringify(sessionIds) })] : []),
  ]
  const rows = (await Promise.all(reads.map((read) => readAll(read)))).flat()
  const existing = rows.filter((row) => row.userId === null || row.isUserDisabled !== null)
  return new Map(existing.map((row) => [row.keyId, toStatus(row)]))
}

/** Half of the 30 s after which a revoked key must be refused: leaves time for a slow read. */
const KEY_CACHE_MS = 15_000
const MAX_CACHED_KEYS = 10_000

const cache = new BoundedCache<{ status: KeyStatus | null; readAt: number }>(MAX_CACHED_KEYS)

export const findKeyStatus = async (
  db: Database,
  keyId: string,
  now: number,
): Promise<KeyStatus | null> => {
  const known = cache.get(keyId)
  if (known && now - known.readAt < KEY_CACHE_MS && now >= known.readAt) return known.status
  const status = (await readKeyStatuses(db, [keyId])).get(keyId) ?? null
  cache.set(keyId, { status, readAt: now })
  return status
}

/* The isolate that makes a change drops its cached statuses; in others they expire. */

export const evictKey = (keyId: string): void => cache.delete(keyId)

/** Also drops unknown keys: those of a deleted account are among them. */
export const evictKeysOfAccount = (accountId: string): void =>
  cache.deleteWhere(({ status }) => !status || status.accountId === accountId)

export const evictKeysOfUser = (userId: string): void =>
  cache.deleteWhere(({ status }) => status?.userId === userId)

/** The precision of `lastUsed`. A finer one would write a row per key and active minute. */
const USE_PERIOD_MS = 600_000
/** The start of the period that this isolate last recorded for each key. */
const recordedUses = new BoundedCache<number>(MAX_CACHED_KEYS)

/**
 * Sets `lastUsed` to the start of these ten minutes, once. Null: nothing to write. A session's is the
 * time of its last refresh.
 */
export const recordKeyUse = (
  db: Database,
  keyId: string,
  status: KeyStatus,
  now: number,
): Promise<unknown> | null => {
  if (isSessionId(keyId)) return null
  const period = now - (now % USE_PERIOD_MS)
  if (Math.max(status.lastUsed, recordedUses.get(keyId) ?? 0) >= period) return null
  recordedUses.set(keyId, period)
  return db
    .update(keys)
    .set({ lastUsed: period })
    .where(and(eq(keys.id, keyId), or(isNull(keys.lastUsed), lt(keys.lastUsed, period))))
}
