import { DEFAULT_RETENTION_DAYS, keptSince } from '../../domain/account/account.ts'
import { readAccount } from '../accounts/accountRow.ts'
import { pruneRaised } from '../alerts/raised.ts'
import { pruneCooldowns } from '../alerts/ruleRaises.ts'

const DAY_MS = 86_400_000
/** Receipts arrive within hours. After this only the cell has the message. */
const MESSAGES_KEPT_MS = 3 * DAY_MS
/** An emergency that nobody has acknowledged is open for this long: nothing joins it later. */
const EMERGENCIES_KEPT_MS = 7 * DAY_MS
/** A notice is requested again within minutes if its request failed. */
const NOTICES_KEPT_MS = 2 * DAY_MS
const MAX_PRUNED = 500

/** When the next message is old enough to be deleted. */
export const nextPruneTime = (sql: SqlStorage): number | null => {
  const { oldest } = sql
    .exec<{ oldest: number | null }>(
      'SELECT min(changed) AS oldest FROM messages WHERE next_try IS NULL',
    )
    .one()
  return oldest === null ? null : oldest + MESSAGES_KEPT_MS
}

/** Deletes what no repeat and no receipt can ask for any more. */
export const prune = (sql: SqlStorage, now: number): void => {
  const since = keptSince(now, readAccount(sql)?.retentionDays ?? DEFAULT_RETENTION_DAYS)
  pruneRaised(sql, now, since)
  sql.exec('DELETE FROM acknowledgements WHERE at < ?', since)
  sql.exec(
    'DELETE FROM emergencies WHERE raised_at < ? AND check_at IS NULL AND next_round IS NULL',
    now - EMERGENCIES_KEPT_MS,
  )
  sql.exec('DELETE FROM notices WHERE accepted < ?', now - NOTICES_KEPT_MS)
  pruneCooldowns(sql, now)
  const old = sql
    .exec<{ id: string }>(
      'SELECT id FROM messages WHERE next_try IS NULL AND changed <= ? LIMIT ?',
      now - MESSAGES_KEPT_MS,
      MAX_PRUNED,
    )
    .toArray()
  for (const { id } of old) {
    sql.exec('DELETE FROM receipts WHERE message_id = ?', id)
    sql.exec('DELETE FROM messages WHERE id = ?', id)
  }
}
