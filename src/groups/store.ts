import { and, eq, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { devices, groupDevices, groups } from '../db/schema.ts'
import { readFirst, runBatch, type Statement, statement } from '../db/statement.ts'
import { type Group, MAX_GROUP_DEVICES } from '../domain/account/group.ts'

interface Row {
  id: string
  name: string
  name_key: string
  description: string
  creation: number
  last_modified: number
  version: number
}

const toGroup = (row: Row, members: { id: string }[]): Group => {
  const { id, name, description, creation, version } = row
  const ids = members.map((device) => device.id)
  return { id, name, description, devices: ids, creation, lastModified: row.last_modified, version }
}

/** Statements that read a group and its devices; `toFoundGroup` takes their two results. */
export const selectGroup = (db: Database, accountId: string, id: string) =>
  [
    statement<Row>(
      db,
      sql`SELECT * FROM ${groups} WHERE ${and(eq(groups.id, id), eq(groups.accountId, accountId))}`,
    ),
    statement<{ id: string }>(
      db,
      sql`SELECT ${devices.id} FROM ${groupDevices}
        CROSS JOIN ${devices} ON ${devices.key} = ${groupDevices.deviceKey}
        WHERE ${groupDevices.groupId} = ${id} AND ${groupDevices.accountId} = ${accountId}
        ORDER BY ${groupDevices.deviceKey}`,
    ),
  ] as const

export const toFoundGroup = (
  { results: [row] }: D1Result<Row>,
  { results: members }: D1Result<{ id: string }>,
): Group | null => (row ? toGroup(row, members) : null)

export const findGroup = async (
  db: Database,
  accountId: string,
  id: string,
): Promise<Group | null> => toFoundGroup(...(await runBatch(db, selectGroup(db, accountId, id))))

/** Above the most that one group can have, so that every page has at least one group. */
const MAX_LISTED_DEVICES = 2 * MAX_GROUP_DEVICES
/** Sorts after every text that begins with a prefix. */
const PREFIX_END = '\u{10ffff}'

export interface GroupListing {
  accountId: string
  /** The id, or in a search the folded name, that the page before ended with. */
  after: string
  /** A folded prefix of the name. */
  q: string | undefined
  limit: number
}

type MemberRow = { in_group: string; id: string }

/** Both statements read the same range of one index, the second with the groups' devices. */
const selectPage = (
  db: Database,
  { accountId, after, q, limit }: GroupListing,
): [Statement<Row>, Statement<MemberRow>] => {
  const [order, index] =
    q === undefined ? [groups.id, 'groups_account'] : [groups.nameKey, 'groups_name']
  const from = sql`${groups} INDEXED BY ${sql.identifier(index)}`
  // One lower and one upper bound: of two, SQLite may seek to the wrong one.
  const isAfter = q !== undefined && q > after ? sql`${order} >= ${q}` : sql`${order} > ${after}`
  const last = (q ?? '') + PREFIX_END
  const where = sql`${groups.accountId} = ${accountId} AND ${isAfter}`
  const end = sql`SELECT ${order} FROM ${from} WHERE ${where} AND ${order} < ${last}
    ORDER BY ${order} LIMIT 1 OFFSET ${limit - 1}`
  return [
    statement(
      db,
      sql`SELECT ${groups}.* FROM ${from} WHERE ${where} AND ${order} < ${last}
        ORDER BY ${order} LIMIT ${limit + 1}`,
    ),
    statement(
      db,
      sql`SELECT ${groups.id} AS in_group, ${devices.id} FROM ${from}
        CROSS JOIN ${groupDevices} ON ${groupDevices.groupId} = ${groups.id}
        CROSS JOIN ${devices} ON ${devices.key} = ${groupDevices.deviceKey}
        WHERE ${where} AND ${order} <= ifnull((${end}), ${last})
        ORDER BY ${order}, ${groupDevices.deviceKey} LIMIT ${MAX_LISTED_DEVICES + 1}`,
    ),
  ]
}

/** Groups in the order of their ids or, with `q`, of their names. */
export const listGroups = async (
  db: Database,
  listing: GroupListing,
): Promise<{ groups: Group[]; next: string | null }> => {
  const { q, limit } = listing
  const [{ results: rows }, { results: members }] = await runBatch(db, selectPage(db, listing))
  // Where the devices were cut off, the last group may lack some: it begins the next page.
  const lastListed = members.length > MAX_LISTED_DEVICES ? members.at(-1)?.in_group : undefined
  const cut = lastListed === undefined ? limit : rows.findIndex(({ id }) => id === lastListed)
  const page = rows.slice(0, Math.min(cut, limit))
  const byGroup = Map.groupBy(members, (member) => member.in_group)
  const last = page.at(-1)
  return {
    groups: page.map((row) => toGroup(row, byGroup.get(row.id) ?? [])),
    next: last && page.length < rows.length ? (q === undefined ? last.id : last.name_key) : null,
  }
}

/** The id of a group named by its id or its folded name; an id wins where a name looks like one. */
export const resolveGroup = async (
  db: Database,
  accountId: string,
  { id, nameKey }: { id: string; nameKey: string },
): Promise<string | null> => {
  const own = sql`SELECT ${groups.id} FROM ${groups} WHERE ${groups.accountId} = ${accountId}`
  const found = await readFirst(
    statement<{ id: string | null }>(
      db,
      sql`SELECT coalesce((${own} AND ${groups.id} = ${id}),
        (${own} AND ${groups.nameKey} = ${nameKey})) AS id`,
    ),
  )
  return found?.id ?? null
}

/** A device created for a full group would join none, and its creator could not see it. */
export const isFull = async (db: Database, groupId: string): Promise<boolean> => {
  const found = await readFirst(
    statement(
      db,
      sql`SELECT 1 FROM ${groupDevices} WHERE ${groupDevices.groupId} = ${groupId}
        LIMIT 1 OFFSET ${MAX_GROUP_DEVICES - 1}`,
    ),
  )
  return found !== null
}
