import { and, eq } from 'drizzle-orm'
import { type Database, withWriter } from '../db/open.ts'
import { auditWrite } from '../db/queries/audit.ts'
import { pushSubscriptions } from '../db/schema.ts'
import { runBatch } from '../db/statement.ts'
import type { Writer } from '../domain/admin/audit.ts'

/* The browsers that messages go to. */

export type PushSubscription = typeof pushSubscriptions.$inferSelect

const PUSH_SERVICE: Writer = {
  actor: { type: 'system', id: 'push-service', name: null },
  requestId: 'push-service',
  address: null,
}

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
  await runBatch(db, {
    deleted: db
      .delete(pushSubscriptions)
      .where(and(isOwn(accountId, id), eq(pushSubscriptions.p256dh, p256dh))),
    audited: auditWrite(withWriter(db, PUSH_SERVICE), {
      accountId,
      now: Date.now(),
      action: 'pushSubscription.deleted',
      resource: { type: 'pushSubscription', id },
    }),
  })
}
