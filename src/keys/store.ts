import { and, asc, eq, gt, isNull, or, sql } from 'drizzle-orm'
import { growScan } from '../db/boundedScan.ts'
import type { Database } from '../db/open.ts'
import { appendEvent } from '../db/queries/events.ts'
import { keys, users } from '../db/schema.ts'
import { names, runBatch, statement } from '../db/statement.ts'
import { type Scope, toScopes } from '../domain/account/scope.ts'

type Row = typeof keys.$inferSelect
export type Key = Omit<Row, 'scopes'> & { scopes: Scope[] }

export interface NewKey {
  id: string
  name: string
  scopes: Scope[]
  hash: string
  userId: string | null
  expires: number | null
}

const toKey = (row: Row): Key => ({ ...row, scopes: toScopes(row.scopes) })

/** The expiry chosen for a key when it was created, even if an overlap has shortened it since. */
export const chosenExpiry = ({ expires, chosenEnd }: Key): number | null =>
  chosenEnd === null ? expires : chosenEnd || null

const isLive = (now: number) => or(isNull(keys.expires), gt(keys.expires, now))

interface KeyListing {
  accountId: string
  /** Lists only the keys bound to this user; null for all keys of the account. */
  userId: string | null
  /** The id that the page before ended with. */
  after: string
  limit: number
  now: number
}

export interface KeyPage {
  keys: Key[]
  /** The id that the next page begins after, or null on the last. */
  next: string | null
}

/** Expired keys are kept for 30 days, so a page may have to scan many to find those that work. */
export const listKeys = async (
  db: Database,
  { accountId, userId, after, limit, now }: KeyListing,
): Promise<KeyPage> => {
  const isListed = and(
    eq(keys.accountId, accountId),
    userId === null ? undefined : eq(keys.userId, userId),
    gt(keys.id, after),
  )
  const { rows, end } = await growScan({ isFiltered: true, limit }, async (scanned) => {
    const found = await db.select().from(keys).where(isListed).orderBy(asc(keys.id)).limit(scanned)
    return {
      rows: found.filter(({ expires }) => expires === null || expires > now),
      end: found.length === scanned ? found.at(-1) : undefined,
    }
  })
  const page = rows.slice(0, limit)
  const last = rows.length > limit ? page.at(-1) : end
  return { keys: page.map(toKey), next: last?.id ?? null }
}

const isOwnLiveKey = (accountId: string, id: string, now: number) =>
  and(eq(keys.id, id), eq(keys.accountId, accountId), isLive(now))

export const findKey = async (
  db: Database,
  accountId: string,
  id: string,
  now: number,
): Promise<Key | null> => {
  const [row] = await db
    .select()
    .from(keys)
    .where(isOwnLiveKey(accountId, id, now))
  return row ? toKey(row) : null
}

const NEW_COLUMNS = names(
  keys.id,
  keys.accountId,
  keys.name,
  keys.scopes,
  keys.hash,
  keys.userId,
  keys.creation,
  keys.expires,
)

/** Inserts a key with its `key.created` event, unless the account does not have its user. */
const insertStatements = (db: Database, accountId: string, key: NewKey, now: number) => {
  const { id, name, hash, userId, expires } = key
  const hasUser =
    userId === null
      ? sql`true`
      : sql`EXISTS (SELECT 1 FROM ${users}
          WHERE ${users.id} = ${userId} AND ${users.accountId} = ${accountId})`
  return [
    // A retry after a crash has the same id but a new secret: nobody has seen the first one.
    statement<{ id: string }>(
      db,
      sql`INSERT INTO ${keys} (${NEW_COLUMNS})
        SELECT ${id}, ${accountId}, ${name}, ${JSON.stringify(key.scopes)}, ${hash}, ${userId},
          ${now}, ${expires} WHERE ${hasUser}
        ON CONFLICT (${names(keys.id)}) DO UPDATE
          SET ${names(keys.hash)} = excluded.hash, ${names(keys.creation)} = excluded.creation
          WHERE ${keys.accountId} = ${accountId}
        RETURNING ${names(keys.id)}`,
    ),
    ...appendEvent(
      db,
      {
        accountId,
        id: `evt_${id}_created`,
        type: 'key.created',
        time: now,
        deviceId: null,
        data: { keyId: id, name },
      },
      sql`EXISTS (SELECT 1 FROM ${keys} WHERE ${keys.id} = ${id})`,
    ),
  ] as const
}

const toInserted = (
  inserted: D1Result<{ id: string }>,
  accountId: string,
  key: NewKey,
  now: number,
): Key | null =>
  inserted.results.length === 1
    ? { ...key, accountId, creation: now, chosenEnd: null, lastUsed: null }
    : null

/** Null when `userId` is not a user of the account. */
export const insertKey = async (
  db: Database,
  accountId: string,
  key: NewKey,
  now: number,
): Promise<Key | null> => {
  const [inserted] = await runBatch(db, insertStatements(db, accountId, key, now))
  return toInserted(inserted, accountId, key, now)
}

/** Appends the `key.revoked` event of a key that is still live. */
const appendRevoked = (db: Database, accountId: string, id: string, now: number) =>
  appendEvent(
    db,
    {
      accountId,
      id: `evt_${id}_revoked`,
      type: 'key.revoked',
      time: now,
      deviceId: null,
      data: { keyId: id },
    },
    sql`EXISTS (SELECT 1 FROM ${keys} WHERE ${isOwnLiveKey(accountId, id, now)})`,
  )

interface Regeneration {
  accountId: string
  old: Key
  fresh: NewKey
  /** When the old key stops working. */
  overlapEnd: number
  now: number
}

/** Inserts the new key and ends the old one in the same batch. */
export const regenerateKey = async (
  db: Database,
  { accountId, old, fresh, overlapEnd, now }: Regeneration,
): Promise<Key | null> => {
  const [inserted] = await runBatch(db, [
    ...insertStatements(db, accountId, fresh, now),
    ...appendRevoked(db, accountId, old.id, now),
    statement(
      db,
      db
        .update(keys)
        .set({
          chosenEnd: sql`ifnull(${keys.chosenEnd}, ifnull(${keys.expires}, 0))`,
          expires: Math.min(overlapEnd, old.expires ?? overlapEnd),
        })
        .where(and(eq(keys.id, old.id), eq(keys.accountId, accountId))),
    ),
  ])
  return toInserted(inserted, accountId, fresh, now)
}

/** False when there is no live key with this id. */
export const deleteKey = async (
  db: Database,
  accountId: string,
  id: string,
  now: number,
): Promise<boolean> => {
  const [, , deleted] = await runBatch(db, [
    ...appendRevoked(db, accountId, id, now),
    statement(
      db,
      db
        .delete(keys)
        .where(isOwnLiveKey(accountId, id, now))
        .returning({ id: keys.id }),
    ),
  ])
  return deleted.results.length > 0
}
