import { and, asc, eq, gt, isNull, or, type SQL, sql } from 'drizzle-orm'
import { growScan } from '../db/boundedScan.ts'
import type { Database } from '../db/open.ts'
import { byId, type Page, toPage } from '../db/page.ts'
import { auditWrite } from '../db/queries/audit.ts'
import { appendEvent } from '../db/queries/events.ts'
import { insertSelect } from '../db/query.ts'
import { keyNetworks, keys, users } from '../db/schema.ts'
import { type Runnable, runBatch } from '../db/statement.ts'
import { type Scope, toScopes } from '../domain/account/scope.ts'
import { changesBetween } from '../domain/admin/audit.ts'

type Row = typeof keys.$inferSelect
export type Key = Omit<Row, 'scopes'> & { scopes: Scope[] }

export interface NewKey {
  id: string
  name: string
  scopes: Scope[]
  hash: string
  userId: string | null
  expires: number | null
  /** The version of the API that it pins; null for the first. */
  apiVersion: string | null
  /** Of the operator's support: who has it, and why. */
  support?: { operatorId: string; supportReason: string }
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

/** Expired keys are kept for 30 days, so a page may have to scan many to find those that work. */
export const listKeys = async (
  db: Database,
  { accountId, userId, after, limit, now }: KeyListing,
): Promise<Page<Key>> => {
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
  return toPage(rows.map(toKey), limit, byId, end)
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

const appendKeyEvent = (
  db: Database,
  type: 'key.created' | 'key.revoked',
  { accountId, now, ...data }: { accountId: string; keyId: string; name?: string; now: number },
  guard: SQL,
) => {
  const id = `evt_${data.keyId}_${type.slice('key.'.length)}`
  return appendEvent(db, { accountId, id, type, time: now, deviceId: null, data }, guard)
}

const isStored = (id: string): SQL => sql`EXISTS (SELECT 1 FROM ${keys} WHERE ${keys.id} = ${id})`

interface Insertion {
  accountId: string
  key: NewKey
  now: number
  thereafter?: readonly Runnable[]
}

const runInsertion = async (
  db: Database,
  { accountId, key: { support, ...key }, now, thereafter }: Insertion,
): Promise<Key | null> => {
  const { id, name, userId, scopes, expires, apiVersion: version } = key
  const reason = support && { reason: support.supportReason }
  const hasUser =
    userId === null
      ? sql`true`
      : sql`EXISTS (SELECT 1 FROM ${users}
          WHERE ${users.id} = ${userId} AND ${users.accountId} = ${accountId})`
  const { inserted } = await runBatch(db, {
    // A retry after a crash has the same id but a new secret: nobody has seen the first one.
    inserted: insertSelect(
      keys,
      { ...key, ...support, accountId, creation: now },
      sql`WHERE ${hasUser} ON CONFLICT (id) DO UPDATE
          SET hash = excluded.hash, creation = excluded.creation
          WHERE ${keys.accountId} = ${accountId}`,
    ),
    audited: auditWrite(db, {
      accountId,
      now,
      action: support ? 'support.started' : 'key.created',
      resource: { type: 'key', id },
      changes: changesBetween(null, { name, scopes, userId, expires, version, ...reason }),
    }),
    created: appendKeyEvent(db, 'key.created', { accountId, keyId: id, name, now }, isStored(id)),
    thereafter,
  })
  if (inserted.meta.changes === 0) return null
  const unset = { chosenEnd: null, lastUsed: null, operatorId: null, supportReason: null }
  return { ...key, accountId, creation: now, ...unset, ...support }
}

/** Null when `userId` is not a user of the account. */
export const insertKey = (
  db: Database,
  accountId: string,
  key: NewKey,
  now: number,
): Promise<Key | null> => runInsertion(db, { accountId, key, now })

/** Appends the `key.revoked` event of a key that is still live. */
const appendRevoked = (db: Database, accountId: string, id: string, now: number) => {
  const isLive = sql`EXISTS (SELECT 1 FROM ${keys} WHERE ${isOwnLiveKey(accountId, id, now)})`
  return appendKeyEvent(db, 'key.revoked', { accountId, keyId: id, now }, isLive)
}

interface Regeneration {
  accountId: string
  old: Key
  fresh: NewKey
  /** When the old key stops working. */
  overlapEnd: number
  now: number
}

/** Inserts the new key and ends the old one in the same batch. */
export const regenerateKey = (
  db: Database,
  { accountId, old, fresh: key, overlapEnd, now }: Regeneration,
): Promise<Key | null> => {
  const ended = db
    .update(keys)
    .set({
      chosenEnd: sql`ifnull(${keys.chosenEnd}, ifnull(${keys.expires}, 0))`,
      expires: Math.min(overlapEnd, old.expires ?? overlapEnd),
    })
    .where(and(eq(keys.id, old.id), eq(keys.accountId, accountId)))
  const audited = auditWrite(db, {
    accountId,
    now,
    action: 'key.regenerated',
    resource: { type: 'key', id: old.id },
    changes: changesBetween({ expires: old.expires }, { key: key.id, expires: overlapEnd }),
  })
  const thereafter = [...appendRevoked(db, accountId, old.id, now), ended, ...audited]
  return runInsertion(db, { accountId, key, now, thereafter })
}

/** Deletes the networks that keys were used from, with the keys. */
export const deleteNetworks = (db: Database, keyIds: SQL): Runnable =>
  db.delete(keyNetworks).where(sql`${keyNetworks.keyId} IN (${keyIds})`)

/** False when there is no live key with this id. */
export const deleteKey = async (
  db: Database,
  accountId: string,
  id: string,
  now: number,
): Promise<boolean> => {
  const { deleted } = await runBatch(db, {
    revoked: appendRevoked(db, accountId, id, now),
    deleted: db.delete(keys).where(isOwnLiveKey(accountId, id, now)),
    audited: auditWrite(db, {
      accountId,
      now,
      action: 'key.revoked',
      resource: { type: 'key', id },
    }),
    networks: deleteNetworks(db, sql`SELECT ${id} WHERE NOT ${isStored(id)}`),
  })
  return deleted.meta.changes > 0
}
