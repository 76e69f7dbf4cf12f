import { and, eq, isNull, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { auditWrite } from '../db/queries/audit.ts'
import { accounts, users } from '../db/schema.ts'
import { runBatch } from '../db/statement.ts'
import { endSessionsIf } from '../sessions/store.ts'

const selectUsers = (db: Database) =>
  db
    .select({
      id: users.id,
      accountId: users.accountId,
      accountUserName: accounts.userName,
      accountName: accounts.name,
      isAccountDisabled: sql<boolean>`${accounts.status} = 'disabled'`.mapWith(Boolean),
      name: users.name,
      email: users.email,
      emailKey: users.emailKey,
      timeZone: users.timeZone,
      /** The present password hash. */
      password: users.password,
      disabled: users.disabled,
      disabledMessage: users.disabledMessage,
      lastDisabled: users.lastDisabled,
    })
    .from(users)
    .innerJoin(accounts, and(eq(accounts.id, users.accountId), isNull(accounts.deletedAt)))

/** A user as a password link sees it. */
export type LinkedUser = Awaited<ReturnType<typeof selectUsers>>[number]

/** The user that a link names. The link's signature covers the account. */
export const findLinkedUser = (db: Database, id: string): Promise<LinkedUser | undefined> =>
  selectUsers(db).where(eq(users.id, id)).get()

export const findUserByEmail = (
  db: Database,
  accountId: string,
  emailKey: string,
): Promise<LinkedUser | undefined> =>
  selectUsers(db)
    .where(and(eq(users.accountId, accountId), eq(users.emailKey, emailKey)))
    .get()

/** Not an edit, and in the audit by the decision to send the link: version and `modification` stay. */
export const recordInvitation = async (
  db: Database,
  { id }: LinkedUser,
  now: number,
): Promise<void> => {
  await db.update(users).set({ invitedAt: now }).where(eq(users.id, id))
}

/**
 * Sets the new hash and ends all sessions, while the user still is as the link covers it: of two
 * uses at the same time one fails.
 */
export const replacePassword = async (
  db: Database,
  { id, accountId, emailKey, password: before, lastDisabled }: LinkedUser,
  after: string,
  now: number,
): Promise<boolean> => {
  const own = and(eq(users.id, id), eq(users.accountId, accountId))
  const isSame = and(
    sql`${users.password} IS ${before}`,
    sql`${users.lastDisabled} IS ${lastDisabled}`,
    eq(users.emailKey, emailKey),
  )
  const { changed } = await runBatch(db, {
    changed: db
      .update(users)
      .set({ password: after, modification: now, version: sql`${users.version} + 1` })
      .where(and(own, isSame)),
    audited: auditWrite(db, {
      accountId,
      now,
      action: 'user.passwordSet',
      resource: { type: 'user', id },
    }),
    sessions: endSessionsIf(
      db,
      accountId,
      id,
      sql`EXISTS (SELECT 1 FROM ${users} WHERE ${own} AND ${users.password} = ${after})`,
    ),
  })
  return changed.meta.changes > 0
}
