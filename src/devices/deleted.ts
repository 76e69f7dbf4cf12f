import { sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { byId, type Page, type Position, toPage } from '../db/page.ts'
import type { Viewer } from '../db/queries/visibility.ts'
import { json, select } from '../db/query.ts'
import { accounts, tombstones } from '../db/schema.ts'
import { readAll, readFirst, statement } from '../db/statement.ts'
import type { Device } from '../domain/account/device.ts'
import { RESTORE_DEVICE_DAYS } from '../domain/admin/status.ts'
import { iso } from '../domain/time/iso.ts'
import { NO_EXTRAS, presentDevice } from './present.ts'

/* Devices that were deleted and can be restored. */

const RESTORE_MS = RESTORE_DEVICE_DAYS * 86_400_000

const COLUMNS = {
  id: tombstones.id,
  deletedAt: tombstones.creation,
  device: json<Device>(sql`${tombstones.device}`),
  groups: tombstones.groups,
  day: accounts.day,
  timeZone: accounts.timeZone,
}

/** Those that the viewer saw when they were deleted. */
const selectDeleted = ({ accountId, groupId }: Viewer, now: number, rest = sql``) =>
  select(
    COLUMNS,
    sql`FROM ${tombstones} CROSS JOIN ${accounts} ON ${accounts.id} = ${tombstones.accountId}
      WHERE ${tombstones.accountId} = ${accountId} AND ${tombstones.device} IS NOT NULL
        AND ${tombstones.creation} > ${now - RESTORE_MS}
        AND (${groupId} IS NULL OR EXISTS (SELECT 1 FROM json_each(${tombstones.groups}) last
          WHERE last.value = ${groupId})) ${rest}`,
  )

type DeletedRow = Awaited<ReturnType<typeof readDeleted>>[number]
const readDeleted = (db: Database, query: ReturnType<typeof selectDeleted>) =>
  readAll(statement(db, query))

export const listDeleted = async (
  db: Database,
  viewer: Viewer,
  { after: [after = ''], limit, now }: { after: Position; limit: number; now: number },
): Promise<Page<DeletedRow>> => {
  const rest = sql`AND ${tombstones.id} > ${String(after)} ORDER BY ${tombstones.id} LIMIT ${limit + 1}`
  return toPage(await readDeleted(db, selectDeleted(viewer, now, rest)), limit, byId)
}

/** Whether the viewer saw a device that can be restored. */
export const sawDeleted = async (
  db: Database,
  viewer: Viewer,
  id: string,
  now: number,
): Promise<boolean> => {
  const found = selectDeleted(viewer, now, sql`AND ${tombstones.id} = ${id}`)
  return (await readFirst(statement(db, found))) !== null
}

/** A confined viewer sees no group but its own. */
export const presentDeleted = (row: DeletedRow, { groupId }: Viewer, now: number) => {
  const { device, deletedAt, groups, day, timeZone } = row
  const own = groups.filter((group) => groupId === null || group === groupId)
  return {
    ...presentDevice(device, { day, timeZone }, { ...NO_EXTRAS, groups: own }, now),
    deletedAt: iso(deletedAt),
    restorableUntil: iso(deletedAt + RESTORE_MS),
  }
}
