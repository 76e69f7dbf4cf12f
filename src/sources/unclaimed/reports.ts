import { and, eq, sql } from 'drizzle-orm'
import type { Database } from '../../db/open.ts'
import { unclaimed, unclaimedReports } from '../../db/schema.ts'
import { runBatch, statement, valuesOf } from '../../db/statement.ts'
import { fold } from '../../domain/text/fold.ts'
import type { ArrivedItem } from '../push/senders.ts'
import type { Holder } from './unclaimed.ts'

/* The reports of one unclaimed identifier, on their way to its device. */

export interface UnclaimedReport extends ArrivedItem {
  number: number
}

const isReportOf = ({ accountId, sourceId }: Holder, identifier: string) =>
  and(
    eq(unclaimedReports.sourceId, sourceId),
    eq(unclaimedReports.accountId, accountId),
    eq(unclaimedReports.identifierKey, fold(identifier)),
  )

const isOf = ({ accountId, sourceId }: Holder, identifier: string) =>
  and(
    eq(unclaimed.sourceId, sourceId),
    eq(unclaimed.accountId, accountId),
    eq(unclaimed.identifierKey, fold(identifier)),
  )

/** The oldest reports of an identifier, a page of them. */
export const readReports = (
  db: Database,
  holder: Holder,
  identifier: string,
  limit: number,
): Promise<UnclaimedReport[]> => {
  const { number, receivedAt, item } = unclaimedReports
  return db
    .select({ number, receivedAt, item })
    .from(unclaimedReports)
    .where(isReportOf(holder, identifier))
    .orderBy(number)
    .limit(limit)
}

export const countReports = (db: Database, holder: Holder, identifier: string): Promise<number> =>
  db.$count(unclaimedReports, isReportOf(holder, identifier))

/** Deletes reports that are stored elsewhere, and the identifier once it has none left. */
export const deleteReports = async (
  db: Database,
  holder: Holder,
  identifier: string,
  numbers: number[],
): Promise<void> => {
  await runBatch(db, {
    reports: statement(
      db,
      sql`DELETE FROM ${unclaimedReports}
        WHERE ${isReportOf(holder, identifier)} AND ${unclaimedReports.number} IN ${valuesOf(numbers)}`,
    ),
    identifier: statement(
      db,
      sql`DELETE FROM ${unclaimed} WHERE ${isOf(holder, identifier)}
        AND NOT EXISTS (SELECT 1 FROM ${unclaimedReports} WHERE ${isReportOf(holder, identifier)})`,
    ),
  })
}

const setClaimedAt = async (
  db: Database,
  holder: Holder,
  identifier: string,
  claimedAt: number | null,
): Promise<void> => {
  await db
    .update(unclaimed)
    .set({ claimedAt })
    .where(and(isOf(holder, identifier), sql`${unclaimed.claimedAt} IS NOT NULL`))
}

/** The sweep tries again at this time. */
export const delayImport = (
  db: Database,
  holder: Holder,
  identifier: string,
  until: number,
): Promise<void> => setClaimedAt(db, holder, identifier, until)

/** No device has the identifier any more: it waits to be claimed again. */
export const withdrawClaim = (db: Database, holder: Holder, identifier: string): Promise<void> =>
  setClaimedAt(db, holder, identifier, null)
