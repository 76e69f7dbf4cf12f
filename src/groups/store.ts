import type { Database } from '../db/open.ts'
import { type Group, MOST_GROUP_DEVICES } from '../domain/group.ts'

interface Row {
  id: string
  name: string
  name_key: string
  description: string
  creation: number
  last_modified: number
  version: number
}

const toGroup = (row: Row, devices: { id: string }[]): Group => {
  const { id, name, description, creation, version } = row
  return { id, name, description, devices: devices.map((device) => device.id), creation, lastModified: row.last_modified, version }
}

/** A group and its devices, for the end of a batch: then `readGroup` tells what the batch left behind. */
export const groupStatements = (db: D1Database, accountId: string, id: string): D1PreparedStatement[] => [
  db.prepare('SELECT * FROM groups WHERE id = ?1 AND account_id = ?2').bind(id, accountId),
  db
    .prepare(
      `SELECT d.id FROM group_devices m CROSS JOIN devices d ON d.key = m.device_key
       WHERE m.group_id = ?1 AND m.account_id = ?2 ORDER BY m.device_key`,
    )
    .bind(id, accountId),
]

export const readGroup = (results: D1Result[]): Group | null => {
  const [rows, devices] = results.slice(-2)
  const row = rows?.results[0] as Row | undefined
  return row ? toGroup(row, devices?.results as { id: string }[]) : null
}

export const findGroup = async ({ $client: db }: Database, accountId: string, id: string): Promise<Group | null> =>
  readGroup(await db.batch(groupStatements(db, accountId, id)))

/** Device ids in one page of groups: more than one group can have, so that every page has a group at least. */
const MOST_LISTED = 2 * MOST_GROUP_DEVICES

/** Both statements walk the same stretch of one index, the second into the groups' devices until it has enough. */
const pageStatements = (db: D1Database, accountId: string, after: string, q: string | undefined, limit: number) => {
  const [order, walked] = q === undefined ? ['g.id', 'groups_account'] : ['g.name_key', 'groups_name']
  const where = `g.account_id = ?1 AND ${order} > ?2${q === undefined ? '' : ' AND g.name_key >= ?3 AND g.name_key < ?4'}`
  const values = [accountId, after, ...(q === undefined ? [] : [q, `${q}\u{10ffff}`])]
  const from = `groups g INDEXED BY ${walked}`
  const end = `SELECT ${order} FROM ${from} WHERE ${where} ORDER BY ${order} LIMIT 1 OFFSET ${limit - 1}`
  return [
    db.prepare(`SELECT g.* FROM ${from} WHERE ${where} ORDER BY ${order} LIMIT ${limit + 1}`).bind(...values),
    db
      .prepare(
        `SELECT g.id AS in_group, d.id FROM ${from} CROSS JOIN group_devices m ON m.group_id = g.id
         CROSS JOIN devices d ON d.key = m.device_key WHERE ${where} AND ${order} <= ifnull((${end}), char(1114111)) ORDER BY ${order}, m.device_key LIMIT ${MOST_LISTED + 1}`,
      )
      .bind(...values),
  ]
}

/** Groups in the order of their ids or, where a (folded) prefix is asked for, of their names. */
export const listGroups = async (
  { $client: db }: Database,
  accountId: string,
  after: string,
  q: string | undefined,
  limit: number,
): Promise<{ groups: Group[]; next: string | null }> => {
  const [found, devices] = await db.batch(pageStatements(db, accountId, after, q, limit))
  const rows = found?.results as unknown as Row[]
  const members = devices?.results as unknown as { in_group: string; id: string }[]
  // Where the devices were cut short, the group that they end in may not be whole: it begins the next page.
  const cut = members.length > MOST_LISTED ? rows.findIndex(({ id }) => id === members.at(-1)?.in_group) : -1
  const page = rows.slice(0, cut === -1 ? limit : Math.min(cut, limit))
  const byGroup = Map.groupBy(members, (member) => member.in_group)
  const last = page.at(-1)
  return {
    groups: page.map((row) => toGroup(row, byGroup.get(row.id) ?? [])),
    next: last && page.length < rows.length ? (q === undefined ? last.id : last.name_key) : null,
  }
}

/** A user names a group by its id or its name; an id wins where a name looks like one. */
export const resolveGroup = async ({ $client: db }: Database, accountId: string, id: string, nameKey: string): Promise<string | null> => {
  const found = await db
    .prepare(
      `SELECT coalesce((SELECT id FROM groups WHERE id = ?1 AND account_id = ?2),
         (SELECT id FROM groups WHERE account_id = ?2 AND name_key = ?3)) AS id`,
    )
    .bind(id, accountId, nameKey)
    .first<{ id: string | null }>()
  return found?.id ?? null
}

/** What a user of a full group created would join no group, and its maker would not see it. */
export const isFull = async ({ $client: db }: Database, groupId: string): Promise<boolean> => {
  const found = await db
    .prepare('SELECT 1 FROM group_devices WHERE group_id = ?1 LIMIT 1 OFFSET ?2')
    .bind(groupId, MOST_GROUP_DEVICES - 1)
    .first()
  return found !== null
}
