import type { FeedOwner } from './stub.ts'

/* What the feed knows of itself: whose it is, how far the log was when it last looked, and what it has told the cell. */

export interface Known extends FeedOwner {
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

export const readOwner = (sql: SqlStorage): Known | null => {
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

export const saveOwner = (sql: SqlStorage, { accountId, cell, head, newsAt, streamsUntil, locationStreamsUntil }: Known): void => {
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

const MARKED_FOR = 3_600_000
const CLEARED = 0

/** The marks that should stand, given what is open: renewed when half their time is over, so that one seldom writes. */
export const marksFor = (known: Known, streams: { size: number; wantLocations: boolean }, now: number): Known => {
  const mark = (wanted: boolean, until: number) => {
    if (!wanted) return CLEARED
    return until - now > MARKED_FOR / 2 ? until : now + MARKED_FOR
  }
  return {
    ...known,
    streamsUntil: mark(streams.size > 0, known.streamsUntil),
    locationStreamsUntil: mark(streams.size > 0 && streams.wantLocations, known.locationStreamsUntil),
  }
}

/** Writes the marks to the cell and answers where the log begins and ends, as of the same moment: what comes after it is told to all. */
export const markStreams = async (db: D1Database, known: Known): Promise<{ head: number; oldest: number | null }> => {
  const { accountId, streamsUntil, locationStreamsUntil } = known
  const [, found] = await db.batch([
    db
      .prepare(
        `INSERT INTO event_heads (account_id, sequence, streams_until, location_streams_until)
         SELECT id, 0, ?2, ?3 FROM accounts WHERE id = ?1
         ON CONFLICT (account_id) DO UPDATE SET streams_until = ?2, location_streams_until = ?3
         WHERE streams_until <> ?2 OR location_streams_until <> ?3`,
      )
      .bind(accountId, streamsUntil, locationStreamsUntil),
    db
      .prepare(
        `SELECT sequence AS head, (SELECT min(sequence) FROM events WHERE account_id = ?1) AS oldest FROM event_heads WHERE account_id = ?1`,
      )
      .bind(accountId),
  ])
  return (found?.results[0] as { head: number; oldest: number | null } | undefined) ?? { head: 0, oldest: null }
}
