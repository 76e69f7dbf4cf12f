import { and, eq, isNull, lt, or } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { operators } from '../db/schema.ts'
import { isSameDigest } from './secret.ts'

export type OperatorRow = typeof operators.$inferSelect

export const findOperator = async (db: Database, id: string): Promise<OperatorRow | null> =>
  (await db.select().from(operators).where(eq(operators.id, id)))[0] ?? null

export const findOperatorByEmail = async (
  db: Database,
  emailKey: string,
): Promise<OperatorRow | null> =>
  (await db.select().from(operators).where(eq(operators.emailKey, emailKey)))[0] ?? null

/** Whether a secret is that of the operator's key, or of the one before while both work. */
export const isOperatorKey = (row: OperatorRow | null, hash: string, now: number): boolean => {
  // Both are compared, so that the time does not show which of them it was.
  const isCurrent = isSameDigest(hash, row?.hash ?? '')
  const isOld = isSameDigest(hash, row?.oldHash ?? '')
  if (isCurrent) return row?.expires == null || row.expires > now
  return isOld && (row?.oldExpires ?? 0) > now
}

/** The precision of `lastUsed`. */
const USE_PERIOD_MS = 600_000

/** Sets `lastUsed` to the start of these ten minutes. Null: nothing to write. */
export const recordOperatorUse = (
  db: Database,
  { id, lastUsed }: OperatorRow,
  now: number,
): Promise<unknown> | null => {
  const period = now - (now % USE_PERIOD_MS)
  if ((lastUsed ?? 0) >= period) return null
  const isEarlier = or(isNull(operators.lastUsed), lt(operators.lastUsed, period))
  return db
    .update(operators)
    .set({ lastUsed: period })
    .where(and(eq(operators.id, id), isEarlier))
}
