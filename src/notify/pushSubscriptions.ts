import { and, eq } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { pushSubscriptions } from '../db/schema.ts'

/* The browsers that messages go to. */

export type PushSubscription = typeof pushSubscriptions.$inferSelect

const isOwn = (accountId: string, id: string) =>
  and(eq(pushSubscriptions.id, id), eq(pushSubscriptions.accountId, accountId))

export const findPushSubscription = (
  db: Database,
  accountId: string,
  id: string,
): Promise<PushSubscription | undefined> =>
  db.select().from(pushSubscriptions).where(isOwn(accountId, id)).get()

/** Deletes one that the push service does not know any more, unless it has been renewed since. */
export const deleteGoneSubscription = async (
  db: Database,
  { accountId, id, p256dh }: PushSubscription,
): Promise<void> => {
  await db
    .delete(pushSubscriptions)
    .where(and(isOwn(accountId, id), eq(pushSubscriptions.p256dh, p256dh)))
}
