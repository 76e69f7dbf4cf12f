import { type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { Database } from '../open.ts'
import { insertSelect, select, updateSet } from '../query.ts'
import { idempotency } from '../schema.ts'
import {
  compile,
  names,
  type Placeholders,
  placeholders,
  type RowOf,
  runBatch,
  valuesOf,
} from '../statement.ts'

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

type Claim = Attempt & {
  /** A MAC of the request that the key is claimed with: the newest of `macs`. */
  request: string
  /** The MACs of the request under all live secrets, as JSON. */
  macs: string
  now: number
  leasedUntil: number
}

const p = placeholders<keyof Claim>()
const ofKey = sql`${idempotency.accountId} = ${p.accountId}
  AND ${idempotency.principal} = ${p.principal} AND ${idempotency.key} = ${p.key}`
const isHeld = sql`${idempotency.status} IS NULL AND ${idempotency.body} = ${p.token}`

/** The value that the INSERT brought, in its ON CONFLICT clause. */
const excluded = (column: SQLiteColumn): SQL => sql`excluded.${sql.identifier(column.name)}`
const replace = (column: SQLiteColumn): SQL => sql`${names(column)} = ${excluded(column)}`

const isSameRequest = sql`${idempotency.request} IN ${valuesOf(p.macs)}`
const now = excluded(idempotency.claimedAt)
const isFresh = sql`${idempotency.claimedAt} >= ${now} - ${REPLAY_MS}`
/** No reply is stored and the lease has ended. After a release (0) any request may follow. */
const isAbandoned = sql`${idempotency.status} IS NULL AND ${idempotency.leasedUntil} <= ${now}
  AND (${isSameRequest} OR ${idempotency.leasedUntil} = 0)`
/** A retry of the same request keeps `claimed_at`, which its ids are derived from. */
const claimedAt = sql`CASE WHEN ${isSameRequest} AND ${isFresh}
  THEN ${idempotency.claimedAt} ELSE ${now} END`

const insertClaim = compile((_: Placeholders<Claim>) =>
  insertSelect(
    idempotency,
    {
      accountId: p.accountId,
      principal: p.principal,
      key: p.key,
      request: p.request,
      claimedAt: p.now,
      leasedUntil: p.leasedUntil,
      body: p.token,
    },
    sql`WHERE true ON CONFLICT DO UPDATE SET ${replace(idempotency.request)},
        ${replace(idempotency.leasedUntil)}, ${replace(idempotency.body)},
        status = NULL, headers = NULL, claimed_at = ${claimedAt}
      WHERE NOT (${isFresh}) OR (${isAbandoned})`,
  ),
)

const selectClaim = compile((_: Placeholders<Attempt>) =>
  select(
    {
      request: idempotency.request,
      claimedAt: idempotency.claimedAt,
      status: idempotency.status,
      headers: idempotency.headers,
      body: idempotency.body,
      /** 1 when this attempt holds the key. */
      isHeld: sql<number>`${isHeld}`,
    },
    sql`FROM ${idempotency} WHERE ${ofKey}`,
  ),
)
export type ClaimedRow = RowOf<typeof selectClaim>

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
  const { found } = await runBatch(db, {
    claimed: insertClaim(db, claim),
    found: selectClaim(db, claim),
  })
  return found.results[0] ?? null
}

const endLease = compile((_: Placeholders<Attempt>) =>
  updateSet(idempotency, { leasedUntil: sql`0` }, sql`${ofKey} AND ${isHeld}`),
)

/** Gives the key up without a reply, so that a retry need not wait for the lease. */
export const releaseKey = async (db: Database, attempt: Attempt): Promise<void> => {
  await endLease(db, attempt).run()
}

type StoredReply = {
  status: number
  headers: Record<string, string>
  body: string
}

const updateReply = compile(({ status, headers, body }: Placeholders<Attempt & StoredReply>) =>
  updateSet(idempotency, { status, headers, body }, sql`${ofKey} AND ${isHeld}`),
)

export const storeReply = async (
  db: Database,
  attempt: Attempt,
  reply: StoredReply,
): Promise<void> => {
  await updateReply(db, { ...attempt, ...reply }).run()
}
