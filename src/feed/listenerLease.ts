import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { insertSelect, select } from '../db/query.ts'
import { accounts, eventHeads, events } from '../db/schema.ts'
import { runBatch, statement } from '../db/statement.ts'
import { type FeedState, readFeedState, updateFeedState } from './feedState.ts'

/* The lease in the cell tells writers until when the account has open streams. */

const LEASE_MS = 3_600_000

export interface OpenStreams {
  size: number
  hasLocationStreams: boolean
}

type Lease = Pick<FeedState, 'streamsUntil' | 'locationStreamsUntil'>

/** Extends only in the second half of the lease, to write rarely. Unrenewed, the lease runs out. */
const extendUntil = (isOpen: boolean, until: number, now: number): number => {
  if (!isOpen) return 0
  return until - now > LEASE_MS / 2 ? until : now + LEASE_MS
}

const leaseFor = (
  { streamsUntil, locationStreamsUntil }: Lease,
  { size, hasLocationStreams }: OpenStreams,
  now: number,
): Lease => ({
  streamsUntil: extendUntil(size > 0, streamsUntil, now),
  locationStreamsUntil: extendUntil(size > 0 && hasLocationStreams, locationStreamsUntil, now),
})

/** An account that was deleted meanwhile gets no row. */
const insertLease = (accountId: string, lease: Lease, onConflict: SQL): SQL =>
  insertSelect(
    eventHeads,
    { accountId, sequence: 0, ...lease },
    sql`FROM ${accounts} WHERE ${accounts.id} = ${accountId}
      ON CONFLICT (account_id) DO UPDATE SET ${onConflict}`,
  )

const REPLACE = sql`streams_until = excluded.streams_until,
    location_streams_until = excluded.location_streams_until
  WHERE ${eventHeads.streamsUntil} <> excluded.streams_until
    OR ${eventHeads.locationStreamsUntil} <> excluded.location_streams_until`

/** Never shortens: a stream that opens does not know what the others opening with it ask for. */
const EXTEND = sql`streams_until = max(${eventHeads.streamsUntil}, excluded.streams_until),
    location_streams_until =
      max(${eventHeads.locationStreamsUntil}, excluded.location_streams_until)
  WHERE ${eventHeads.streamsUntil} < excluded.streams_until
    OR ${eventHeads.locationStreamsUntil} < excluded.location_streams_until`

const selectLogEnds = (accountId: string) =>
  select(
    {
      head: eventHeads.sequence,
      /** Of an empty log that of the next event: everything before it is deleted. */
      oldest: sql<number>`ifnull((SELECT min(${events.sequence}) FROM ${events}
        WHERE ${events.accountId} = ${accountId}), ${eventHeads.sequence} + 1)`,
    },
    sql`FROM ${eventHeads} WHERE ${eventHeads.accountId} = ${accountId}`,
  )

/**
 * Extends the lease to cover `streams` and reads the ends of the log in the same batch, so that
 * every event after `head` is poked for.
 */
export const acquireLease = async (
  sql: SqlStorage,
  db: Database,
  { state, streams, now }: { state: FeedState; streams: OpenStreams; now: number },
) => {
  const lease = leaseFor(state, streams, now)
  const { ends } = await runBatch(db, {
    lease: insertLease(state.accountId, lease, EXTEND),
    ends: selectLogEnds(state.accountId),
  })
  const latest = readFeedState(sql) ?? state
  updateFeedState(sql, {
    streamsUntil: Math.max(latest.streamsUntil, lease.streamsUntil),
    locationStreamsUntil: Math.max(latest.locationStreamsUntil, lease.locationStreamsUntil),
  })
  return ends.results[0] ?? { head: 0, oldest: 1 }
}

/** Makes the lease match the open streams. Only this function shortens it. */
export const renewLease = async (
  sql: SqlStorage,
  db: Database,
  streams: OpenStreams,
  now: number,
): Promise<void> => {
  const state = readFeedState(sql)
  if (!state) return
  const lease = leaseFor(state, streams, now)
  if (
    lease.streamsUntil === state.streamsUntil &&
    lease.locationStreamsUntil === state.locationStreamsUntil
  )
    return
  await statement(db, insertLease(state.accountId, lease, REPLACE)).run()
  updateFeedState(sql, lease)
}
