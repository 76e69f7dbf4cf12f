import { and, eq, sql } from 'drizzle-orm'
import type { Database } from '../../db/open.ts'
import { LOCATION_COLUMNS, STORED_BYTES } from '../../db/queries/locations.ts'
import { select } from '../../db/query.ts'
import { archivedMonths, locations } from '../../db/schema.ts'
import { readAll, statement } from '../../db/statement.ts'
import { openMonth, readRows } from '../../locations/history/monthFile.ts'
import type { TrackRow } from '../../locations/history/parquet.ts'
import { log } from '../../log.ts'
import { deleteLocations, LOCATION_PAGE, LOCATION_QUERIES } from '../deletion/deletePage.ts'
import type { TakeQueries } from '../run.ts'

/*
 * Deletes the rows of a recorded month from the cell, row group by row group. A row goes only if the
 * object, read back, has the same values; what has arrived since is not in the object and stays.
 */

const GROUP_PAGES = 2
/** Of one row group: reading and deleting its pages, and how far it has come. */
export const GROUP_QUERIES = GROUP_PAGES * (1 + LOCATION_QUERIES) + 1

type ArchivedMonth = typeof archivedMonths.$inferSelect

const COLUMNS = { deviceKey: locations.deviceKey, ...LOCATION_COLUMNS }
const MEMBERS = Object.keys(COLUMNS) as (keyof TrackRow)[]

const keysOf = (rows: readonly TrackRow[]): string =>
  JSON.stringify(rows.map(({ deviceKey, time }) => [deviceKey, time]))

const fromKeys = (keys: string) => sql`FROM json_each(${keys}) named
  CROSS JOIN ${locations} ON ${locations.deviceKey} = named.value ->> 0
    AND ${locations.time} = named.value ->> 1`

/** Deletes those of the rows that the cell has too. Returns how many have other values there. */
const deleteEqual = async (
  db: Database,
  accountId: string,
  rows: readonly TrackRow[],
): Promise<number> => {
  const stored = await readAll(statement(db, select(COLUMNS, fromKeys(keysOf(rows)))))
  const archived = new Map(rows.map((row) => [`${row.deviceKey} ${row.time}`, row]))
  const equal = stored.filter((row) => {
    const other = archived.get(`${row.deviceKey} ${row.time}`)
    return other && MEMBERS.every((member) => row[member] === other[member])
  })
  if (equal.length > 0)
    await deleteLocations(
      db,
      sql`SELECT ${locations.deviceKey}, ${locations.time}, ${accountId} AS account_id,
        ${STORED_BYTES} AS bytes ${fromKeys(keysOf(equal))} ORDER BY named.key`,
    )
  return stored.length - equal.length
}

/** Goes on with a month. False when the run may make no more queries. */
export const deleteMonth = async (
  { bucket, db, take }: { bucket: R2Bucket; db: Database; take: TakeQueries },
  archived: ArchivedMonth,
): Promise<boolean> => {
  const { accountId, month, object } = archived
  const file = await openMonth(bucket, archived)
  const isMonth = and(
    eq(archivedMonths.accountId, accountId),
    eq(archivedMonths.month, month),
    eq(archivedMonths.object, object),
  )
  for (let group = archived.nextGroup ?? 0; take(GROUP_QUERIES); group++) {
    const rows = await readRows(file, group)
    let different = 0
    for (let at = 0; rows && at < rows.length; at += LOCATION_PAGE)
      different += await deleteEqual(db, accountId, rows.slice(at, at + LOCATION_PAGE))
    if (different > 0)
      log('error', { event: 'history-differs', account: accountId, month, rows: different })
    const nextGroup = rows ? group + 1 : null
    await db.update(archivedMonths).set({ nextGroup }).where(isMonth)
    if (!rows) return true
  }
  return false
}
