import { type Placeholder, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { Database } from '../open.ts'
import { idempotency } from '../schema.ts'
import { compile, names, runBatch, valuesOf } from '../statement.ts'

/* The rows of Idempotency-Keys. Every POST with a key runs these statements: they are compiled. */

/** How long the first reply is replayed. */
const REPLAY_MS = 86_400_000
/** After this long without a reply, a retry takes the key over and goes on with the same ids. */
const LEASE_MS = 30_000

/** One attempt at a request with a key. Only the attempt that holds the key may save its reply. */
export type Attempt = {
  accountId: string
  /** The user that the caller's key is bound to, or empty. */
  principal: string
  key: string
  /** Names the attempt. The row holds it in `body` until there is a reply. */
  token: string
}

export interface ClaimedRow {
  /** A MAC of the request that the key was claimed with. */
  request: string
  claimed_at: number
  status: number | null
  headers: string | null
  body: string | null
  /** 1 when this attempt holds the key. */
  is_held: number
}

const placeholder = {
  accountId: sql.placeholder('accountId'),
  principal: sql.placeholder('principal'),
  key: sql.placeholder('key'),
  token: sql.placeholder('token'),
}

const ofKey = sql`${idempotency.accountId} = ${placeholder.accountId}
  AND ${idempotency.principal} = ${placeholder.principal}
  AND ${idempotency.key} = ${placeholder.key}`
const isHeld = sql`${idempotency.status} IS NULL AND ${idempotency.body} = ${placeholder.token}`

const COLUMNS = names(
  idempotency.accountId,
  idempotency.principal,
  idempotency.key,
  idempotency.request,
  idempotency.claimedAt,
  idempotency.leasedUntil,
  idempotency.body,
)

/** The value that the INSERT brought, in its ON CONFLICT clause. */
const excluded = (column: SQLiteColumn): SQL => sql`excluded.${sql.identifier(column.name)}`
const set = (column: SQLiteColumn, value: SQL | Placeholder): SQL =>
  sql`${names(column)} = ${value}`

const isSameRequest = sql`${idempotency.request} IN ${valuesOf(sql.placeholder('macs'))}`
const now = excluded(idempotency.claimedAt)
const isFresh = sql`${idempotency.claimedAt} >= ${now} - ${REPLAY_MS}`
/** No reply is stored and the lease has ended. After a release (0) any request may follow. */
const isAbandoned = sql`${idempotency.status} IS NULL AND ${idempotency.leasedUntil} <= ${now}
  AND (${isSameRequest} OR ${idempotency.leasedUntil} = 0)`
/** A retry of the same request keeps `claimed_at`, which its ids are derived from. */
const claimedAt = sql`CASE WHEN ${isSameRequest} AND ${isFresh}
  THEN ${idempotency.claimedAt} ELSE ${now} END`

type Claim = Attempt & {
  /** The newest of `macs`. */
  request: string
  /** The MACs of the request under all live secrets, as JSON. */
  macs: string
  now: number
  leasedUntil: number
}

const insertClaim = compile<Claim>(
  sql`INSERT INTO ${idempotency} (${COLUMNS})
    VALUES (${placeholder.accountId}, ${placeholder.principal}, ${placeholder.key},
      ${sql.placeholder('request')}, ${sql.placeholder('now')}, ${sql.placeholder('leasedUntil')},
      ${placeholder.token})
    ON CONFLICT DO UPDATE SET ${set(idempotency.request, excluded(idempotency.request))},
      ${set(idempotency.leasedUntil, excluded(idempotency.leasedUntil))},
      ${set(idempotency.body, excluded(idempotency.body))},
      ${set(idempotency.status, sql`NULL`)}, ${set(idempotency.headers, sql`NULL`)},
      ${set(idempotency.claimedAt, claimedAt)}
    WHERE NOT (${isFresh}) OR (${isAbandoned})`,
)

const selectClaim = compile<Attempt, ClaimedRow>(
  sql`SELECT ${idempotency.request}, ${idempotency.claimedAt}, ${idempotency.status},
      ${idempotency.headers}, ${idempotency.body}, ${isHeld} AS is_held
    FROM ${idempotency} WHERE ${ofKey}`,
)

/** Claims the key, or finds the attempt that has it. `macs` has the newest first. */
export const claimKey = async (
  db: Database,
  attempt: Attempt,
  macs: string[],
  at: number,
): Promise<ClaimedRow | null> => {
  const claim = {
    ...attempt,
    request: macs[0] ?? '',
    macs: JSON.stringify(macs),
    now: at,
    leasedUntil: at + LEASE_MS,
  }
  const [, { results }] = await runBatch(db, [insertClaim(db, claim), selectClaim(db, claim)])
  return results[0] ?? null
}

const endLease = compile<Attempt>(
  sql`UPDATE ${idempotency} SET ${set(idempotency.leasedUntil, sql`0`)}
    WHERE ${ofKey} AND ${isHeld}`,
)

/** Gives the key up without a reply, so that a retry need not wait for the lease. */
export const releaseKey = async (db: Database, attempt: Attempt): Promise<void> => {
  await endLease(db, attempt).run()
}

type StoredReply = {
  status: number
  /** JSON. */
  headers: string
  body: string
}

const updateReply = compile<Attempt & StoredReply>(
  sql`UPDATE ${idempotency} SET ${set(idempotency.status, sql.placeholder('status'))},
      ${set(idempotency.headers, sql.placeholder('headers'))},
      ${set(idempotency.body, sql.placeholder('body'))}
    WHERE ${ofKey} AND ${isHeld}`,
)

export const storeReply = async (
  db: Database,
  attempt: Attempt,
  reply: StoredReply,
): Promise<void> => {
  await updateReply(db, { ...attempt, ...reply }).run()
}
