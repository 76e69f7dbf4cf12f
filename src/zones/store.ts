import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import { ownedRows } from '../db/queries/owned.ts'
import { select } from '../db/query.ts'
import { zones } from '../db/schema.ts'
import { compile, type Placeholders } from '../db/statement.ts'

const { accountId: _accountId, vertices: _vertices, ...columns } = getTableColumns(zones)
/** The columns of a `Zone`. */
export const ZONE_COLUMNS = columns

export const ownZones = ownedRows('zone', zones, (where: SQL) =>
  select(ZONE_COLUMNS, sql`FROM ${zones} ${where}`),
)

/** The zones of a JSON list of ids. */
export const selectZonesOf = compile((p: Placeholders<{ accountId: string; ids: string }>) =>
  select(
    ZONE_COLUMNS,
    sql`FROM json_each(${p.ids}) listed
      CROSS JOIN ${zones} ON ${zones.id} = listed.value AND ${zones.accountId} = ${p.accountId}`,
  ),
)
