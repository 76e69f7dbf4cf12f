import { findRow, query, updateRows } from '../../db/objectTable.ts'
import { account } from '../tables.ts'

/* Point-in-time restore of a ledger, by the platform's history of the last 30 days. */

/** Passed to the object that replaces this one after a point-in-time restore. */
export interface Handover {
  instance: string
  nextDevice: number
}

export type RestoreOutcome =
  | { ok: true; undo: string; handover: Handover }
  | { ok: false; refusal: 'account-not-found' | 'history-unavailable' }

/**
 * Schedules a restore to a time, or to the `undo` bookmark of an earlier restore. It takes effect
 * when the object restarts.
 */
export const scheduleRestore = async (
  storage: DurableObjectStorage,
  instance: string,
  to: number | string,
): Promise<RestoreOutcome> => {
  const row = findRow(storage.sql, account, query`true`)
  if (!row) return { ok: false, refusal: 'account-not-found' }
  try {
    const bookmark = typeof to === 'string' ? to : await storage.getBookmarkForTime(to)
    const undo = await storage.onNextSessionRestoreBookmark(bookmark)
    return { ok: true, undo, handover: { instance, nextDevice: row.nextDevice } }
  } catch {
    return { ok: false, refusal: 'history-unavailable' }
  }
}

/** Skips device keys given out before the restore: the cell may have tracks and groups under them. */
export const skipUsedDevices = (
  sql: SqlStorage,
  { nextDevice }: Pick<Handover, 'nextDevice'>,
): void =>
  updateRows(sql, account, { nextDevice: query`max(${account.nextDevice}, ${nextDevice})` })
