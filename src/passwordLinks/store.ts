import { sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { accounts, users } from '../db/schema.ts'
import { names, readFirst, runBatch, statement } from '../db/statement.ts'
import { endSessionsIf } from '../sessions/store.ts'

/** A user as a password link sees it. */
export interface LinkedUser {
  id: string
  accountId: string
  accountUserName: string
  accountName: string
  isAccountDisabled: boolean
  name: string
  email: string
  emailKey: string
  timeZone: string
  /** The present password hash. */
  password: string | null
  disabled: boolean
  disabledMessage: string
}

interface Row {
  id: string
  account_id: string
  user_name: string
  account_name: string
  account_disabled: number
  name: string
  email: string
  email_key: string
  time_zone: string
  password: string | null
  disabled: number
  disabled_message: string
}

const COLUMNS = sql`SELECT ${users.id} AS id, ${users.accountId} AS account_id,
    ${accounts.userName} AS user_name, ${accounts.name} AS account_name,
    ${accounts.disabled} AS account_disabled, ${users.name} AS name, ${users.email} AS email,
    ${users.emailKey} AS email_key, ${users.timeZone} AS time_zone, ${users.password} AS password,
    ${users.disabled} AS disabled, ${users.disabledMessage} AS disabled_message
  FROM ${users} JOIN ${accounts} ON ${accounts.id} = ${users.accountId}`

const toLinkedUser = (row: Row): LinkedUser => ({
  id: row.id,
  accountId: row.account_id,
  accountUserName: row.user_name,
  accountName: row.account_name,
  isAccountDisabled: row.account_disabled === 1,
  name: row.name,
  email: row.email,
  emailKey: row.email_key,
  timeZone: row.time_zone,
  password: row.password,
  disabled: row.disabled === 1,
  disabledMessage: row.disabled_message,
})

/** The user that a link names. The link's signature covers the account. */
export const findLinkedUser = async (db: Database, id: string): Promise<LinkedUser | null> => {
  const row = await readFirst(statement<Row>(db, sql`${COLUMNS} WHERE ${users.id} = ${id}`))
  return row && toLinkedUser(row)
}

export const findUserByEmail = async (
  db: Database,
  accountId: string,
  emailKey: string,
): Promise<LinkedUser | null> => {
  const isWanted = sql`${users.accountId} = ${accountId} AND ${users.emailKey} = ${emailKey}`
  const row = await readFirst(statement<Row>(db, sql`${COLUMNS} WHERE ${isWanted}`))
  return row && toLinkedUser(row)
}

/**
 * Sets the new hash and ends all sessions, while password and e-mail are still those that the link
 * covers: of two uses at the same time one fails.
 */
export const replacePassword = async (
  db: Database,
  { id, accountId, emailKey, password: before }: LinkedUser,
  after: string,
  now: number,
): Promise<boolean> => {
  const own = sql`${users.id} = ${id} AND ${users.accountId} = ${accountId}`
  const [changed] = await runBatch(db, [
    statement<{ id: string }>(
      db,
      sql`UPDATE ${users} SET ${names(users.password)} = ${after},
          ${names(users.modification)} = ${now}, ${names(users.version)} = ${users.version} + 1
        WHERE ${own} AND ${users.password} IS ${before} AND ${users.emailKey} = ${emailKey}
        RETURNING ${names(users.id)}`,
    ),
    endSessionsIf(
      db,
      accountId,
      id,
      sql`EXISTS (SELECT 1 FROM ${users} WHERE ${own} AND ${users.password} = ${after})`,
    ),
  ])
  return changed.results.length === 1
}
