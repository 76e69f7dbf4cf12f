import type { Account } from '../../domain/account/account.ts'
import { availableAt, type Ends } from '../../domain/account/license.ts'
import type { Day } from '../../domain/time/day.ts'

/* How many devices end on which day, updated with every change: counting devices would be slow. */

export const addEnding = (sql: SqlStorage, ends: Ends, by: 1 | -1): void => {
  if (ends === null) return
  sql.exec(
    `INSERT INTO endings (day, count) VALUES (?, ?)
     ON CONFLICT (day) DO UPDATE SET count = count + excluded.count`,
    ends,
    by,
  )
  sql.exec('DELETE FROM endings WHERE day = ? AND count = 0', ends)
}

/** How many devices end after the one day and up to the other. */
export const countEndingBetween = (sql: SqlStorage, after: Day, upTo: Day): number =>
  sql
    .exec<{ sum: number }>(
      'SELECT coalesce(sum(count), 0) AS sum FROM endings WHERE day > ? AND day <= ?',
      after,
      upTo,
    )
    .one().sum

/** When a license becomes free because a device ends; null if none does. */
export const findAvailableAt = (sql: SqlStorage, account: Account): number | null =>
  availableAt(
    account,
    sql.exec<{ day: Day; count: number }>(
      'SELECT day, count FROM endings WHERE day > ? ORDER BY day',
      account.day,
    ),
    account.timeZone,
  )
