import { and, asc, eq, gt, gte, lt, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { users } from '../db/schema.ts'
import type { UserRecord } from '../domain/user.ts'

export interface User extends UserRecord {
  id: string
  creation: number
  modification: number
  lastLogin: number | null
  version: number
}

type Row = typeof users.$inferSelect

const toUser = (row: Row): User => {
  const {
    accountId,
    nameKey,
    emailKey,
    password,
    notifyEmail,
    notifySms,
    groupId,
    fromTime,
    ...rest
  } = row
  return { ...rest, notify: { email: notifyEmail, sms: notifySms }, group: groupId, from: fromTime }
}

export const findUser = async (
  db: Database,
  accountId: string,
  id: string,
): Promise<User | null> => {
  const [row] = await db
    .select()
    .from(users)
    .where(and(eq(users.id, id), eq(users.accountId, accountId)))
  return row ? toUser(row) : null
}

/** Where a page ended: in the order of ids or, in a search, first of names, then of e-mails. */
export type Position = [by: 'id' | 'name' | 'email', key: string, id: string]

export interface UserPage {
  users: User[]
  next: Position | null
}

const select = (
  db: Database,
  accountId: string,
  where: SQL | undefined,
  order: SQL[],
  limit: number,
): Promise<Row[]> =>
  db
    .select()
    .from(users)
    .where(and(eq(users.accountId, accountId), where))
    .orderBy(...order)
    .limit(limit)

const startsWith = (column: typeof users.nameKey | typeof users.emailKey, prefix: string) =>
  and(gte(column, prefix), lt(column, `${prefix}\u{10ffff}`))

const pageOf = (rows: Row[], limit: number, by: Position[0]): UserPage => {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  const key = by === 'email' ? last?.emailKey : last?.nameKey
  return {
    users: page.map(toUser),
    next: last && rows.length > limit ? [by, by === 'id' ? '' : (key ?? ''), last.id] : null,
  }
}

export const listUsers = async (
  db: Database,
  accountId: string,
  after: string,
  limit: number,
): Promise<UserPage> =>
  pageOf(await select(db, accountId, gt(users.id, after), [asc(users.id)], limit + 1), limit, 'id')

/**
 * Users whose name or e-mail begins with a (folded) prefix. By e-mail come those whose name does not begin so; they are sorted
 * out here, not in SQL, so that a page reads a page's rows: it may be shorter.
 */
export const searchUsers = async (
  db: Database,
  accountId: string,
  q: string,
  after: Position | null,
  limit: number,
): Promise<UserPage> => {
  const [by, key, id] = after ?? ['name', '', '']
  let named: UserPage = { users: [], next: null }
  if (by === 'name') {
    const beyond = and(
      startsWith(users.nameKey, q),
      sql`(${users.nameKey}, ${users.id}) > (${key}, ${id})`,
    )
    named = pageOf(
      await select(db, accountId, beyond, [asc(users.nameKey), asc(users.id)], limit + 1),
      limit,
      'name',
    )
    if (named.next) return named
  }
  const room = limit - named.users.length
  if (room === 0) return { ...named, next: ['email', '', ''] }
  const beyond = and(startsWith(users.emailKey, q), gt(users.emailKey, by === 'email' ? key : ''))
  const rows = await select(db, accountId, beyond, [asc(users.emailKey)], room + 1)
  const { next } = pageOf(rows, room, 'email')
  const found = rows.slice(0, room).filter(({ nameKey }) => !nameKey.startsWith(q))
  return { users: [...named.users, ...found.map(toUser)], next }
}

const MAX_ADMINISTRATORS = 100

/** Who is told of what concerns the account: those who may change it, are not confined, may act now and read e-mail. */
export const readAdministrators = async (
  { $client: db }: Database,
  accountId: string,
  now: number,
): Promise<{ email: string; timeZone: string }[]> => {
  const { results } = await db
    .prepare(
      `SELECT email, time_zone AS timeZone FROM users u WHERE account_id = ?1 AND group_id IS NULL AND disabled = 0 AND notify_email = 1
         AND (from_time IS NULL OR from_time <= ?2) AND (expires IS NULL OR expires > ?2)
         AND EXISTS (SELECT 1 FROM json_each(u.privileges) WHERE value = 'admin') ORDER BY id LIMIT ${MAX_ADMINISTRATORS}`,
    )
    .bind(accountId, now)
    .all<{ email: string; timeZone: string }>()
  return results
}
