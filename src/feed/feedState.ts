import { findRow, insertRow, query, updateRows } from '../db/objectTable.ts'
import type { FeedOwner } from './stub.ts'
import { feedState } from './tables.ts'

export type FeedState = typeof feedState.$inferSelect

export const readFeedState = (sql: SqlStorage): FeedState | undefined =>
  findRow(sql, feedState, query`true`)

export const updateFeedState = (sql: SqlStorage, changes: Partial<FeedState>): void =>
  updateRows(sql, feedState, changes)

/** The first call sets the account that the feed belongs to. */
export const ensureFeedState = (
  sql: SqlStorage,
  { accountId, cell }: FeedOwner,
  now: number,
): FeedState => {
  const existing = readFeedState(sql)
  if (existing) return existing
  const none = { head: 0, streamsUntil: 0, locationStreamsUntil: 0 }
  const state = { accountId, cell, lastEventAt: now, ...none }
  insertRow(sql, feedState, state)
  return state
}
