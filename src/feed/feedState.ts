import type { FeedOwner } from './stub.ts'

/* What the feed knows of itself: whose it is, how far the log was when it last looked, and what it has told the cell. */

export interface FeedState extends FeedOwner {
  head: number
  /** When something was new last. */
  newsAt: number
  /** Until when the cell believes that there are open streams, and streams that ask for locations. */
  streamsUntil: number
  locationStreamsUntil: number
}

interface Row extends Record<string, SqlStorageValue> {
  account_id: string
  cell: number
  head: number
  news_at: number
  streams_until: number
  location_streams_until: number
}

export const readFeedState = (sql: SqlStorage): FeedState | null => {
  const [row] = sql.exec<Row>('SELECT * FROM owner').toArray()
  if (!row) return null
  return {
    accountId: row.account_id,
    cell: row.cell,
    head: row.head,
    newsAt: row.news_at,
    streamsUntil: row.streams_until,
    locationStreamsUntil: row.location_streams_until,
  }
}

export const saveFeedState = (
  sql: SqlStorage,
  { accountId, cell, head, newsAt, streamsUntil, locationStreamsUntil }: FeedState,
): void => {
  sql.exec(
    `INSERT OR REPLACE INTO owner (account_id, cell, head, news_at, streams_until, location_streams_until) VALUES (?, ?, ?, ?, ?, ?)`,
    accountId,
    cell,
    head,
    newsAt,
    streamsUntil,
    locationStreamsUntil,
  )
}

/** The first who comes says whose feed it is. */
export const ensureFeedState = (
  sql: SqlStorage,
  { accountId, cell }: FeedOwner,
  now: number,
): FeedState => {
  const known = readFeedState(sql)
  if (known) return known
  const fresh: FeedState = {
    accountId,
    cell,
    head: 0,
    newsAt: now,
    streamsUntil: 0,
    locationStreamsUntil: 0,
  }
  saveFeedState(sql, fresh)
  return fresh
}
