import {
  and,
  asc,
  eq,
  getTableColumns,
  gt,
  gte,
  isNull,
  lt,
  lte,
  or,
  type SQL,
  sql,
} from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { groups, users } from '../db/schema.ts'
import type { UserRecord } from '../domain/account/user.ts'

export interface User extends UserRecord {
  id: string
  /** The name of the group that the user is confined to. */
  groupName: string | null
  creation: number
  modification: number
  lastLogin: number | null
  version: number
}

type Row = typeof users.$inferSelect & { groupName: string | null }

const toUser = (row: Row): User => {
  const { accountId, nameKey, emailKey, password, notifyEmail, notifySms, fromTime, ...rest } = row
  return { ...rest, notify: { email: notifyEmail, sms: notifySms }, from: fromTime }
}

const selectFrom = (db: Database) =>
  db
    .select({ ...getTableColumns(users), groupName: groups.name })
    .from(users)
    .leftJoin(groups, eq(groups.id, users.groupId))

export const findUser = async (
  db: Database,
  accountId: string,
  id: string,
): Promise<User | null> => {
  const isRequested = and(eq(users.id, id), eq(users.accountId, accountId))
  const [row] = await selectFrom(db).where(isRequested)
  return row ? toUser(row) : null
}

/** Where a page ended: in the order of ids or, in a search, of names and then of e-mails. */
export type Position = [by: 'id' | 'name' | 'email', key: string, id: string]

export interface UserPage {
  users: User[]
  next: Position | null
}

interface Selection {
  accountId: string
  where: SQL | undefined
  order: SQL[]
  limit: number
}

const selectUsers = (db: Database, { accountId, where, order, limit }: Selection): Promise<Row[]> =>
  selectFrom(db)
    .where(and(eq(users.accountId, accountId), where))
    .orderBy(...order)
    .limit(limit)

/** Sorts after every text that begins with a prefix. */
const PREFIX_END = '\u{10ffff}'

const startsWith = (column: typeof users.nameKey | typeof users.emailKey, prefix: string) =>
  and(gte(column, prefix), lt(column, prefix + PREFIX_END))

/** A page of `limit` users from up to `limit + 1` rows. */
const toPage = (rows: Row[], limit: number, by: Position[0]): UserPage => {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  const key = by === 'email' ? last?.emailKey : last?.nameKey
  return {
    users: page.map(toUser),
    next: last && rows.length > limit ? [by, by === 'id' ? '' : (key ?? ''), last.id] : null,
  }
}

export interface UserListing {
  accountId: string
  after: Position | null
  limit: number
}

export const listUsers = async (
  db: Database,
  { accountId, after, limit }: UserListing,
): Promise<UserPage> => {
  const where = gt(users.id, after?.[2] ?? '')
  const order = [asc(users.id)]
  return toPage(await selectUsers(db, { accountId, where, order, limit: limit + 1 }), limit, 'id')
}

/**
 * Users whose name or e-mail begins with the folded prefix `q`: by name, then by e-mail those whose
 * name does not match. Filtering these here, not in SQL, keeps the rows read to those of a page.
 */
export const searchUsers = async (
  db: Database,
  q: string,
  { accountId, after, limit }: UserListing,
): Promise<UserPage> => {
  const [by, key, id] = after ?? ['name', '', '']
  let byName: User[] = []
  if (by === 'name') {
    const isAfter = sql`(${users.nameKey}, ${users.id}) > (${key}, ${id})`
    const where = and(startsWith(users.nameKey, q), isAfter)
    const order = [asc(users.nameKey), asc(users.id)]
    const rows = await selectUsers(db, { accountId, where, order, limit: limit + 1 })
    const page = toPage(rows, limit, 'name')
    if (page.next) return page
    byName = page.users
  }
  const rest = limit - byName.length
  if (rest === 0) return { users: byName, next: ['email', '', ''] }
  const isAfter = gt(users.emailKey, by === 'email' ? key : '')
  const where = and(startsWith(users.emailKey, q), isAfter)
  const order = [asc(users.emailKey)]
  const rows = await selectUsers(db, { accountId, where, order, limit: rest + 1 })
  const { next } = toPage(rows, rest, 'email')
  const byEmail = rows.slice(0, rest).filter(({ nameKey }) => !nameKey.startsWith(q))
  return { users: [...byName, ...byEmail.map(toUser)], next }
}

const MAX_ADMINISTRATORS = 100

/** Receivers of account notices: active users with `admin`, e-mail and the whole account. */
export const readAdministrators = (
  db: Database,
  accountId: string,
  now: number,
): Promise<{ email: string; timeZone: string }[]> =>
  db
    .select({ email: users.email, timeZone: users.timeZone })
    .from(users)
    .where(
      and(
        eq(users.accountId, accountId),
        isNull(users.groupId),
        eq(users.disabled, false),
        eq(users.notifyEmail, true),
        or(isNull(users.fromTime), lte(users.fromTime, now)),
        or(isNull(users.expires), gt(users.expires, now)),
        sql`EXISTS (SELECT 1 FROM json_each(${users.privileges}) WHERE value = 'admin')`,
      ),
    )
    .orderBy(asc(users.id))
    .limit(MAX_ADMINISTRATORS)
