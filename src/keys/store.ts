import { and, asc, eq, gt, isNull, or, sql } from 'drizzle-orm'
import { appendEvent } from '../db/events.ts'
import type { Database } from '../db/open.ts'
import { keys } from '../db/schema.ts'
import type { Scope } from '../domain/scope.ts'

export type KeyRow = typeof keys.$inferSelect

export interface NewKey {
  id: string
  name: string
  scopes: Scope[]
  hash: string
  userId: string | null
  expires: number | null
}

/** The end that its maker chose for a key, whatever an overlap has made of it since. */
export const chosenEnd = ({ expires, chosenEnd: chosen }: KeyRow): number | null =>
  chosen === null ? expires : chosen || null

const live = (now: number) => or(isNull(keys.expires), gt(keys.expires, now))

/** All keys of the account, or those that are bound to one user. */
export const listKeys = (
  db: Database,
  accountId: string,
  userId: string | null,
  after: string,
  limit: number,
  now: number,
): Promise<KeyRow[]> =>
  db
    .select()
    .from(keys)
    .where(
      and(
        eq(keys.accountId, accountId),
        userId === null ? undefined : eq(keys.userId, userId),
        gt(keys.id, after),
        live(now),
      ),
    )
    .orderBy(asc(keys.id))
    .limit(limit)

export const findKey = async (
  db: Database,
  accountId: string,
  id: string,
  now: number,
): Promise<KeyRow | undefined> => {
  const [row] = await db
    .select()
    .from(keys)
    .where(and(eq(keys.id, id), eq(keys.accountId, accountId), live(now)))
  return row
}

const statementsFor = (db: Database, accountId: string, key: NewKey, now: number) => {
  const client = db.$client
  return [
    // A retry after a crash has the same id and a new secret, since nobody has seen the first.
    client
      .prepare(
        `INSERT INTO keys (id, account_id, name, scopes, hash, user_id, creation, expires) SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8
         WHERE ?6 IS NULL OR EXISTS (SELECT 1 FROM users WHERE id = ?6 AND account_id = ?2)
         ON CONFLICT (id) DO UPDATE SET hash = ?5, creation = ?7 WHERE account_id = ?2 RETURNING id`,
      )
      .bind(
        key.id,
        accountId,
        key.name,
        JSON.stringify(key.scopes),
        key.hash,
        key.userId,
        now,
        key.expires,
      ),
    ...appendEvent(
      db,
      {
        accountId,
        id: `evt_${key.id}_created`,
        type: 'key.created',
        time: now,
        deviceId: null,
        data: { keyId: key.id, name: key.name },
      },
      sql`EXISTS (SELECT 1 FROM ${keys} WHERE ${eq(keys.id, key.id)})`,
    ),
  ]
}

/** Null where the user that the key is to be bound to is none of the account's. */
export const insertKey = async (
  db: Database,
  accountId: string,
  key: NewKey,
  now: number,
): Promise<KeyRow | null> => {
  const [inserted] = await db.$client.batch(statementsFor(db, accountId, key, now))
  return inserted?.results.length === 1
    ? { ...key, accountId, creation: now, chosenEnd: null, lastUsed: null }
    : null
}

const revoked = (db: Database, accountId: string, id: string, now: number) =>
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
    sql`EXISTS (SELECT 1 FROM ${keys}
      WHERE ${and(eq(keys.id, id), eq(keys.accountId, accountId), live(now))})`,
  )

/** Deletes at once, or lets the old key live until `until`; the new one stands in the same batch. */
export const regenerateKey = async (
  db: Database,
  accountId: string,
  old: KeyRow,
  fresh: NewKey,
  until: number,
  now: number,
): Promise<KeyRow | null> => {
  const end = Math.min(until, old.expires ?? until)
  const [inserted] = await db.$client.batch([
    ...statementsFor(db, accountId, fresh, now),
    ...revoked(db, accountId, old.id, now),
    db.$client
      .prepare(
        'UPDATE keys SET chosen_end = ifnull(chosen_end, ifnull(expires, 0)), expires = ? WHERE id = ? AND account_id = ?',
      )
      .bind(end, old.id, accountId),
  ])
  return inserted?.results.length === 1
    ? { ...fresh, accountId, creation: now, chosenEnd: null, lastUsed: null }
    : null
}

export const deleteKey = async (
  db: Database,
  accountId: string,
  id: string,
  now: number,
): Promise<boolean> => {
  const client = db.$client
  const results = await client.batch([
    ...revoked(db, accountId, id, now),
    client
      .prepare(
        'DELETE FROM keys WHERE id = ? AND account_id = ? AND (expires IS NULL OR expires > ?) RETURNING id',
      )
      .bind(id, accountId, now),
  ])
  return (results.at(-1)?.results.length ?? 0) > 0
}
