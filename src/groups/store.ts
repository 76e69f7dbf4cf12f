import { eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { byId, type Page, type Position, toPage } from '../db/page.ts'
import { ownedRows } from '../db/queries/owned.ts'
import type { Viewer } from '../db/queries/visibility.ts'
import { select } from '../db/query.ts'
import { devices, groupDevices, groups } from '../db/schema.ts'
import { readFirst, runBatch, statement } from '../db/statement.ts'
import { readTextAfter, textPosition } from '../db/textPosition.ts'
import { type Group, MAX_GROUP_DEVICES } from '../domain/account/group.ts'
import { fold, PREFIX_END } from '../domain/text/fold.ts'

type Row = typeof groups.$inferSelect

const toGroup = (
  { id, name, description, creation, lastModified, version }: Row,
  members: { id: string }[],
): Group => {
  const ids = members.map((device) => device.id)
  return { id, name, description, devices: ids, creation, lastModified, version }
}

export const ownGroups = ownedRows('group', groups, (where: SQL) =>
  select(getTableColumns(groups), sql`FROM ${groups} ${where}`),
)

/** Statements that read a group and its devices; `toFoundGroup` takes their two results. */
export const selectGroup = (accountId: string, id: string) => ({
  group: ownGroups.selectOne(accountId, id),
  members: select(
    { id: devices.id },
    sql`FROM ${groupDevices} CROSS JOIN ${devices} ON ${devices.key} = ${groupDevices.deviceKey}
      WHERE ${groupDevices.groupId} = ${id} AND ${groupDevices.accountId} = ${accountId}
      ORDER BY ${groupDevices.deviceKey}`,
  ),
})

interface FoundGroup {
  group: D1Result<Row>
  members: D1Result<{ id: string }>
}

export const toFoundGroup = ({ group, members }: FoundGroup): Group | null =>
  group.results[0] ? toGroup(group.results[0], members.results) : null

export const findGroup = async (
  db: Database,
  accountId: string,
  id: string,
): Promise<Group | null> => toFoundGroup(await runBatch(db, selectGroup(accountId, id)))

/** A confined user sees only its own group. */
export const findVisibleGroup = async (
  db: Database,
  { accountId, groupId }: Viewer,
  id: string,
): Promise<Group | null> =>
  groupId === null || groupId === id ? findGroup(db, accountId, id) : null

/** Above the most that one group can have, so that every page has at least one group. */
const MAX_LISTED_DEVICES = 2 * MAX_GROUP_DEVICES

interface Listing {
  /** Where the page before ended: the id, or in a search the folded name with the id. */
  after: Position
  /** A folded prefix of the name. */
  q?: string | undefined
  limit: number
}

/** Both statements read the same range of one index, the second with the groups' devices. */
const selectPage = (accountId: string, after: string, { q, limit }: Listing) => {
  const [order, index] =
    q === undefined ? [groups.id, 'groups_account'] : [groups.nameKey, 'groups_name']
  const from = sql`${groups} INDEXED BY ${sql.identifier(index)}`
  // One lower and one upper bound: of two, SQLite may seek to the wrong one.
  const isAfter = q !== undefined && q > after ? sql`${order} >= ${q}` : sql`${order} > ${after}`
  const last = (q ?? '') + PREFIX_END
  const where = sql`${groups.accountId} = ${accountId} AND ${isAfter}`
  const end = sql`SELECT ${order} FROM ${from} WHERE ${where} AND ${order} < ${last}
    ORDER BY ${order} LIMIT 1 OFFSET ${limit - 1}`
  return {
    rows: select(
      getTableColumns(groups),
      sql`FROM ${from} WHERE ${where} AND ${order} < ${last}
        ORDER BY ${order} LIMIT ${limit + 1}`,
    ),
    members: select(
      { groupId: groups.id, id: devices.id },
      sql`FROM ${from}
        CROSS JOIN ${groupDevices} ON ${groupDevices.groupId} = ${groups.id}
        CROSS JOIN ${devices} ON ${devices.key} = ${groupDevices.deviceKey}
        WHERE ${where} AND ${order} <= ifnull((${end}), ${last})
        ORDER BY ${order}, ${groupDevices.deviceKey} LIMIT ${MAX_LISTED_DEVICES + 1}`,
    ),
  }
}

const listConfined = async (
  db: Database,
  accountId: string,
  groupId: string,
  q = '',
): Promise<Page<Group>> => {
  const group = await findGroup(db, accountId, groupId)
  return { rows: group && fold(group.name).startsWith(q) ? [group] : [], next: null }
}

/** Groups in the order of their ids or, with `q`, of their names. */
export const listGroups = async (
  db: Database,
  { accountId, groupId }: Viewer,
  listing: Listing,
): Promise<Page<Group>> => {
  const { q, limit } = listing
  if (groupId !== null) return listConfined(db, accountId, groupId, q)
  const readName = async () => {
    const last = await findGroup(db, accountId, String(listing.after[1]))
    return last && fold(last.name)
  }
  const after = await readTextAfter(listing.after, readName)
  const found = await runBatch(db, selectPage(accountId, after, listing))
  const [rows, members] = [found.rows.results, found.members.results]
  // Where the devices were cut off, the last group may lack some: it begins the next page.
  const lastListed = members.length > MAX_LISTED_DEVICES ? members.at(-1)?.groupId : undefined
  const cut = lastListed === undefined ? limit : rows.findIndex(({ id }) => id === lastListed)
  const positionOf = (row: Row) => (q === undefined ? byId(row) : textPosition(row.nameKey, row.id))
  const page = toPage(rows, Math.min(cut, limit), positionOf)
  const byGroup = Map.groupBy(members, (member) => member.groupId)
  return { ...page, rows: page.rows.map((row) => toGroup(row, byGroup.get(row.id) ?? [])) }
}

/** The id of a group named by its id or its folded name; an id wins where a name looks like one. */
export const resolveGroup = async (
  db: Database,
  accountId: string,
  { id, nameKey }: { id: string; nameKey: string },
): Promise<string | null> => {
  const own = sql`SELECT ${groups.id} FROM ${groups} WHERE ${groups.accountId} = ${accountId}`
  const found = select(
    {
      id: sql<string | null>`coalesce((${own} AND ${groups.id} = ${id}),
        (${own} AND ${groups.nameKey} = ${nameKey}))`,
    },
    sql``,
  )
  return (await readFirst(statement(db, found)))?.id ?? null
}

/** A device created for a full group would join none, and its creator could not see it. */
export const isFull = async (db: Database, groupId: string): Promise<boolean> => {
  const found = await db
    .select({ key: groupDevices.deviceKey })
    .from(groupDevices)
    .where(eq(groupDevices.groupId, groupId))
    .limit(1)
    .offset(MAX_GROUP_DEVICES - 1)
  return found.length > 0
}
