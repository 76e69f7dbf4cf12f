import { and, asc, eq, getTableColumns, gt, isNull, lte, or, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { type Page, type Position, toPage } from '../db/page.ts'
import { ownedRows } from '../db/queries/owned.ts'
import { type InferRow, nullable, select } from '../db/query.ts'
import { groups, users } from '../db/schema.ts'
import { readAll, statement } from '../db/statement.ts'
import { readTextAfter, textPosition } from '../db/textPosition.ts'
import { emailKey } from '../domain/message/email.ts'
import { fold, PREFIX_END } from '../domain/text/fold.ts'

const COLUMNS = { ...getTableColumns(users), groupName: nullable(groups.name) }
type Row = InferRow<typeof COLUMNS>

const selectRows = (where: SQL) =>
  select(
    COLUMNS,
    sql`FROM ${users} LEFT JOIN ${groups} ON ${groups.id} = ${users.groupId} ${where}`,
  )

/** With the name of the group that the user is confined to. */
export type User = ReturnType<typeof toUser>

const toUser = (row: Row) => {
  const { accountId, nameKey, emailKey, password, lastDisabled, ...shown } = row
  const { notifyEmail, notifySms, notifyPush, notifyVoice, ...others } = shown
  const { fromTime, lastRefresh, invitedAt, ...rest } = others
  return {
    ...rest,
    notify: { email: notifyEmail, sms: notifySms, push: notifyPush, voice: notifyVoice },
    from: fromTime,
    lastSeen: Math.max(rest.lastLogin ?? 0, lastRefresh ?? 0) || null,
    invited: invitedAt !== null && password === null,
  }
}

export const ownUsers = ownedRows('user', users, (where) => selectRows(where).map(toUser))
export const findUser = ownUsers.find

interface Search {
  accountId: string
  /** A folded prefix of the name or the e-mail address. */
  q: string
  /** Where the page before ended: first in the order of names, then in that of e-mails. */
  after: Position
  limit: number
}

const selectMatches = (
  db: Database,
  { accountId, q, limit }: Search,
  column: typeof users.nameKey | typeof users.emailKey,
  isAfter: SQL,
): Promise<Row[]> =>
  readAll(
    statement(
      db,
      selectRows(sql`WHERE ${users.accountId} = ${accountId} AND ${column} >= ${q}
        AND ${column} < ${q + PREFIX_END} AND ${isAfter}
        ORDER BY ${column}, ${users.id} LIMIT ${limit + 1}`),
    ),
  )

/**
 * Users whose name or e-mail begins with the prefix: by name, then by e-mail those whose name does
 * not match. Filtering these here, not in SQL, keeps the rows read to those of a page.
 */
export const searchUsers = async (db: Database, search: Search): Promise<Page<User>> => {
  const [by = 'name', ...position] = search.after
  const [, id = ''] = position
  const key = await readTextAfter(position, async () => {
    const last = await findUser(db, search.accountId, String(id))
    return last && (by === 'name' ? fold(last.name) : emailKey(last.email))
  })
  let named: Row[] = []
  if (by === 'name') {
    const isAfter = sql`(${users.nameKey}, ${users.id}) > (${key}, ${id})`
    const rows = await selectMatches(db, search, users.nameKey, isAfter)
    const page = toPage(rows, search.limit, ({ nameKey, id }) => [
      'name',
      ...textPosition(nameKey, id),
    ])
    if (page.next) return { ...page, rows: page.rows.map(toUser) }
    named = page.rows
  }
  const limit = search.limit - named.length
  if (limit === 0) return { rows: named.map(toUser), next: ['email', '', ''] }
  const isAfter = gt(users.emailKey, by === 'email' ? key : '')
  const rows = await selectMatches(db, { ...search, limit }, users.emailKey, isAfter)
  const { next, ...page } = toPage(rows, limit, (last) => [
    'email',
    ...textPosition(last.emailKey, last.id),
  ])
  const mailed = page.rows.filter(({ nameKey }) => !nameKey.startsWith(search.q))
  return { rows: [...named, ...mailed].map(toUser), next }
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
