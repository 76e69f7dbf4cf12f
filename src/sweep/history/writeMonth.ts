import { and, eq, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Database } from '../../db/open.ts'
import { auditWrite } from '../../db/queries/audit.ts'
import { LOCATION_COLUMNS } from '../../db/queries/locations.ts'
import { insertSelect, select, selectIn } from '../../db/query.ts'
import { accounts, archivedMonths, devices, erasures, locations } from '../../db/schema.ts'
import { compile, literal, type Placeholders, readAll, runBatch } from '../../db/statement.ts'
import { DEVICES_PER_ACCOUNT } from '../../domain/account/device.ts'
import { base32 } from '../../domain/text/base32.ts'
import { type Month, monthEnd, monthStart } from '../../domain/time/month.ts'
import { openMonth } from '../../locations/history/monthFile.ts'
import {
  abortUpload,
  deleteOrphans,
  historyPrefix,
  PROGRESS,
  type Upload,
} from '../../locations/history/objects.ts'
import {
  beginPart,
  NOTHING_WRITTEN,
  type TrackRow,
  type Written,
} from '../../locations/history/parquet.ts'

/*
 * Writes a month of an account into one object of the bucket, part by part: an isolate has the memory
 * for one part, and a run the time for a few. How far it has come is in an object of its own.
 */

/** Also the size of a row group: what reading a device decodes at a time. */
const PAGE_ROWS = 10_000
/** Of texts in one page. */
const PAGE_BYTES = 1_500_000
/** All parts but the last are of one size, at least 5 MiB. Zeros fill what row groups leave. */
const PART_BYTES = 8 * 2 ** 20
/** A part has space for one more page. */
const FULL_PART_BYTES = 5 * 2 ** 20
export const PAGES_PER_PART = 20
/** The pages of a part, what was recorded before, and recording the month with its audit. */
export const PART_QUERIES = PAGES_PER_PART + 4

export interface MonthMove {
  bucket: R2Bucket
  db: Database
  accountId: string
  /** The account's number. */
  number: number
  month: Month
  now: number
  /** How many pages a part has at most. */
  pagesPerPart: number
}

interface Page {
  firstKey: number
  lastKey: number
  afterKey: number
  afterTime: number
  start: number
  end: number
}

const newest = alias(locations, 'newest')

/** The newest location of a device stays in the cell, which lists and rules read alone. */
const selectPage = compile((p: Placeholders<Page>) => {
  const columns = { deviceKey: locations.deviceKey, ...LOCATION_COLUMNS }
  const restBytes = sql`ifnull(octet_length(rest), 0)`
  const page = select(
    columns,
    sql`FROM ${devices} CROSS JOIN ${locations} ON ${locations.deviceKey} = ${devices.key}
        AND ${locations.time} > iif(${devices.key} = ${p.afterKey}, ${p.afterTime}, ${p.start} - 1)
        AND ${locations.time} < min(${p.end}, (SELECT max(${newest.time})
          FROM ${locations} ${newest} WHERE ${newest.deviceKey} = ${devices.key}))
      WHERE ${devices.key} BETWEEN max(${p.firstKey}, ${p.afterKey}) AND ${p.lastKey}
      ORDER BY ${devices.key}, ${locations.time} LIMIT ${literal(PAGE_ROWS)}`,
  )
  return selectIn(
    columns,
    () => sql`SELECT * FROM (SELECT *, sum(${restBytes})
        OVER (ORDER BY "deviceKey", time ROWS UNBOUNDED PRECEDING) - ${restBytes} AS before
      FROM (${page})) WHERE before < ${literal(PAGE_BYTES)} ORDER BY "deviceKey", time`,
  )
})

/** How far a month has been written. */
interface Progress extends Upload {
  parts: R2UploadedPart[]
  afterKey: number
  afterTime: number
  written: Written
}

const toJson = (progress: Progress): string =>
  JSON.stringify(progress, (_, value) => (typeof value === 'bigint' ? `${value}n` : value))

const fromJson = (text: string): Progress =>
  JSON.parse(text, (_, value) =>
    typeof value === 'string' && /^-?\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value,
  )

const progressName = ({ accountId, month }: MonthMove): string =>
  `${historyPrefix(accountId)}${month}${PROGRESS}`

/** The object that readers use; null while the month is not recorded. */
const findRecorded = async ({ db, accountId, month }: MonthMove): Promise<string | null> => {
  const found = await db
    .select({ object: archivedMonths.object })
    .from(archivedMonths)
    .where(and(eq(archivedMonths.accountId, accountId), eq(archivedMonths.month, month)))
    .get()
  return found?.object ?? null
}

const beginUpload = async (move: MonthMove): Promise<Progress> => {
  const { bucket, accountId, month } = move
  await deleteOrphans(bucket, move, await findRecorded(move))
  const random = base32(crypto.getRandomValues(new Uint8Array(8)), 12)
  const object = `${historyPrefix(accountId)}${month}-${random}.parquet`
  const { uploadId } = await bucket.createMultipartUpload(object, {
    httpMetadata: { contentType: 'application/vnd.apache.parquet' },
  })
  const nowhere = { afterKey: 0, afterTime: 0 }
  return { object, uploadId, parts: [], ...nowhere, written: NOTHING_WRITTEN }
}

/** Fills one part. `isLast` when no row is left. */
const fillPart = async (move: MonthMove, progress: Progress) => {
  const { db, number, month, pagesPerPart } = move
  const part = await beginPart(progress.written)
  const firstKey = number * DEVICES_PER_ACCOUNT
  const lastKey = firstKey + DEVICES_PER_ACCOUNT - 1
  const span = { firstKey, lastKey, start: monthStart(month), end: monthEnd(month) }
  let { afterKey, afterTime } = progress
  let isLast = false
  for (let pages = 0; pages < pagesPerPart && part.bytes() < FULL_PART_BYTES; pages++) {
    const rows: TrackRow[] = await readAll(selectPage(db, { ...span, afterKey, afterTime }))
    const last = rows.at(-1)
    isLast = last === undefined
    if (!last) break
    part.add(rows)
    afterKey = last.deviceKey
    afterTime = last.time
  }
  return { part, isLast, afterKey, afterTime }
}

/** Records the month for readers, unless another run did, or the account is no more. */
const recordMonth = async (
  { db, accountId, month, now }: MonthMove,
  { object, locations: count, bytes }: { object: string; locations: number; bytes: number },
): Promise<void> => {
  const isErased = sql`EXISTS (SELECT 1 FROM ${erasures}
    WHERE ${erasures.accountId} = ${accountId} AND ${erasures.id} = ${accountId})`
  const entry = { action: 'history.archived', resource: { type: 'month', id: month } }
  await runBatch(db, {
    recorded: insertSelect(
      archivedMonths,
      {
        accountId: accounts.id,
        month,
        object,
        locations: count,
        bytes,
        creation: now,
        nextGroup: sql`0`,
      },
      sql`FROM ${accounts} WHERE ${accounts.id} = ${accountId} AND ${accounts.deletedAt} IS NULL
        AND NOT ${isErased} ON CONFLICT DO NOTHING`,
    ),
    audit: auditWrite(db, { accountId, now, ...entry }),
  })
}

/** Ends the object, reads its end again and records the month. */
const completeMonth = async (
  move: MonthMove,
  { object, parts, written }: Progress,
  upload: R2MultipartUpload,
): Promise<void> => {
  const { size: bytes } = await upload.complete(parts)
  const { footer, groups } = await openMonth(move.bucket, { object, bytes })
  const isWhole = Number(footer.num_rows) === written.rows && groups.length > 0
  if (!isWhole) throw new Error('the object of a month is not as it was written')
  await recordMonth(move, { object, locations: written.rows, bytes })
  if ((await findRecorded(move)) !== object) await move.bucket.delete(object)
}

/** Writes the next part of a month. True once nothing of it is left to write. */
export const writeNextPart = async (move: MonthMove): Promise<boolean> => {
  const { bucket } = move
  const name = progressName(move)
  const stored = await bucket.get(name)
  const progress = stored ? fromJson(await stored.text()) : await beginUpload(move)
  const upload = bucket.resumeMultipartUpload(progress.object, progress.uploadId)
  try {
    const { part, isLast, afterKey, afterTime } = await fillPart(move, progress)
    if (isLast && part.rows() === 0) {
      await upload.abort()
      return true
    }
    const rows = part.rows()
    const { bytes, written } = isLast
      ? { bytes: part.finish(), written: { ...progress.written, rows } }
      : part.end(PART_BYTES)
    const parts = [...progress.parts, await upload.uploadPart(progress.parts.length + 1, bytes)]
    const next = { ...progress, parts, afterKey, afterTime, written }
    if (isLast) {
      await completeMonth(move, next, upload)
      await bucket.delete(name)
      return true
    }
    // Two runs at once: the second finds that the first has gone on.
    const onlyIf = stored ? { etagMatches: stored.etag } : new Headers({ 'If-None-Match': '*' })
    await bucket.put(name, toJson(next), { onlyIf })
    return false
  } catch (error) {
    // The month begins anew: an upload that is over cannot be continued.
    await abortUpload(bucket, progress)
    if (stored) await bucket.delete(name)
    throw error
  }
}
