import { and, isNotNull, sql } from 'drizzle-orm'
import type { Database } from '../../db/open.ts'
import { unclaimed, unclaimedReports } from '../../db/schema.ts'
import { runBatch, valuesOf } from '../../db/statement.ts'
import type { ArrivedItem } from '../push/senders.ts'
import { type Holder, isOf } from './unclaimed.ts'

/* The reports of one unclaimed identifier, on their way to its device. */

export interface UnclaimedReport extends ArrivedItem {
  number: number
}

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
    .where(isOf(unclaimedReports, holder, identifier))
    .orderBy(number)
    .limit(limit)
}

export const countReports = (db: Database, holder: Holder, identifier: string): Promise<number> =>
  db.$count(unclaimedReports, isOf(unclaimedReports, holder, identifier))

/** Deletes reports that are stored elsewhere, and the identifier once it has none left. */
export const deleteReports = async (
  db: Database,
  holder: Holder,
  identifier: string,
  numbers: number[],
): Promise<void> => {
  const isReport = isOf(unclaimedReports, holder, identifier)
  await runBatch(db, [
    sql`DELETE FROM ${unclaimedReports}
      WHERE ${isReport} AND ${unclaimedReports.number} IN ${valuesOf(numbers)}`,
    sql`DELETE FROM ${unclaimed} WHERE ${isOf(unclaimed, holder, identifier)}
      AND NOT EXISTS (SELECT 1 FROM ${unclaimedReports} WHERE ${isReport})`,
  ])
}

/** When the sweep tries again; null when no device has the identifier: it waits to be claimed. */
export const setClaimedAt = async (
  db: Database,
  holder: Holder,
  identifier: string,
  importDueAt: number | null,
): Promise<void> => {
  await db
    .update(unclaimed)
    .set({ importDueAt })
    .where(and(isOf(unclaimed, holder, identifier), isNotNull(unclaimed.importDueAt)))
}
