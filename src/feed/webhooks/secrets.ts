import { and, desc, eq, gt, isNotNull, isNull, lte, notInArray, or } from 'drizzle-orm'
import { type FeedDatabase, secrets } from '../tables.ts'
import { makeSecret } from './signature.ts'

/** How long a replaced secret keeps signing beside the new one. */
const OVERLAP_MS = 86_400_000
const MAX_SECRETS = 5

const isOf = (webhookId: string) => eq(secrets.webhookId, webhookId)
/** The current secret, then those that were replaced last. */
const NEWEST_FIRST = [isNotNull(secrets.until), desc(secrets.until)]

interface NewSecret {
  id: string
  webhookId: string
  now: number
}

/** Creates the secret once: a retry after a crash gets the same one. */
const insertSecret = (db: FeedDatabase, { id, webhookId, now }: NewSecret): string => {
  db.insert(secrets)
    .values({ id, webhookId, secret: makeSecret(), creation: now })
    .onConflictDoNothing()
    .run()
  return findSecret(db, id) ?? ''
}

const findSecret = (db: FeedDatabase, id: string): string | undefined =>
  db.select().from(secrets).where(eq(secrets.id, id)).get()?.secret

/** The webhook's first secret. */
export const ensureSecret = (db: FeedDatabase, webhookId: string, now: number): string =>
  insertSecret(db, { id: webhookId, webhookId, now })

/** Replaces the secret. Repeating a rotation with the same id creates no second secret. */
export const rotateSecret = (
  db: FeedDatabase,
  webhookId: string,
  rotationId: string,
  now: number,
): { secret: string; until: number } => {
  const until = now + OVERLAP_MS
  const existing = findSecret(db, rotationId)
  if (existing !== undefined) return { secret: existing, until }
  db.delete(secrets)
    .where(and(isOf(webhookId), lte(secrets.until, now)))
    .run()
  db.update(secrets)
    .set({ until })
    .where(and(isOf(webhookId), isNull(secrets.until)))
    .run()
  const secret = insertSecret(db, { id: rotationId, webhookId, now })
  const kept = db
    .select({ id: secrets.id })
    .from(secrets)
    .where(isOf(webhookId))
    .orderBy(...NEWEST_FIRST)
    .limit(MAX_SECRETS)
  db.delete(secrets)
    .where(and(isOf(webhookId), notInArray(secrets.id, kept)))
    .run()
  return { secret, until }
}

/** The secrets that sign now, the newest first. Never empty, so that nothing is sent unsigned. */
export const readActiveSecrets = (db: FeedDatabase, webhookId: string, now: number): string[] => {
  const active = db
    .select()
    .from(secrets)
    .where(and(isOf(webhookId), or(isNull(secrets.until), gt(secrets.until, now))))
    .orderBy(...NEWEST_FIRST)
    .all()
  return active.length > 0 ? active.map(({ secret }) => secret) : [ensureSecret(db, webhookId, now)]
}
