import type { FeedOwner } from './stub.ts'

export interface FeedState extends FeedOwner {
  /** The account's last event at the last poll. */
  head: number
  /** When `head` last moved. */
  lastEventAt: number
  /** When the listener lease in the cell ends, for streams and for streams that want locations. */
  streamsUntil: number
  locationStreamsUntil: number
}

interface Row extends Record<string, SqlStorageValue> {
  account_id: string
  cell: number
  head: number
  last_event_at: number
  streams_until: number
  location_streams_until: number
}

export const readFeedState = (sql: SqlStorage): FeedState | null => {
  const [row] = sql.exec<Row>('SELECT * FROM feed_state').toArray()
  if (!row) return null
  return {
    accountId: row.account_id,
    cell: row.cell,
    head: row.head,
    lastEventAt: row.last_event_at,
    streamsUntil: row.streams_until,
    locationStreamsUntil: row.location_streams_until,
  }
}

export const saveFeedState = (
  sql: SqlStorage,
  { accountId, cell, head, lastEventAt, streamsUntil, locationStreamsUntil }: FeedState,
): void => {
  sql.exec(
    `INSERT OR REPLACE INTO feed_state
       (account_id, cell, head, last_event_at, streams_until, location_streams_until)
     VALUES (?, ?, ?, ?, ?, ?)`,
    accountId,
    cell,
    head,
    lastEventAt,
    streamsUntil,
    locationStreamsUntil,
  )
}

/** The first call sets the account that the feed belongs to. */
export const ensureFeedState = (
  sql: SqlStorage,
  { accountId, cell }: FeedOwner,
  now: number,
): FeedState => {
  const existing = readFeedState(sql)
  if (existing) return existing
  const created: FeedState = {
    accountId,
    cell,
    head: 0,
    lastEventAt: now,
    streamsUntil: 0,
    locationStreamsUntil: 0,
  }
  saveFeedState(sql, created)
  return created
}
