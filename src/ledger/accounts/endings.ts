import { deleteRows, insertRow, query, readValue, selectRows } from '../../db/objectTable.ts'
import type { Account } from '../../domain/account/account.ts'
import { availableAt, type Ends } from '../../domain/account/license.ts'
import type { Day } from '../../domain/time/day.ts'
import { endings } from '../tables.ts'

/* How many devices end on which day, updated with every change: counting devices would be slow. */

export const addEnding = (sql: SqlStorage, ends: Ends, by: 1 | -1): void => {
  if (ends === null) return
  const count = query`${endings.count} + ${by}`
  insertRow(sql, endings, { day: ends, count: by }, { count })
  deleteRows(sql, endings, { day: ends, count: 0 })
}

/** How many devices end after the one day and up to the other. */
export const countEndingBetween = (sql: SqlStorage, after: Day, upTo: Day): number =>
  readValue<number>(
    sql,
    query`SELECT coalesce(sum(${endings.count}), 0) FROM ${endings}
      WHERE ${endings.day} > ${after} AND ${endings.day} <= ${upTo}`,
  )

/** When a license becomes free because a device ends; null if none does. */
export const findAvailableAt = (sql: SqlStorage, account: Account): number | null =>
  availableAt(
    account,
    selectRows(sql, endings, query`${endings.day} > ${account.day} ORDER BY ${endings.day}`),
    account.timeZone,
  )
