import { deleteRows, hasRow, insertRow, query } from '../../db/objectTable.ts'
import { base32Time } from '../../domain/text/base32.ts'
import type { Decision } from '../decision.ts'
import { deleted } from '../tables.ts'

/* The ids of deleted devices, for as long as a retry of the request that created one may come. */

/** A request can be repeated under its Idempotency-Key for 24 hours. */
const RETRY_MS = 2 * 86_400_000

/** An id begins with the time of its request: an older device cannot be created again. */
export const rememberDeleted = ({ sql, now }: Decision, id: string): void => {
  const oldest = `dev_${base32Time(now - RETRY_MS)}`
  deleteRows(sql, deleted, query`${deleted.id} < ${oldest}`)
  if (id >= oldest) insertRow(sql, deleted, { id }, 'ignore')
}

export const isRecentlyDeleted = (sql: SqlStorage, id: string): boolean =>
  hasRow(sql, deleted, { id })
