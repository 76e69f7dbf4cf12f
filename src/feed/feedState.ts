import type { FeedOwner } from './stub.ts'
import { type FeedDatabase, feedState } from './tables.ts'

export type FeedState = typeof feedState.$inferSelect

export const readFeedState = (db: FeedDatabase): FeedState | null =>
  db.select().from(feedState).get() ?? null

export const updateFeedState = (db: FeedDatabase, changes: Partial<FeedState>): void => {
  db.update(feedState).set(changes).run()
}

/** The first call sets the account that the feed belongs to. */
export const ensureFeedState = (
  db: FeedDatabase,
  { accountId, cell }: FeedOwner,
  now: number,
): FeedState => {
  const existing = readFeedState(db)
  if (existing) return existing
  const none = { head: 0, streamsUntil: 0, locationStreamsUntil: 0 }
  return db
    .insert(feedState)
    .values({ accountId, cell, lastEventAt: now, ...none })
    .returning()
    .get()
}
