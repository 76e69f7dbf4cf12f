import { and, eq, getTableColumns, gt, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { select } from '../db/query.ts'
import { zones } from '../db/schema.ts'
import { compile, type Placeholders } from '../db/statement.ts'
import type { Zone } from '../domain/geo/zone.ts'

const { accountId: _accountId, vertices: _vertices, ...columns } = getTableColumns(zones)
/** The columns of a `Zone`. */
export const ZONE_COLUMNS = columns

export const isOwnZone = (accountId: string, id: string): SQL | undefined =>
  and(eq(zones.id, id), eq(zones.accountId, accountId))

export const selectZone = (db: Database, accountId: string, id: string) =>
  db.select(ZONE_COLUMNS).from(zones).where(isOwnZone(accountId, id))

export const findZone = (db: Database, accountId: string, id: string): Promise<Zone | undefined> =>
  selectZone(db, accountId, id).get()

/** In the order of their ids, those after `after`. */
export const listZones = (
  db: Database,
  accountId: string,
  after: string,
  limit: number,
): Promise<Zone[]> =>
  db
    .select(ZONE_COLUMNS)
    .from(zones)
    .where(and(eq(zones.accountId, accountId), gt(zones.id, after)))
    .orderBy(zones.id)
    .limit(limit)

/** The zones of a JSON list of ids. */
export const selectZonesOf = compile((p: Placeholders<{ accountId: string; ids: string }>) =>
  select(
    ZONE_COLUMNS,
    sql`FROM json_each(${p.ids}) listed
      CROSS JOIN ${zones} ON ${zones.id} = listed.value AND ${zones.accountId} = ${p.accountId}`,
  ),
)
