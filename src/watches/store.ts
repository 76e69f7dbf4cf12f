import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { byId, type Page, toPage } from '../db/page.ts'
import { ownedRows } from '../db/queries/owned.ts'
import { isVisible, type Viewer } from '../db/queries/visibility.ts'
import { select } from '../db/query.ts'
import { devices, watches } from '../db/schema.ts'
import { readAll, readFirst, statement } from '../db/statement.ts'
import type { Watch } from '../domain/watch/watch.ts'
import { toWatch, WATCH_COLUMNS, WATCHES_WITH_DEVICES } from './rows.ts'

const selectWatches = (rest: SQL) =>
  select(WATCH_COLUMNS, sql`FROM ${WATCHES_WITH_DEVICES} ${rest}`).map(toWatch)

export const ownWatches = ownedRows('watch', watches, selectWatches)

/** Confined users see the watches of devices that they see. */
export const findVisibleWatch = (
  db: Database,
  { accountId, groupId }: Viewer,
  id: string,
): Promise<Watch | null> =>
  readFirst(
    statement(
      db,
      selectWatches(sql`WHERE ${ownWatches.isOwn(accountId, id)}
        AND ${isVisible(watches.deviceKey, groupId)}`),
    ),
  )

interface Listing {
  after: string
  limit: number
  deviceId?: string | undefined
}

/** In the order in which they were created. */
export const listWatches = async (
  db: Database,
  { accountId, groupId }: Viewer,
  { after, limit, deviceId }: Listing,
): Promise<Page<Watch>> => {
  const isOfDevice =
    deviceId === undefined
      ? sql`true`
      : sql`${watches.deviceKey} = (SELECT ${devices.key} FROM ${devices}
          WHERE ${devices.id} = ${deviceId} AND ${devices.accountId} = ${accountId})`
  const rows = selectWatches(sql`WHERE ${watches.accountId} = ${accountId}
    AND ${watches.id} > ${after} AND ${isOfDevice} AND ${isVisible(watches.deviceKey, groupId)}
    ORDER BY ${watches.id} LIMIT ${limit + 1}`)
  return toPage(await readAll(statement(db, rows)), limit, byId)
}

/** The watches of a device that wait for a check-in, oldest first. */
export const readRunning = (db: Database, accountId: string, deviceKey: number): Promise<Watch[]> =>
  readAll(
    statement(
      db,
      selectWatches(sql`WHERE ${watches.deviceKey} = ${deviceKey}
        AND +${watches.accountId} = ${accountId} AND ${watches.state} IN ('active', 'overdue')
        ORDER BY ${watches.id}`),
    ),
  )

/** The key of a device that the viewer can see. */
export const findDeviceKey = async (
  db: Database,
  { accountId, groupId }: Viewer,
  deviceId: string,
): Promise<number | null> => {
  const found = select(
    { key: devices.key },
    sql`FROM ${devices} WHERE ${devices.id} = ${deviceId} AND ${devices.accountId} = ${accountId}
      AND ${isVisible(devices.key, groupId)}`,
  )
  return (await readFirst(statement(db, found)))?.key ?? null
}
