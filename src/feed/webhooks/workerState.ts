import type { Webhook } from '../../domain/event/webhook.ts'
import { abandonPending } from './deliveries.ts'

export interface WorkerState {
  /** The last event that was delivered or filtered out. */
  cursor: number
  /** Since when no attempt has succeeded; null after a success. */
  failingSince: number | null
}

/**
 * Brings a worker's row in line with its webhook and reads it. A webhook that was enabled again
 * starts after `since`: its pending deliveries from before are abandoned.
 */
export const syncWorkerState = (sql: SqlStorage, { id, since, url }: Webhook): WorkerState => {
  const { rowsWritten } = sql.exec(
    `INSERT INTO webhook_workers (webhook_id, cursor, since, url) VALUES (?1, ?2, ?2, ?3)
     ON CONFLICT DO UPDATE SET
       cursor = max(cursor, excluded.cursor), since = excluded.since, url = excluded.url,
       failing_since =
         CASE WHEN since = excluded.since AND url = excluded.url THEN failing_since END
     WHERE since <> excluded.since OR url <> excluded.url`,
    id,
    since,
    url,
  )
  if (rowsWritten > 0) abandonPending(sql, id, since)
  const { cursor, failing_since: failingSince } = sql
    .exec<{ cursor: number; failing_since: number | null }>(
      'SELECT cursor, failing_since FROM webhook_workers WHERE webhook_id = ?',
      id,
    )
    .one()
  return { cursor, failingSince }
}

export const advanceCursor = (sql: SqlStorage, { id }: Webhook, cursor: number): void => {
  sql.exec(
    'UPDATE webhook_workers SET cursor = ?1 WHERE webhook_id = ?2 AND cursor < ?1',
    cursor,
    id,
  )
}

export const saveFailingSince = (sql: SqlStorage, { id }: Webhook, since: number | null): void => {
  sql.exec('UPDATE webhook_workers SET failing_since = ? WHERE webhook_id = ?', since, id)
}
