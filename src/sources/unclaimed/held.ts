import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../db/open.ts'
import { locations, unclaimed, unclaimedReports } from '../../db/schema.ts'
import { readAll, readFirst, type Statement, statement } from '../../db/statement.ts'
import type { SourceItem } from '../../domain/account/source.ts'
import { fold } from '../../domain/text/fold.ts'
import type { Holder } from './unclaimed.ts'

/* The reports of one unclaimed identifier, on their way to its device. */

export interface HeldReport {
  number: number
  receivedAt: number
  item: SourceItem
}

const isOf = ({ accountId, sourceId }: Holder, identifier: string): SQL =>
  sql`${unclaimedReports.sourceId} = ${sourceId} AND ${unclaimedReports.accountId} = ${accountId}
    AND ${unclaimedReports.identifierKey} = ${fold(identifier)}`

/** The oldest reports of an identifier, a page of them. */
export const readHeld = async (
  db: Database,
  holder: Holder,
  identifier: string,
  limit: number,
): Promise<HeldReport[]> => {
  const rows = await readAll(
    statement<{ number: number; received_at: number; item: string }>(
      db,
      sql`SELECT ${unclaimedReports.number}, ${unclaimedReports.receivedAt},
          ${unclaimedReports.item}
        FROM ${unclaimedReports} WHERE ${isOf(holder, identifier)}
        ORDER BY ${unclaimedReports.number} LIMIT ${limit}`,
    ),
  )
  return rows.map(({ number, received_at: receivedAt, item }) => ({
    number,
    receivedAt,
    item: JSON.parse(item) as SourceItem,
  }))
}

export const countHeld = async (
  db: Database,
  holder: Holder,
  identifier: string,
): Promise<number> => {
  const row = await readFirst(
    statement<{ count: number }>(
      db,
      sql`SELECT count(*) AS count FROM ${unclaimedReports} WHERE ${isOf(holder, identifier)}`,
    ),
  )
  return row?.count ?? 0
}

/** Where the reports go, and which are stored there. */
export interface Moved {
  identifier: string
  deviceKey: number
  /** `time` is of a location that must be in the device's track. */
  reports: { number: number; time: number | null }[]
}

/** Deletes reports that are stored elsewhere, and the identifier once it has none left. */
export const releaseHeld = (
  db: Database,
  { accountId, sourceId }: Holder,
  { identifier, deviceKey, reports }: Moved,
  condition: SQL = sql`true`,
): Statement[] => {
  const rows = JSON.stringify(reports.map(({ number, time }) => [number, time]))
  const stored = sql`SELECT sent.value ->> 0 FROM json_each(${rows}) sent
    WHERE sent.value ->> 1 IS NULL OR EXISTS (SELECT 1 FROM ${locations}
      WHERE ${locations.deviceKey} = ${deviceKey} AND ${locations.time} = sent.value ->> 1)`
  return [
    statement(
      db,
      sql`DELETE FROM ${unclaimedReports} WHERE ${unclaimedReports.number} IN (${stored})
        AND ${unclaimedReports.sourceId} = ${sourceId} AND ${condition}`,
    ),
    statement(
      db,
      sql`DELETE FROM ${unclaimed} WHERE ${unclaimed.sourceId} = ${sourceId}
        AND ${unclaimed.accountId} = ${accountId} AND ${unclaimed.identifierKey} = ${fold(identifier)}
        AND NOT EXISTS (SELECT 1 FROM ${unclaimedReports}
          WHERE ${unclaimedReports.sourceId} = ${sourceId}
            AND ${unclaimedReports.identifierKey} = ${fold(identifier)}) AND ${condition}`,
    ),
  ]
}

const setClaimedAt = async (
  db: Database,
  { accountId, sourceId }: Holder,
  identifier: string,
  claimedAt: SQL,
): Promise<void> => {
  await statement(
    db,
    sql`UPDATE ${unclaimed} SET claimed_at = ${claimedAt} WHERE ${unclaimed.sourceId} = ${sourceId}
      AND ${unclaimed.accountId} = ${accountId} AND ${unclaimed.identifierKey} = ${fold(identifier)}
      AND ${unclaimed.claimedAt} IS NOT NULL`,
  ).run()
}

/** The sweep tries again at this time. */
export const delayImport = (
  db: Database,
  holder: Holder,
  identifier: string,
  until: number,
): Promise<void> => setClaimedAt(db, holder, identifier, sql`${until}`)

/** No device has the identifier any more: it waits to be claimed again. */
export const withdrawClaim = (db: Database, holder: Holder, identifier: string): Promise<void> =>
  setClaimedAt(db, holder, identifier, sql`NULL`)
