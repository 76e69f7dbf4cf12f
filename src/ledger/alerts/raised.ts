import type { UndeliveredReason } from '../../domain/message/emergency.ts'
import type { Decision } from '../decision.ts'

/* The ids of alerts that were raised, so that a repeat raises nothing. */

interface RaisedRow extends Record<string, SqlStorageValue> {
  /** The open emergency that it joined. */
  joined: string | null
  undelivered: UndeliveredReason | null
}

export const findRaised = (sql: SqlStorage, id: string): RaisedRow | undefined =>
  sql.exec<RaisedRow>('SELECT joined, undelivered FROM raised WHERE id = ?', id).toArray()[0]

interface Raised {
  /** Kept for as long as alerts are, because a report may be repeated at any time. */
  isRemembered: boolean
  joined?: string
  undelivered: UndeliveredReason | null
}

export const rememberRaised = (
  { sql, now }: Decision,
  id: string,
  { isRemembered, joined, undelivered }: Raised,
): void => {
  sql.exec(
    'INSERT INTO raised (id, at, remembered, joined, undelivered) VALUES (?, ?, ?, ?, ?)',
    id,
    now,
    isRemembered ? 1 : 0,
    joined ?? null,
    undelivered,
  )
}

const DAY_MS = 86_400_000
/** A request can be repeated under its Idempotency-Key for 24 hours. */
const KEPT_MS = 2 * DAY_MS

/** `keptSince`: alerts that arrived before are deleted. */
export const pruneRaised = (sql: SqlStorage, now: number, keptSince: number): void => {
  sql.exec('DELETE FROM raised WHERE remembered = 0 AND at < ?', now - KEPT_MS)
  sql.exec('DELETE FROM raised WHERE remembered = 1 AND at < ?', Math.min(keptSince, now - KEPT_MS))
}
