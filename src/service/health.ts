import type { Database } from '../db/open.ts'
import { readCellSizes } from './store.ts'

/** Anyone may ask, so the database is asked at most this often by each isolate. */
const HEALTH_CACHE_MS = 5000

type CellSizes = Awaited<ReturnType<typeof readCellSizes>>

interface Health {
  checkedAt: number
  /** An error when the database did not answer. */
  result: CellSizes | Error
}

const results = new WeakMap<Database, Health>()

const readSizes = async (db: Database): Promise<CellSizes | Error> => {
  try {
    return await readCellSizes(db)
  } catch (error) {
    return error instanceof Error ? error : new Error('the database failed')
  }
}

/** The sizes of the cells. Throws when the directory did not answer, now or at the last check. */
export const checkDirectory = async (db: Database, now: number): Promise<CellSizes> => {
  const last = results.get(db)
  const isFresh = last && now >= last.checkedAt && now - last.checkedAt < HEALTH_CACHE_MS
  // While this check runs, others go by the last result.
  if (last && !isFresh) last.checkedAt = now
  const result = last && isFresh ? last.result : await readSizes(db)
  if (!isFresh) results.set(db, { checkedAt: now, result })
  if (result instanceof Error) throw result
  return result
}
