import type { Database } from '../db/open.ts'
import { pingDatabase } from './store.ts'

/** Anyone may ask, so the database is asked at most this often by each isolate. */
const HEALTH_CACHE_MS = 5000

interface Health {
  checkedAt: number
  /** Null when the database answered. */
  failure: Error | null
}

const results = new WeakMap<Database, Health>()

const ping = async (db: Database): Promise<Error | null> => {
  try {
    await pingDatabase(db)
    return null
  } catch (error) {
    return error instanceof Error ? error : new Error('the database failed')
  }
}

/** Throws when the database did not answer, now or at the last check. */
export const requireHealth = async (db: Database, now: number): Promise<void> => {
  const last = results.get(db)
  const isFresh = last && now >= last.checkedAt && now - last.checkedAt < HEALTH_CACHE_MS
  // While this check runs, others go by the last result.
  if (last && !isFresh) last.checkedAt = now
  const failure = last && isFresh ? last.failure : await ping(db)
  if (!isFresh) results.set(db, { checkedAt: now, failure })
  if (failure) throw failure
}
