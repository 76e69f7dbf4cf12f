import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { zones } from '../db/schema.ts'
import { compile, readAll, readFirst, type Statement, statement } from '../db/statement.ts'
import type { Zone, ZoneShape } from '../domain/geo/zone.ts'

export interface ZoneRow {
  id: string
  name: string
  description: string
  color: string
  shape: string
  creation: number
  last_modified: number
  version: number
}

export const toZone = (row: ZoneRow): Zone => ({
  id: row.id,
  name: row.name,
  description: row.description,
  color: row.color,
  shape: JSON.parse(row.shape) as ZoneShape,
  creation: row.creation,
  lastModified: row.last_modified,
  version: row.version,
})

export const isOwnZone = (accountId: string, id: string): SQL | undefined =>
  and(eq(zones.id, id), eq(zones.accountId, accountId))

export const selectZone = (db: Database, accountId: string, id: string): Statement<ZoneRow> =>
  statement(db, sql`SELECT * FROM ${zones} WHERE ${isOwnZone(accountId, id)}`)

export const findZone = async (
  db: Database,
  accountId: string,
  id: string,
): Promise<Zone | null> => {
  const row = await readFirst(selectZone(db, accountId, id))
  return row && toZone(row)
}

/** In the order of their ids, those after `after`. */
export const listZones = async (
  db: Database,
  accountId: string,
  after: string,
  limit: number,
): Promise<Zone[]> => {
  const rows = await readAll(
    statement<ZoneRow>(
      db,
      sql`SELECT * FROM ${zones} WHERE ${zones.accountId} = ${accountId} AND ${zones.id} > ${after}
        ORDER BY ${zones.id} LIMIT ${limit}`,
    ),
  )
  return rows.map(toZone)
}

/** The zones of a JSON list of ids. */
export const selectZonesOf = compile<{ accountId: string; ids: string }, ZoneRow>(
  sql`SELECT ${zones}.* FROM json_each(${sql.placeholder('ids')}) listed
    CROSS JOIN ${zones} ON ${zones.id} = listed.value
      AND ${zones.accountId} = ${sql.placeholder('accountId')}`,
)
