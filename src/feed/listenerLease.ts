import { type FeedState, readFeedState, saveFeedState } from './feedState.ts'

/* The marks in the cell that say that someone listens: until when there are open streams, and streams that ask for locations. */

const LEASE_MS = 3_600_000

export interface OpenStreams {
  size: number
  wantLocations: boolean
}

/** Renewed when half its time is over, so that one seldom writes; should the feed lose its streams unseen, it runs out. */
const extendLease = (wanted: boolean, until: number, now: number): number => {
  if (!wanted) return 0
  return until - now > LEASE_MS / 2 ? until : now + LEASE_MS
}

const leaseFor = (
  known: FeedState,
  { size, wantLocations }: OpenStreams,
  now: number,
): FeedState => ({
  ...known,
  streamsUntil: extendLease(size > 0, known.streamsUntil, now),
  locationStreamsUntil: extendLease(size > 0 && wantLocations, known.locationStreamsUntil, now),
})

const SET_LEASE = `INSERT INTO event_heads (account_id, sequence, streams_until, location_streams_until)
  SELECT id, 0, ?2, ?3 FROM accounts WHERE id = ?1
  ON CONFLICT (account_id) DO UPDATE SET streams_until = ?2, location_streams_until = ?3 WHERE streams_until <> ?2 OR location_streams_until <> ?3`

/** For an opening: of several at once none knows what the others ask for, so it takes no mark away. */
const EXTEND_LEASE = `INSERT INTO event_heads (account_id, sequence, streams_until, location_streams_until)
  SELECT id, 0, ?2, ?3 FROM accounts WHERE id = ?1
  ON CONFLICT (account_id) DO UPDATE SET
    streams_until = max(streams_until, ?2), location_streams_until = max(location_streams_until, ?3)
  WHERE streams_until < ?2 OR location_streams_until < ?3`

const LOG_RANGE =
  'SELECT sequence AS head, (SELECT min(sequence) FROM events WHERE account_id = ?1) AS oldest FROM event_heads WHERE account_id = ?1'

export interface LogEnds {
  head: number
  oldest: number | null
}

/** Marks what will be open, and answers where the log begins and ends at that moment: all that comes later is told. */
export const acquireLease = async (
  sql: SqlStorage,
  db: D1Database,
  known: FeedState,
  open: OpenStreams,
  now: number,
): Promise<LogEnds> => {
  const marked = leaseFor(known, open, now)
  const [, found] = await db.batch([
    db
      .prepare(EXTEND_LEASE)
      .bind(known.accountId, marked.streamsUntil, marked.locationStreamsUntil),
    db.prepare(LOG_RANGE).bind(known.accountId),
  ])
  const ends = (found?.results[0] as LogEnds | undefined) ?? { head: 0, oldest: null }
  const latest = readFeedState(sql) ?? marked
  saveFeedState(sql, {
    ...latest,
    streamsUntil: Math.max(latest.streamsUntil, marked.streamsUntil),
    locationStreamsUntil: Math.max(latest.locationStreamsUntil, marked.locationStreamsUntil),
  })
  return ends
}

/** Keeps the marks in step with what is open: here alone they are lowered. */
export const renewLease = async (
  sql: SqlStorage,
  db: D1Database,
  open: OpenStreams,
  now: number,
): Promise<void> => {
  const known = readFeedState(sql)
  if (!known) return
  const marked = leaseFor(known, open, now)
  if (
    marked.streamsUntil === known.streamsUntil &&
    marked.locationStreamsUntil === known.locationStreamsUntil
  )
    return
  await db
    .prepare(SET_LEASE)
    .bind(known.accountId, marked.streamsUntil, marked.locationStreamsUntil)
    .run()
  saveFeedState(sql, marked)
}
