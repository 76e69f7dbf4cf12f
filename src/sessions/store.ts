import { and, desc, eq, gt, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { accounts, sessions, users } from '../db/schema.ts'
import { compile, names, readFirst, runBatch, type Statement, statement } from '../db/statement.ts'
import { type Scope, toScopes } from '../domain/account/scope.ts'
import { MAX_SESSIONS_PER_USER, type SessionState, sessionEnd } from '../domain/account/session.ts'
import type { AccessPeriod } from '../domain/account/user.ts'

export type Session = typeof sessions.$inferSelect

/** The user of a sign-in or a session, with what decides whether a token is issued. */
export interface SignInUser extends AccessPeriod {
  userId: string
  accountId: string
  isAccountDisabled: boolean
  disabledMessage: string
  scopes: Scope[]
}

interface UserRow {
  user_id: string
  account_id: string
  account_disabled: number
  disabled: number
  disabled_message: string
  from_time: number | null
  expires: number | null
  privileges: string
}

const USER_COLUMNS = sql`${users.id} AS user_id, ${users.accountId} AS account_id,
  ${accounts.disabled} AS account_disabled, ${users.disabled} AS disabled,
  ${users.disabledMessage} AS disabled_message, ${users.fromTime} AS from_time,
  ${users.expires} AS expires, ${users.privileges} AS privileges`

const toSignInUser = (row: UserRow): SignInUser => ({
  userId: row.user_id,
  accountId: row.account_id,
  isAccountDisabled: row.account_disabled === 1,
  disabled: row.disabled === 1,
  disabledMessage: row.disabled_message,
  from: row.from_time,
  expires: row.expires,
  scopes: toScopes(JSON.parse(row.privileges)),
})

const selectUser = compile<
  { accountId: string; emailKey: string },
  UserRow & { password: string | null }
>(
  sql`SELECT ${USER_COLUMNS}, ${users.password}
    FROM ${users} JOIN ${accounts} ON ${accounts.id} = ${users.accountId}
    WHERE ${users.accountId} = ${sql.placeholder('accountId')}
      AND ${users.emailKey} = ${sql.placeholder('emailKey')}`,
)

/** The user with this e-mail address, and the password hash. */
export const findSignInUser = async (
  db: Database,
  accountId: string,
  emailKey: string,
): Promise<{ user: SignInUser; password: string | null } | null> => {
  const row = await readFirst(selectUser(db, { accountId, emailKey }))
  return row && { user: toSignInUser(row), password: row.password }
}

interface NewSession {
  id: string
  accountId: string
  userId: string
  /** The hash that the sign-in was checked against. */
  password: string
  userAgent: string
  now: number
}

const FIRST_COUNTER = 1

const NEW_COLUMNS = names(
  sessions.id,
  sessions.accountId,
  sessions.userId,
  sessions.counter,
  sessions.creation,
  sessions.lastUsed,
  sessions.expires,
  sessions.userAgent,
)

/**
 * Starts a session and records the login. Null when the password has been changed or the user
 * disabled since it was checked: a session must not outlive that.
 */
export const insertSession = async (
  db: Database,
  { id, accountId, userId, password, userAgent, now }: NewSession,
): Promise<SessionState | null> => {
  const expires = sessionEnd(now, now)
  const ofUser = and(eq(sessions.accountId, accountId), eq(sessions.userId, userId))
  const surplus = sql`SELECT ${sessions.id} FROM ${sessions} WHERE ${ofUser}
    ORDER BY ${sessions.lastUsed} DESC LIMIT -1 OFFSET ${MAX_SESSIONS_PER_USER}`
  const [inserted] = await runBatch(db, [
    statement<{ id: string }>(
      db,
      sql`INSERT INTO ${sessions} (${NEW_COLUMNS})
        SELECT ${id}, ${accountId}, ${userId}, ${FIRST_COUNTER}, ${now}, ${now}, ${expires},
          ${userAgent}
        WHERE EXISTS (SELECT 1 FROM ${users} WHERE ${users.id} = ${userId}
          AND ${users.accountId} = ${accountId} AND ${users.password} = ${password}
          AND ${users.disabled} = 0)
        RETURNING ${names(sessions.id)}`,
    ),
    statement(db, sql`DELETE FROM ${sessions} WHERE ${sessions.id} IN (${surplus})`),
    // Leaves the user's version and `modification` unchanged: a sign-in is not an edit.
    statement(
      db,
      sql`UPDATE ${users} SET ${names(users.lastLogin)} = ${now}
      WHERE ${users.id} = ${userId}
        AND EXISTS (SELECT 1 FROM ${sessions} WHERE ${sessions.id} = ${id})`,
    ),
  ])
  return inserted.results.length === 1 ? { counter: FIRST_COUNTER, lastUsed: now, expires } : null
}

export interface FoundSession extends SessionState {
  creation: number
  user: SignInUser
}

interface SessionRow extends UserRow {
  counter: number
  creation: number
  last_used: number
  session_expires: number
}

const selectSession = compile<{ id: string }, SessionRow>(
  sql`SELECT ${sessions.counter}, ${sessions.creation} AS creation,
      ${sessions.lastUsed} AS last_used, ${sessions.expires} AS session_expires, ${USER_COLUMNS}
    FROM ${sessions} JOIN ${accounts} ON ${accounts.id} = ${sessions.accountId}
    JOIN ${users} ON ${users.id} = ${sessions.userId} AND ${users.accountId} = ${sessions.accountId}
    WHERE ${sessions.id} = ${sql.placeholder('id')}`,
)

export const findSession = async (db: Database, id: string): Promise<FoundSession | null> => {
  const row = await readFirst(selectSession(db, { id }))
  return (
    row && {
      counter: row.counter,
      creation: row.creation,
      lastUsed: row.last_used,
      expires: row.session_expires,
      user: toSignInUser(row),
    }
  )
}

/** Makes the next cookie the current one. Null when another request has done so meanwhile. */
export const rotateSession = async (
  db: Database,
  id: string,
  { counter, creation }: FoundSession,
  now: number,
): Promise<SessionState | null> => {
  const next = { counter: counter + 1, lastUsed: now, expires: sessionEnd(creation, now) }
  const isCurrent = and(eq(sessions.id, id), eq(sessions.counter, counter))
  const rotated = await db
    .update(sessions)
    .set(next)
    .where(isCurrent)
    .returning({ id: sessions.id })
  return rotated.length === 1 ? next : null
}

const isOwn = (accountId: string, userId: string) =>
  and(eq(sessions.accountId, accountId), eq(sessions.userId, userId))

/** Ends all sessions of a user, on a condition. */
export const endSessionsIf = (
  db: Database,
  accountId: string,
  userId: string,
  condition: SQL,
): Statement =>
  statement(db, sql`DELETE FROM ${sessions} WHERE ${isOwn(accountId, userId)} AND ${condition}`)

export const endAllSessions = async (
  db: Database,
  accountId: string,
  userId: string,
): Promise<void> => {
  await db.delete(sessions).where(isOwn(accountId, userId))
}

interface Ending {
  accountId: string
  id: string
  /** Only a session of this user; null for any of the account. */
  userId: string | null
}

/** False when there is no such session. */
export const endSession = async (
  db: Database,
  { accountId, id, userId }: Ending,
): Promise<boolean> => {
  const isWanted = and(
    eq(sessions.id, id),
    eq(sessions.accountId, accountId),
    userId === null ? undefined : eq(sessions.userId, userId),
  )
  const ended = await db.delete(sessions).where(isWanted).returning({ id: sessions.id })
  return ended.length === 1
}

/** The sessions of a user, the one that was refreshed last first. */
export const listSessions = (
  db: Database,
  accountId: string,
  userId: string,
  now: number,
): Promise<Session[]> =>
  db
    .select()
    .from(sessions)
    .where(and(isOwn(accountId, userId), gt(sessions.expires, now)))
    .orderBy(desc(sessions.lastUsed), desc(sessions.id))
    .limit(MAX_SESSIONS_PER_USER)
