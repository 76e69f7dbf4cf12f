import { sql } from 'drizzle-orm'
import type { Database } from '../../db/open.ts'
import { sourcePayloads } from '../../db/schema.ts'
import {
  literal,
  readAll,
  readFirst,
  runBatch,
  type Statement,
  statement,
} from '../../db/statement.ts'
import { MAX_RAW_BYTES, MAX_SOURCE_RAW_BYTES } from '../../domain/account/source.ts'
import { BoundedCache } from '../../domain/cache/boundedCache.ts'
import { bytesOfBase64 } from '../decoding/bytes.ts'
import type { Push } from '../decoding/push.ts'
import type { Holder } from '../unclaimed/unclaimed.ts'

/* Payloads that failed to decode and, where the source says so, all of them. */

/** Headers that a decoder reads. Others may hold credentials and are not kept. */
const KEPT_HEADERS = ['X-Limit-U', 'X-Limit-D']

interface PackedPush {
  contentType: string
  query: string
  headers: Record<string, string>
  body: string
}

const toBase64 = (bytes: Uint8Array): string => {
  let text = ''
  for (let at = 0; at < bytes.length; at += 8192)
    text += String.fromCharCode(...bytes.subarray(at, at + 8192))
  return btoa(text)
}

const packPush = ({ contentType, query, headers, body }: Push): string =>
  JSON.stringify({
    contentType,
    query: query.toString(),
    headers: Object.fromEntries(
      KEPT_HEADERS.flatMap((name) => {
        const value = headers.get(name)
        return value === null ? [] : [[name, value]]
      }),
    ),
    body: toBase64(body),
  } satisfies PackedPush)

export const unpackPush = (packed: string, now: number, requireJwt: boolean): Push => {
  const { contentType, query, headers, body } = JSON.parse(packed) as PackedPush
  return {
    contentType,
    query: new URLSearchParams(query),
    headers: new Headers(headers),
    body: bytesOfBase64(body) ?? new Uint8Array(),
    now,
    requireJwt,
  }
}

/** How much this isolate has stored for a source since it last deleted what is too much. */
const storedBytes = new BoundedCache<number>(1000)
const TRIM_AFTER_BYTES = 1_000_000
/** What a row takes beside its payload: without it, empty payloads would be kept without end. */
const ROW_BYTES = 500

/** Deletes the oldest beyond 20 MB. Looks only now and then: it reads every row of the source. */
const trimPayloads = (db: Database, sourceId: string, size: number): Statement[] => {
  const stored = storedBytes.get(sourceId)
  const isDue = stored === undefined || stored + size > TRIM_AFTER_BYTES
  storedBytes.set(sourceId, isDue ? 0 : stored + size)
  if (!isDue) return []
  const bytes = sql`iif(${sourcePayloads.push} IS NULL, 0, ${sourcePayloads.size})
    + ${literal(ROW_BYTES)}`
  const totals = sql`SELECT ${sourcePayloads.id} AS id,
      sum(${bytes}) OVER (ORDER BY ${sourcePayloads.id} DESC) AS total
    FROM ${sourcePayloads} WHERE ${sourcePayloads.sourceId} = ${sourceId}`
  return [
    statement(
      db,
      sql`DELETE FROM ${sourcePayloads} WHERE ${sourcePayloads.id} IN
        (SELECT id FROM (${totals}) WHERE total > ${literal(MAX_SOURCE_RAW_BYTES)})`,
    ),
  ]
}

export const keepPayload = async (
  db: Database,
  { accountId, sourceId }: Holder,
  push: Push,
  { id, reason }: { id: string; reason: string | null },
): Promise<void> => {
  const size = push.body.byteLength + push.query.toString().length
  const isKept = size <= MAX_RAW_BYTES
  const values = {
    id,
    accountId,
    sourceId,
    receivedAt: push.now,
    reason,
    size,
    push: isKept ? packPush(push) : null,
  }
  await runBatch(db, [
    statement(db, db.insert(sourcePayloads).values(values).onConflictDoNothing()),
    ...trimPayloads(db, sourceId, ROW_BYTES + (isKept ? size : 0)),
  ])
}

export interface PayloadRow {
  id: string
  received_at: number
  reason: string | null
  size: number
  push: string | null
}

/** Failed payloads, the newest first. Ids sort by the time of arrival. */
export const listFailures = (
  db: Database,
  { accountId, sourceId }: Holder,
  before: string,
  limit: number,
): Promise<Omit<PayloadRow, 'push'>[]> =>
  readAll(
    statement(
      db,
      sql`SELECT ${sourcePayloads.id}, ${sourcePayloads.receivedAt}, ${sourcePayloads.reason},
          ${sourcePayloads.size}
        FROM ${sourcePayloads} WHERE ${sourcePayloads.sourceId} = ${sourceId}
          AND ${sourcePayloads.accountId} = ${accountId} AND ${sourcePayloads.reason} IS NOT NULL
          AND ${sourcePayloads.id} < ${before}
        ORDER BY ${sourcePayloads.id} DESC LIMIT ${limit}`,
    ),
  )

export const findPayload = (
  db: Database,
  { accountId, sourceId }: Holder,
  id: string,
): Promise<PayloadRow | null> =>
  readFirst(
    statement(
      db,
      sql`SELECT * FROM ${sourcePayloads} WHERE ${sourcePayloads.id} = ${id}
        AND ${sourcePayloads.sourceId} = ${sourceId} AND ${sourcePayloads.accountId} = ${accountId}`,
    ),
  )

/** Payloads that arrived in a span, in order, those after `after`. */
export const readPayloads = (
  db: Database,
  { accountId, sourceId }: Holder,
  { from, to, after }: { from: number; to: number; after: string },
  limit: number,
): Promise<PayloadRow[]> =>
  readAll(
    statement(
      db,
      sql`SELECT * FROM ${sourcePayloads} WHERE ${sourcePayloads.sourceId} = ${sourceId}
        AND ${sourcePayloads.accountId} = ${accountId} AND ${sourcePayloads.id} > ${after}
        AND ${sourcePayloads.receivedAt} BETWEEN ${from} AND ${to}
        ORDER BY ${sourcePayloads.id} LIMIT ${limit}`,
    ),
  )

/** How many there are in a span. */
export const countPayloads = async (
  db: Database,
  { accountId, sourceId }: Holder,
  { from, to }: { from: number; to: number },
): Promise<number> => {
  const row = await readFirst(
    statement<{ count: number }>(
      db,
      sql`SELECT count(*) AS count FROM ${sourcePayloads}
        WHERE ${sourcePayloads.sourceId} = ${sourceId}
          AND ${sourcePayloads.accountId} = ${accountId}
          AND ${sourcePayloads.receivedAt} BETWEEN ${from} AND ${to}`,
    ),
  )
  return row?.count ?? 0
}

/** Notes what of some payloads is still not understood. */
export const setReasons = async (
  db: Database,
  { accountId }: Holder,
  changed: { id: string; reason: string | null }[],
): Promise<void> => {
  if (changed.length === 0) return
  const rows = JSON.stringify(changed.map(({ id, reason }) => [id, reason]))
  await statement(
    db,
    sql`UPDATE ${sourcePayloads} SET reason = sent.value ->> 1 FROM json_each(${rows}) sent
      WHERE ${sourcePayloads.id} = sent.value ->> 0 AND ${sourcePayloads.accountId} = ${accountId}`,
  ).run()
}
