import { and, desc, eq, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { auditWrite } from '../db/queries/audit.ts'
import { insertSelect } from '../db/query.ts'
import { pushSubscriptions, sessions, users } from '../db/schema.ts'
import { runBatch } from '../db/statement.ts'
import { changesBetween } from '../domain/admin/audit.ts'

export type Subscription = typeof pushSubscriptions.$inferSelect

const isOfUser = (accountId: string, userId: string) =>
  and(eq(pushSubscriptions.accountId, accountId), eq(pushSubscriptions.userId, userId))

/** The subscriptions of a user, the newest first: a few, because their number is limited. */
export const listSubscriptions = (
  db: Database,
  accountId: string,
  userId: string,
): Promise<Subscription[]> =>
  db
    .select()
    .from(pushSubscriptions)
    .where(isOfUser(accountId, userId))
    .orderBy(desc(pushSubscriptions.creation), desc(pushSubscriptions.id))

/**
 * Stores a subscription, and deletes the user's oldest beyond `max`. A browser that subscribes again
 * keeps its row and, with the same keys, our key; that of another user takes the row over. Null when
 * the user has been disabled, or the session ended, since the token was checked.
 */
export const saveSubscription = async (
  db: Database,
  subscription: Subscription,
  max: number,
): Promise<Subscription | null> => {
  const { id, accountId, userId, sessionId } = subscription
  const { p256dh, keyId, creation } = pushSubscriptions
  const surplus = sql`SELECT ${pushSubscriptions.id} FROM ${pushSubscriptions}
    WHERE ${isOfUser(accountId, userId)}
    ORDER BY ${pushSubscriptions.id} = ${id} DESC, ${creation} DESC LIMIT -1 OFFSET ${max}`
  const { stored } = await runBatch(db, {
    saved: insertSelect(
      pushSubscriptions,
      subscription,
      sql`WHERE EXISTS (SELECT 1 FROM ${users} WHERE ${users.id} = ${userId}
          AND ${users.accountId} = ${accountId} AND ${users.disabled} = 0)
        AND (${sessionId} IS NULL
          OR EXISTS (SELECT 1 FROM ${sessions} WHERE ${sessions.id} = ${sessionId}))
        ON CONFLICT (id) DO UPDATE SET
          key_id = CASE WHEN ${p256dh} = excluded.p256dh THEN ${keyId} ELSE excluded.key_id END,
          creation = CASE WHEN ${pushSubscriptions.userId} = excluded.user_id
            THEN ${creation} ELSE excluded.creation END,
          user_id = excluded.user_id, session_id = excluded.session_id,
          p256dh = excluded.p256dh, auth = excluded.auth, user_agent = excluded.user_agent`,
    ),
    audited: auditWrite(db, {
      accountId,
      now: subscription.creation,
      action: 'pushSubscription.created',
      resource: { type: 'pushSubscription', id },
      changes: changesBetween(null, { userId, userAgent: subscription.userAgent }),
    }),
    replaced: db.delete(pushSubscriptions).where(sql`${pushSubscriptions.id} IN (${surplus})`),
    stored: db
      .select()
      .from(pushSubscriptions)
      .where(and(eq(pushSubscriptions.id, id), isOfUser(accountId, userId))),
  })
  return stored.results[0] ?? null
}

/** False when the user has none with this id. */
export const deleteSubscription = async (
  db: Database,
  { accountId, userId, id }: Pick<Subscription, 'accountId' | 'userId' | 'id'>,
  now: number,
): Promise<boolean> => {
  const { deleted } = await runBatch(db, {
    deleted: db
      .delete(pushSubscriptions)
      .where(and(eq(pushSubscriptions.id, id), isOfUser(accountId, userId)))
      .returning({ id: pushSubscriptions.id }),
    audited: auditWrite(db, {
      accountId,
      now,
      action: 'pushSubscription.deleted',
      resource: { type: 'pushSubscription', id },
    }),
  })
  return deleted.results.length === 1
}
