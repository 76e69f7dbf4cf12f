import { and, desc, eq, gt, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { auditWrite } from '../db/queries/audit.ts'
import { type InferRow, insertSelect, select } from '../db/query.ts'
import { accounts, pushSubscriptions, sessions, users } from '../db/schema.ts'
import { compile, type Placeholders, type Runnable, readFirst, runBatch } from '../db/statement.ts'
import { type Scope, toScopes } from '../domain/account/scope.ts'
import { MAX_SESSIONS_PER_USER, type SessionState, sessionEnd } from '../domain/account/session.ts'
import type { AccessPeriod } from '../domain/account/user.ts'
import { changesBetween } from '../domain/admin/audit.ts'

export type Session = typeof sessions.$inferSelect

/** The user of a sign-in or a session, with what decides whether a token is issued. */
export interface SignInUser extends AccessPeriod {
  userId: string
  accountId: string
  name: string
  isAccountDisabled: boolean
  disabledMessage: string
  scopes: Scope[]
}

const USER_COLUMNS = {
  userId: users.id,
  accountId: users.accountId,
  name: users.name,
  isAccountDisabled: sql<boolean>`${accounts.status} = 'disabled'`.mapWith(Boolean),
  disabled: users.disabled,
  disabledMessage: users.disabledMessage,
  from: users.fromTime,
  expires: users.expires,
  privileges: users.privileges,
}

const toSignInUser = ({ privileges, ...user }: InferRow<typeof USER_COLUMNS>): SignInUser => ({
  ...user,
  scopes: toScopes(privileges),
})

const selectUser = compile((p: Placeholders<{ accountId: string; emailKey: string }>) =>
  select(
    { ...USER_COLUMNS, password: users.password },
    sql`FROM ${users} JOIN ${accounts} ON ${accounts.id} = ${users.accountId}
      WHERE ${users.accountId} = ${p.accountId} AND ${users.emailKey} = ${p.emailKey}
        AND ${accounts.deletedAt} IS NULL`,
  ),
)

/** The user with this e-mail address, and the password hash. */
export const findSignInUser = async (
  db: Database,
  accountId: string,
  emailKey: string,
): Promise<{ user: SignInUser; password: string | null } | null> => {
  const row = await readFirst(selectUser(db, { accountId, emailKey }))
  if (!row) return null
  const { password, ...user } = row
  return { user: toSignInUser(user), password }
}

const isOfUser = (accountId: string, userId: string) =>
  and(eq(sessions.accountId, accountId), eq(sessions.userId, userId))

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

/**
 * Starts a session and records the login. Null when the password has been changed or the user
 * disabled since it was checked: a session must not outlive that. `ended`: the user's oldest
 * sessions, which end because there are too many.
 */
export const insertSession = async (
  db: Database,
  { id, accountId, userId, password, userAgent, now }: NewSession,
  thereafter: Runnable[] = [],
): Promise<{ state: SessionState; ended: string[] } | null> => {
  const expires = sessionEnd(now, now)
  const surplus = sql`SELECT ${sessions.id} FROM ${sessions} WHERE ${isOfUser(accountId, userId)}
    ORDER BY ${sessions.lastUsed} DESC LIMIT -1 OFFSET ${MAX_SESSIONS_PER_USER}`
  const state = { counter: FIRST_COUNTER, lastUsed: now, expires }
  const { inserted, ended } = await runBatch(db, {
    inserted: insertSelect(
      sessions,
      { id, accountId, userId, creation: now, userAgent, ...state },
      sql`WHERE EXISTS (SELECT 1 FROM ${users} WHERE ${users.id} = ${userId}
        AND ${users.accountId} = ${accountId} AND ${users.password} = ${password}
        AND ${users.disabled} = 0)`,
    ),
    audited: auditWrite(db, {
      accountId,
      now,
      action: 'session.started',
      resource: { type: 'session', id },
      changes: changesBetween(null, { userId, userAgent }),
    }),
    ended: db
      .delete(sessions)
      .where(sql`${sessions.id} IN (${surplus})`)
      .returning({ id: sessions.id }),
    // Leaves the user's version and `modification` unchanged: a sign-in is not an edit.
    login: db
      .update(users)
      .set({ lastLogin: now })
      .where(
        sql`${users.id} = ${userId}
          AND EXISTS (SELECT 1 FROM ${sessions} WHERE ${sessions.id} = ${id})`,
      ),
    thereafter,
  })
  return inserted.meta.changes > 0 ? { state, ended: ended.results.map((row) => row.id) } : null
}

export interface FoundSession extends SessionState, Pick<Session, 'creation' | 'agent'> {
  user: SignInUser
}

const selectSession = compile((p: Placeholders<{ id: string }>) =>
  select(
    {
      ...USER_COLUMNS,
      counter: sessions.counter,
      creation: sessions.creation,
      agent: sessions.agent,
      lastUsed: sessions.lastUsed,
      sessionExpires: sessions.expires,
    },
    sql`FROM ${sessions} JOIN ${accounts} ON ${accounts.id} = ${sessions.accountId}
      JOIN ${users} ON ${users.id} = ${sessions.userId}
        AND ${users.accountId} = ${sessions.accountId}
      WHERE ${sessions.id} = ${p.id} AND ${accounts.deletedAt} IS NULL`,
  ),
)

export const findSession = async (db: Database, id: string): Promise<FoundSession | null> => {
  const row = await readFirst(selectSession(db, { id }))
  if (!row) return null
  const { counter, creation, agent, lastUsed, sessionExpires: expires, ...user } = row
  return { counter, creation, agent, lastUsed, expires, user: toSignInUser(user) }
}

/** Makes the next cookie the current one. Null when another request has done so meanwhile. */
export const rotateSession = async (
  db: Database,
  id: string,
  { counter, creation, user: { userId } }: FoundSession,
  now: number,
): Promise<SessionState | null> => {
  const next = { counter: counter + 1, lastUsed: now, expires: sessionEnd(creation, now) }
  const isCurrent = and(eq(sessions.id, id), eq(sessions.counter, counter))
  const { rotated } = await runBatch(db, {
    rotated: db.update(sessions).set(next).where(isCurrent),
    // Also when another request has rotated it meanwhile.
    seen: db.update(users).set({ lastRefresh: now }).where(eq(users.id, userId)),
  })
  return rotated.meta.changes > 0 ? next : null
}

/** Ends all sessions and push subscriptions of a user, on a condition. */
export const endSessionsIf = (
  db: Database,
  accountId: string,
  userId: string,
  condition: SQL,
): Runnable[] => [
  db.delete(sessions).where(and(isOfUser(accountId, userId), condition)),
  db
    .delete(pushSubscriptions)
    .where(
      and(
        eq(pushSubscriptions.accountId, accountId),
        eq(pushSubscriptions.userId, userId),
        condition,
      ),
    ),
]

/** Returns the ids of the sessions. */
export const endAllSessions = async (
  db: Database,
  accountId: string,
  userId: string,
  now: number,
): Promise<string[]> => {
  const [, subscriptions] = endSessionsIf(db, accountId, userId, sql`true`)
  const resource = { type: 'user', id: userId }
  const { ended } = await runBatch(db, {
    ended: db.delete(sessions).where(isOfUser(accountId, userId)).returning({ id: sessions.id }),
    audited: auditWrite(db, { accountId, now, action: 'session.ended', resource }),
    subscriptions,
  })
  return ended.results.map(({ id }) => id)
}

interface Ending {
  accountId: string
  id: string
  /** Only a session of this user; null for any of the account. */
  userId: string | null
  now: number
}

/** Ends a session with the push subscriptions of its browser. False when there is none. */
export const endSession = async (
  db: Database,
  { accountId, id, userId, now }: Ending,
): Promise<boolean> => {
  const isWanted = and(
    eq(sessions.id, id),
    eq(sessions.accountId, accountId),
    userId === null ? undefined : eq(sessions.userId, userId),
  )
  const itsUser = sql`(SELECT ${sessions.userId} FROM ${sessions} WHERE ${isWanted})`
  const isOfSession = sql`${pushSubscriptions.userId} = ${itsUser}
    AND ${pushSubscriptions.accountId} = ${accountId} AND ${pushSubscriptions.sessionId} = ${id}`
  const { ended } = await runBatch(db, {
    subscriptions: db.delete(pushSubscriptions).where(isOfSession),
    ended: db.delete(sessions).where(isWanted).returning({ id: sessions.id }),
    audited: auditWrite(db, {
      accountId,
      now,
      action: 'session.ended',
      resource: { type: 'session', id },
    }),
  })
  return ended.results.length === 1
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
    .where(and(isOfUser(accountId, userId), gt(sessions.expires, now)))
    .orderBy(desc(sessions.lastUsed), desc(sessions.id))
    .limit(MAX_SESSIONS_PER_USER)
