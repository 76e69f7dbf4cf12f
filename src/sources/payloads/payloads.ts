import { and, between, desc, eq, gt, isNotNull, lt, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../db/open.ts'
import { sourcePayloads } from '../../db/schema.ts'
import { literal, runBatch } from '../../db/statement.ts'
import { MAX_RAW_BYTES, MAX_SOURCE_RAW_BYTES } from '../../domain/account/source.ts'
import { BoundedCache } from '../../domain/cache/boundedCache.ts'
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
    body: body.toBase64(),
  } satisfies PackedPush)

export const unpackPush = (
  packed: string,
  rest: Pick<Push, 'now' | 'settings' | 'slices'>,
): Push => {
  const { contentType, query, headers, body } = JSON.parse(packed) as PackedPush
  return {
    contentType,
    query: new URLSearchParams(query),
    headers: new Headers(headers),
    body: Uint8Array.fromBase64(body),
    ...rest,
  }
}

/** How much this isolate has stored for a source since it last deleted what is too much. */
const storedBytes = new BoundedCache<number>(1000)
const TRIM_AFTER_BYTES = 1_000_000
/** What a row takes beside its payload: without it, empty payloads would be kept without end. */
const ROW_BYTES = 500

/** Deletes the oldest beyond 20 MB. Looks only now and then: it reads every row of the source. */
const trimPayloads = (sourceId: string, size: number): SQL | undefined => {
  const stored = storedBytes.get(sourceId)
  const isDue = stored === undefined || stored + size > TRIM_AFTER_BYTES
  storedBytes.set(sourceId, isDue ? 0 : stored + size)
  if (!isDue) return undefined
  const bytes = sql`iif(${sourcePayloads.push} IS NULL, 0, ${sourcePayloads.size})
    + ${literal(ROW_BYTES)}`
  const totals = sql`SELECT ${sourcePayloads.id} AS id,
      sum(${bytes}) OVER (ORDER BY ${sourcePayloads.id} DESC) AS total
    FROM ${sourcePayloads} WHERE ${sourcePayloads.sourceId} = ${sourceId}`
  return sql`DELETE FROM ${sourcePayloads} WHERE ${sourcePayloads.id} IN
    (SELECT id FROM (${totals}) WHERE total > ${literal(MAX_SOURCE_RAW_BYTES)})`
}

export type Payload = typeof sourcePayloads.$inferSelect

const insertPayload = async (db: Database, row: Payload): Promise<void> => {
  await runBatch(db, {
    insert: db.insert(sourcePayloads).values(row).onConflictDoNothing(),
    trim: trimPayloads(row.sourceId, ROW_BYTES + (row.push === null ? 0 : row.size)),
  })
}

export const keepPayload = (
  db: Database,
  holder: Holder,
  push: Push,
  { id, reason }: { id: string; reason: string | null },
): Promise<void> => {
  const size = push.body.byteLength + push.query.toString().length
  const packed = size <= MAX_RAW_BYTES ? packPush(push) : null
  return insertPayload(db, { id, ...holder, receivedAt: push.now, reason, size, push: packed })
}

const NOT_GZIP = 'The body has not arrived completely, or is not well-formed gzip.'

/** Lists a push that could not be unpacked, without its bytes: a replay could not read them. */
export const noteNotGzip = (
  db: Database,
  holder: Holder,
  { id, receivedAt, size }: Pick<Payload, 'id' | 'receivedAt' | 'size'>,
): Promise<void> =>
  insertPayload(db, { id, ...holder, receivedAt, reason: NOT_GZIP, size, push: null })

/** The plus keeps SQLite from reading all payloads of the account by its index. */
const isOf = ({ accountId, sourceId }: Holder) =>
  and(eq(sourcePayloads.sourceId, sourceId), sql`+${sourcePayloads.accountId} = ${accountId}`)

/** Failed payloads, the newest first. Ids sort by the time of arrival. */
export const listFailures = (db: Database, holder: Holder, before: string, limit: number) => {
  const { id, receivedAt, reason, size } = sourcePayloads
  return db
    .select({ id, receivedAt, reason, size })
    .from(sourcePayloads)
    .where(and(isOf(holder), isNotNull(reason), lt(id, before)))
    .orderBy(desc(id))
    .limit(limit)
}

export const findPayload = (db: Database, holder: Holder, id: string) =>
  db
    .select()
    .from(sourcePayloads)
    .where(and(isOf(holder), eq(sourcePayloads.id, id)))
    .get()

interface Span {
  from: number
  to: number
}

const isIn = ({ from, to }: Span) => between(sourcePayloads.receivedAt, from, to)

/** Payloads that arrived in a span, in order, those after `after`. */
export const readPayloads = (
  db: Database,
  holder: Holder,
  { after, ...span }: Span & { after: string },
  limit: number,
): Promise<Payload[]> =>
  db
    .select()
    .from(sourcePayloads)
    .where(and(isOf(holder), gt(sourcePayloads.id, after), isIn(span)))
    .orderBy(sourcePayloads.id)
    .limit(limit)

/** How many there are in a span. */
export const countPayloads = (db: Database, holder: Holder, span: Span): Promise<number> =>
  db.$count(sourcePayloads, and(isOf(holder), isIn(span)))

/** Notes what of some payloads is still not understood. */
export const setReasons = async (
  db: Database,
  { accountId }: Holder,
  changed: { id: string; reason: string | null }[],
): Promise<void> => {
  if (changed.length === 0) return
  const rows = JSON.stringify(changed.map(({ id, reason }) => [id, reason]))
  await db.run(sql`UPDATE ${sourcePayloads} SET reason = sent.value ->> 1 FROM json_each(${rows}) sent
    WHERE ${sourcePayloads.id} = sent.value ->> 0 AND ${sourcePayloads.accountId} = ${accountId}`)
}
