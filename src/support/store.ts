import { and, asc, between, eq, gt, isNotNull } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { keys } from '../db/schema.ts'
import { MAX_SUPPORT_MINUTES } from '../domain/admin/operator.ts'
import { deleteKey } from '../keys/store.ts'

/* Access of the operator's support is a key of the account without a secret. */

const COLUMNS = {
  id: keys.id,
  name: keys.name,
  scopes: keys.scopes,
  supportReason: keys.supportReason,
  creation: keys.creation,
  expires: keys.expires,
}

/** More are not shown. An operator who asks so often is found in the audit. */
const MAX_LISTED = 100

const isLive = (now: number) => and(isNotNull(keys.operatorId), gt(keys.expires, now))

/** Who has access to the account now, ending first. */
export const listSupport = (db: Database, accountId: string, now: number) =>
  db
    .select(COLUMNS)
    .from(keys)
    .where(and(eq(keys.accountId, accountId), isLive(now)))
    .orderBy(asc(keys.expires))
    .limit(MAX_LISTED)
export type Support = Awaited<ReturnType<typeof listSupport>>[number]

/** False when there is no such access. */
export const endSupport = async (
  db: Database,
  accountId: string,
  id: string,
  now: number,
): Promise<boolean> => {
  const [found] = await db
    .select({ id: keys.id })
    .from(keys)
    .where(and(eq(keys.id, id), eq(keys.accountId, accountId), isLive(now)))
  return found !== undefined && deleteKey(db, accountId, id, now)
}

/** Ends all access that an operator has in a cell, found by its end. Returns the accounts. */
export const endSupportOf = async (
  db: Database,
  operatorId: string,
  now: number,
): Promise<string[]> => {
  const found = await db
    .select({ id: keys.id, accountId: keys.accountId })
    .from(keys)
    .where(
      and(
        eq(keys.operatorId, operatorId),
        between(keys.expires, now, now + MAX_SUPPORT_MINUTES * 60_000),
      ),
    )
  for (const { id, accountId } of found) await deleteKey(db, accountId, id, now)
  return [...new Set(found.map(({ accountId }) => accountId))]
}
