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
  const [row] = storage.sql
    .exec<{ next_device: number }>('SELECT next_device FROM account')
    .toArray()
  if (!row) return { ok: false, refusal: 'account-not-found' }
  try {
    const bookmark = typeof to === 'string' ? to : await storage.getBookmarkForTime(to)
    const undo = await storage.onNextSessionRestoreBookmark(bookmark)
    return { ok: true, undo, handover: { instance, nextDevice: row.next_device } }
  } catch {
    return { ok: false, refusal: 'history-unavailable' }
  }
}

/** Skips device keys given out before the restore: the cell may have tracks and groups under them. */
export const skipUsedDevices = (sql: SqlStorage, { nextDevice }: Handover): void => {
  sql.exec('UPDATE account SET next_device = max(next_device, ?)', nextDevice)
}
