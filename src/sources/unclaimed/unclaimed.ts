import { and, eq, sql } from 'drizzle-orm'
import type { Database } from '../../db/open.ts'
import { auditWrite } from '../../db/queries/audit.ts'
import { insertSelect, json, select } from '../../db/query.ts'
import { devices, sources, unclaimed, unclaimedReports } from '../../db/schema.ts'
import { literal, names, readAll, runBatch, statement, valuesOf } from '../../db/statement.ts'
import {
  MAX_UNCLAIMED_IDENTIFIERS,
  MAX_UNCLAIMED_REPORTS,
  type SourceItem,
} from '../../domain/account/source.ts'
import { changesBetween } from '../../domain/admin/audit.ts'
import { fold } from '../../domain/text/fold.ts'

/* What a source reports of identifiers that no device has, within bounds. */

export interface Holder {
  accountId: string
  sourceId: string
}

/**
 * Keeps items until their identifier is claimed, in one atomic batch: at most 1,000 identifiers a
 * source and the newest 100 reports of each. Beyond, the identifiers go that have not reported for
 * longest; `dropped` counts the reports.
 */
export const keepUnclaimed = async (
  db: Database,
  { accountId, sourceId }: Holder,
  items: SourceItem[],
  now: number,
): Promise<void> => {
  if (items.length === 0) return
  const byKey = new Map(items.map(({ identifier }) => [fold(identifier), identifier]))
  const keys = valuesOf([...byKey.keys()])
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
  // Those that a device has are about to be moved.
  const oldest = sql`SELECT ${unclaimed.identifierKey} FROM ${unclaimed}
    WHERE ${unclaimed.sourceId} = ${sourceId} AND ${unclaimed.importDueAt} IS NULL
    ORDER BY ${unclaimed.lastReceived} DESC, ${unclaimed.identifierKey}
    LIMIT -1 OFFSET ${literal(MAX_UNCLAIMED_IDENTIFIERS)}`
  // Counts what the statement before it has deleted.
  const countDropped = sql`UPDATE ${sources} SET ${names(sources.dropped)} = ${sources.dropped} + changes()
    WHERE ${sources.id} = ${sourceId} AND changes() > 0`
  const ranked = sql`SELECT ${unclaimedReports.number} AS number, row_number() OVER (
      PARTITION BY ${unclaimedReports.identifierKey} ORDER BY ${unclaimedReports.number} DESC) AS place
    FROM ${unclaimedReports} WHERE ${unclaimedReports.sourceId} = ${sourceId}
      AND ${unclaimedReports.identifierKey} IN ${keys}`
  await runBatch(db, [
    insertSelect(
      unclaimed,
      {
        sourceId,
        identifierKey: sql`value ->> 0`,
        accountId,
        identifier: sql`value ->> 1`,
        firstReceived: now,
        lastReceived: now,
        importDueAt: sql`CASE WHEN ${isTaken} THEN ${now} END`,
      },
      sql`FROM (${fresh}) WHERE place <= ${literal(MAX_UNCLAIMED_IDENTIFIERS)}`,
    ),
    sql`UPDATE ${unclaimed} SET ${names(unclaimed.lastReceived)} = ${now}
      WHERE ${unclaimed.sourceId} = ${sourceId} AND ${unclaimed.identifierKey} IN ${keys}`,
    sql`DELETE FROM ${unclaimedReports} WHERE ${unclaimedReports.sourceId} = ${sourceId}
      AND ${unclaimedReports.identifierKey} IN (${oldest})`,
    countDropped,
    sql`DELETE FROM ${unclaimed} WHERE ${unclaimed.sourceId} = ${sourceId}
      AND ${unclaimed.identifierKey} IN (${oldest})`,
    sql`UPDATE ${sources} SET ${names(sources.dropped)} = ${sources.dropped}
        + (SELECT count(*) FROM json_each(${reports}) sent WHERE NOT ${isKept})
      WHERE ${sources.id} = ${sourceId}
        AND EXISTS (SELECT 1 FROM json_each(${reports}) sent WHERE NOT ${isKept})`,
    insertSelect(
      unclaimedReports,
      {
        sourceId,
        identifierKey: sql`sent.value ->> 0`,
        accountId,
        key: sql`sent.value ->> 1`,
        kind: sql`sent.value ->> 2`,
        receivedAt: now,
        item: sql`sent.value ->> 3`,
      },
      sql`FROM json_each(${reports}) sent WHERE ${isKept} ON CONFLICT DO NOTHING`,
    ),
    sql`DELETE FROM ${unclaimedReports} WHERE ${unclaimedReports.number} IN
      (SELECT number FROM (${ranked}) WHERE place > ${literal(MAX_UNCLAIMED_REPORTS)})`,
    countDropped,
  ])
}

/** The reports or the row of an identifier. */
export const isOf = (
  table: typeof unclaimed | typeof unclaimedReports,
  { accountId, sourceId }: Holder,
  identifier: string,
) =>
  and(
    eq(table.sourceId, sourceId),
    eq(table.accountId, accountId),
    eq(table.identifierKey, fold(identifier)),
  )

/** In the order of the folded identifiers, those after `after`. */
export const listUnclaimed = (
  db: Database,
  { accountId, sourceId }: Holder,
  after: string,
  limit: number,
) => {
  const { identifier, identifierKey, firstReceived, lastReceived } = unclaimed
  const isReport = sql`${unclaimedReports.sourceId} = ${unclaimed.sourceId}
    AND ${unclaimedReports.identifierKey} = ${identifierKey}`
  const columns = {
    identifier,
    identifierKey,
    firstReceived,
    lastReceived,
    count: sql<number>`(SELECT count(*) FROM ${unclaimedReports} WHERE ${isReport})`,
    /** The newest location item, if there is one. */
    lastItem: json<SourceItem | null>(sql`(SELECT ${unclaimedReports.item} FROM ${unclaimedReports}
      WHERE ${isReport} AND ${unclaimedReports.kind} = 'location'
      ORDER BY ${unclaimedReports.number} DESC LIMIT 1)`),
  }
  const rest = sql`FROM ${unclaimed}
    WHERE ${unclaimed.sourceId} = ${sourceId} AND ${unclaimed.accountId} = ${accountId}
      AND ${identifierKey} > ${after}
    ORDER BY ${identifierKey} LIMIT ${limit}`
  return readAll(statement(db, select(columns, rest)))
}

export type UnclaimedIdentifier = Awaited<ReturnType<typeof listUnclaimed>>[number]

/** Deletes an identifier with its reports. False when there is none. */
export const discardUnclaimed = async (
  db: Database,
  holder: Holder,
  identifier: string,
  now: number,
): Promise<boolean> => {
  const { deleted } = await runBatch(db, {
    deleted: db.delete(unclaimed).where(isOf(unclaimed, holder, identifier)),
    audited: auditWrite(db, {
      accountId: holder.accountId,
      now,
      action: 'source.identifierDiscarded',
      resource: { type: 'source', id: holder.sourceId },
      changes: changesBetween(null, { identifier }),
    }),
    reports: db.delete(unclaimedReports).where(isOf(unclaimedReports, holder, identifier)),
  })
  return deleted.meta.changes > 0
}
