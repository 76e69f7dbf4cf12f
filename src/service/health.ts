import type { Database } from '../db/open.ts'
import { readCellSizes, readLastSweep } from './store.ts'

/** Anyone may ask, so the database is asked at most this often by each isolate. */
const HEALTH_CACHE_MS = 5000

interface Checked {
  sizes: Awaited<ReturnType<typeof readCellSizes>>
  lastSweep: number | null
}

interface Health {
  checkedAt: number
  /** An error when the database did not answer. */
  result: Checked | Error
}

const results = new WeakMap<Database, Health>()

const check = async (db: Database): Promise<Checked | Error> => {
  try {
    return { sizes: await readCellSizes(db), lastSweep: await readLastSweep(db) }
  } catch (error) {
    return error instanceof Error ? error : new Error('the database failed')
  }
}

/**
 * The sizes of the cells and the last sweep. Throws when the directory did not answer, now or at the
 * last check.
 */
export const checkDirectory = async (db: Database, now: number): Promise<Checked> => {
  const last = results.get(db)
  const isFresh = last && now >= last.checkedAt && now - last.checkedAt < HEALTH_CACHE_MS
  // While this check runs, others go by the last result.
  if (last && !isFresh) last.checkedAt = now
  const result = last && isFresh ? last.result : await check(db)
  if (!isFresh) results.set(db, { checkedAt: now, result })
  if (result instanceof Error) throw result
  return result
}
