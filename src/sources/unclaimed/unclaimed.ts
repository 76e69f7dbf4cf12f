import { sql } from 'drizzle-orm'
import type { Database } from '../../db/open.ts'
import { devices, sources, unclaimed, unclaimedReports } from '../../db/schema.ts'
import { literal, names, readAll, runBatch, statement, valuesOf } from '../../db/statement.ts'
import {
  MAX_UNCLAIMED_IDENTIFIERS,
  MAX_UNCLAIMED_REPORTS,
  type SourceItem,
} from '../../domain/account/source.ts'
import { fold } from '../../domain/text/fold.ts'

/* What a source reports of identifiers that no device has, within bounds. */

export interface Holder {
  accountId: string
  sourceId: string
}

const IDENTIFIER_COLUMNS = names(
  unclaimed.sourceId,
  unclaimed.identifierKey,
  unclaimed.accountId,
  unclaimed.identifier,
  unclaimed.firstReceived,
  unclaimed.lastReceived,
  unclaimed.claimedAt,
)
const REPORT_COLUMNS = names(
  unclaimedReports.sourceId,
  unclaimedReports.identifierKey,
  unclaimedReports.accountId,
  unclaimedReports.key,
  unclaimedReports.kind,
  unclaimedReports.receivedAt,
  unclaimedReports.item,
)

/**
 * Keeps items until their identifier is claimed, in one atomic batch: at most 1,000 identifiers a
 * source and the newest 100 reports of each. What does not fit is counted in `dropped`.
 */
export const keepUnclaimed = async (
  db: Database,
  { accountId, sourceId }: Holder,
  items: SourceItem[],
  now: number,
): Promise<void> => {
  if (items.length === 0) return
  const byKey = new Map(items.map(({ identifier }) => [fold(identifier), identifier]))
  const identifiers = JSON.stringify([...byKey])
  const reports = JSON.stringify(
    items.map((item) => [fold(item.identifier), item.key, item.kind, JSON.stringify(item)]),
  )
  const isKept = sql`EXISTS (SELECT 1 FROM ${unclaimed} WHERE ${unclaimed.sourceId} = ${sourceId}
    AND ${unclaimed.identifierKey} = sent.value ->> 0)`
  const fresh = sql`SELECT sent.value, row_number() OVER (ORDER BY sent.key) AS place
    FROM json_each(${identifiers}) sent WHERE NOT ${isKept}`
  // A device may have got the identifier since the push was looked up.
  const isTaken = sql`EXISTS (SELECT 1 FROM ${devices} WHERE ${devices.accountId} = ${accountId}
    AND ${devices.identifierKey} = value ->> 0)`
  const kept = sql`(SELECT count(*) FROM ${unclaimed} WHERE ${unclaimed.sourceId} = ${sourceId})`
  const ranked = sql`SELECT ${unclaimedReports.number} AS number, row_number() OVER (
      PARTITION BY ${unclaimedReports.identifierKey} ORDER BY ${unclaimedReports.number} DESC) AS place
    FROM ${unclaimedReports} WHERE ${unclaimedReports.sourceId} = ${sourceId}
      AND ${unclaimedReports.identifierKey} IN ${valuesOf([...byKey.keys()])}`
  await runBatch(db, [
    statement(
      db,
      sql`INSERT INTO ${unclaimed} (${IDENTIFIER_COLUMNS})
        SELECT ${sourceId}, value ->> 0, ${accountId}, value ->> 1, ${now}, ${now},
          CASE WHEN ${isTaken} THEN ${now} END
        FROM (${fresh}) WHERE place + ${kept} <= ${literal(MAX_UNCLAIMED_IDENTIFIERS)}`,
    ),
    statement(
      db,
      sql`UPDATE ${unclaimed} SET ${names(unclaimed.lastReceived)} = ${now}
        WHERE ${unclaimed.sourceId} = ${sourceId}
          AND ${unclaimed.identifierKey} IN ${valuesOf([...byKey.keys()])}`,
    ),
    statement(
      db,
      sql`UPDATE ${sources} SET ${names(sources.dropped)} = ${sources.dropped}
          + (SELECT count(*) FROM json_each(${reports}) sent WHERE NOT ${isKept})
        WHERE ${sources.id} = ${sourceId}
          AND EXISTS (SELECT 1 FROM json_each(${reports}) sent WHERE NOT ${isKept})`,
    ),
    statement(
      db,
      sql`INSERT INTO ${unclaimedReports} (${REPORT_COLUMNS})
        SELECT ${sourceId}, sent.value ->> 0, ${accountId}, sent.value ->> 1, sent.value ->> 2,
          ${now}, sent.value ->> 3
        FROM json_each(${reports}) sent WHERE ${isKept} ON CONFLICT DO NOTHING`,
    ),
    statement(
      db,
      sql`DELETE FROM ${unclaimedReports} WHERE ${unclaimedReports.number} IN
        (SELECT number FROM (${ranked}) WHERE place > ${literal(MAX_UNCLAIMED_REPORTS)})`,
    ),
    // Counts what the statement before it has deleted.
    statement(
      db,
      sql`UPDATE ${sources} SET ${names(sources.dropped)} = ${sources.dropped} + changes()
        WHERE ${sources.id} = ${sourceId} AND changes() > 0`,
    ),
  ])
}

export interface UnclaimedIdentifier {
  identifier: string
  identifierKey: string
  count: number
  firstReceived: number
  lastReceived: number
  /** The newest location item, if there is one. */
  lastItem: SourceItem | null
}

/** In the order of the folded identifiers, those after `after`. */
export const listUnclaimed = async (
  db: Database,
  { accountId, sourceId }: Holder,
  after: string,
  limit: number,
): Promise<UnclaimedIdentifier[]> => {
  const ofIdentifier = sql`${unclaimedReports.sourceId} = ${unclaimed.sourceId}
    AND ${unclaimedReports.identifierKey} = ${unclaimed.identifierKey}`
  const rows = await readAll(
    statement<{
      identifier: string
      identifier_key: string
      first_received: number
      last_received: number
      count: number
      item: string | null
    }>(
      db,
      sql`SELECT ${unclaimed.identifier}, ${unclaimed.identifierKey}, ${unclaimed.firstReceived},
          ${unclaimed.lastReceived},
          (SELECT count(*) FROM ${unclaimedReports} WHERE ${ofIdentifier}) AS count,
          (SELECT ${unclaimedReports.item} FROM ${unclaimedReports}
            WHERE ${ofIdentifier} AND ${unclaimedReports.kind} = 'location'
            ORDER BY ${unclaimedReports.number} DESC LIMIT 1) AS item
        FROM ${unclaimed}
        WHERE ${unclaimed.sourceId} = ${sourceId} AND ${unclaimed.accountId} = ${accountId}
          AND ${unclaimed.identifierKey} > ${after}
        ORDER BY ${unclaimed.identifierKey} LIMIT ${limit}`,
    ),
  )
  return rows.map((row) => ({
    identifier: row.identifier,
    identifierKey: row.identifier_key,
    count: row.count,
    firstReceived: row.first_received,
    lastReceived: row.last_received,
    lastItem: row.item === null ? null : (JSON.parse(row.item) as SourceItem),
  }))
}

/** Deletes an identifier with its reports. False when there is none. */
export const discardUnclaimed = async (
  db: Database,
  { accountId, sourceId }: Holder,
  identifier: string,
): Promise<boolean> => {
  const key = fold(identifier)
  const [deleted] = await runBatch(db, [
    statement(
      db,
      sql`DELETE FROM ${unclaimed} WHERE ${unclaimed.sourceId} = ${sourceId}
        AND ${unclaimed.accountId} = ${accountId} AND ${unclaimed.identifierKey} = ${key}`,
    ),
    statement(
      db,
      sql`DELETE FROM ${unclaimedReports} WHERE ${unclaimedReports.sourceId} = ${sourceId}
        AND ${unclaimedReports.accountId} = ${accountId}
        AND ${unclaimedReports.identifierKey} = ${key}`,
    ),
  ])
  return deleted.meta.changes === 1
}
