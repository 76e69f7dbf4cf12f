import { and, eq, gt, lt, or, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { oauthRecords } from '../db/schema.ts'
import { valuesOf } from '../db/statement.ts'

/*
 * The records of the OAuth library, which expects a KV namespace. A table of cell 0 takes its place:
 * a read sees every write before it, so that a code is good once and a revocation holds at once.
 */

const DAY_MS = 86_400_000
/** How long a client is kept that no user lets in. */
const UNUSED_CLIENT_MS = DAY_MS
/** Of those, the oldest go first. Registration is open to everybody, so their number is limited. */
const MAX_UNUSED_CLIENTS = 2000
/** None is deleted before a user has had so long to let it in, however many others register. */
const MIN_UNUSED_MS = 600_000
/** How often an isolate deletes what is beyond that number: it scans an index of them all. */
const EVICT_EVERY_MS = 60_000
/** How long the library keeps a client that it renews, because it is used. */
export const CLIENT_SECONDS = 90 * 86_400

/** Another request has changed the record since it was read. */
export class RecordChanged extends Error {}

interface PutOptions {
  /** Seconds since 1970. */
  expiration?: number
  expirationTtl?: number
}

const clientRecord = (clientId: string): string => `client:${clientId}`

const { id: recordId, expires: expiry, isUnused } = oauthRecords

/** Keeps a client while its code is exchanged: a user lets it in. */
export const keepAsked = (db: Database, clientId: string, now: number) =>
  db
    .update(oauthRecords)
    .set({ expires: now + UNUSED_CLIENT_MS })
    .where(and(eq(recordId, clientRecord(clientId)), eq(isUnused, true)))

/** Keeps a client that has got a token for longer than the session of the token. */
export const keepClient = (db: Database, clientId: string, sessionEnd: number) => {
  const isTooShort = or(eq(isUnused, true), lt(expiry, sessionEnd))
  return db
    .update(oauthRecords)
    .set({ isUnused: false, expires: sql`max(${expiry}, ${sessionEnd + DAY_MS})` })
    .where(and(eq(recordId, clientRecord(clientId)), isTooShort))
}

/** Deletes the grants of sessions that have ended. Each names its session (`grant:ses_…:…`). */
export const deleteGrants = async (db: Database, sessionIds: string[]): Promise<void> => {
  if (sessionIds.length === 0) return
  const starts = valuesOf(sessionIds.map((id) => `grant:${id}:`))
  // After a colon comes a semicolon.
  const grants: SQL = sql`SELECT found.id FROM ${starts} AS start
    CROSS JOIN ${oauthRecords} AS found ON found.id > start.value
      AND found.id < substr(start.value, 1, length(start.value) - 1) || ';'`
  await db.delete(oauthRecords).where(sql`${recordId} IN (${grants})`)
}

/** When this isolate last deleted unused clients. */
let evictedAt = 0

const evictUnused = async (db: Database, now: number): Promise<void> => {
  if (now >= evictedAt && now - evictedAt < EVICT_EVERY_MS) return
  evictedAt = now
  const surplus = sql`SELECT ${recordId} FROM ${oauthRecords} WHERE ${isUnused} = 1
    ORDER BY ${expiry} DESC LIMIT -1 OFFSET ${MAX_UNUSED_CLIENTS}`
  const isYoung = gt(expiry, now + UNUSED_CLIENT_MS - MIN_UNUSED_MS)
  await db.delete(oauthRecords).where(sql`${recordId} IN (${surplus}) AND NOT ${isYoung}`)
}

/** What one request of the library reads and writes. */
export class Records {
  /** The grants that the library has deleted: their sessions must end. */
  readonly endedGrants: string[] = []
  readonly #db: Database
  readonly #now: number
  /** What this request has read, by id. */
  readonly #known = new Map<string, string>()

  constructor(db: Database, now: number) {
    this.#db = db
    this.#now = now
  }

  async get(id: string, options?: { type?: string }): Promise<unknown> {
    const found = await this.#db
      .select({ value: oauthRecords.value })
      .from(oauthRecords)
      .where(and(eq(oauthRecords.id, id), gt(oauthRecords.expires, this.#now)))
      .get()
    if (!found) return null
    this.#known.set(id, found.value)
    return options?.type === 'json' ? JSON.parse(found.value) : found.value
  }

  /** What this request has read or written of a record. */
  known(id: string): string | undefined {
    return this.#known.get(id)
  }

  async put(id: string, value: string, options: PutOptions = {}): Promise<void> {
    // Agents get tokens of ours in place of the library's.
    if (id.startsWith('token:')) return
    const { expiration, expirationTtl = CLIENT_SECONDS } = options
    const expires = expiration === undefined ? this.#now + expirationTtl * 1000 : expiration * 1000
    const known = this.#known.get(id)
    if (known !== undefined) await this.#replace({ id, value, expires }, known)
    else if (id.startsWith('client:')) await this.#insertClient(id, value)
    else await this.#db.insert(oauthRecords).values({ id, value, expires, isUnused: false })
    this.#known.set(id, value)
  }

  async #replace(
    { id, value, expires }: { id: string; value: string; expires: number },
    known: string,
  ): Promise<void> {
    const written = await this.#db
      .update(oauthRecords)
      .set({ value, expires })
      .where(and(eq(oauthRecords.id, id), eq(oauthRecords.value, known)))
    if (written.meta.changes === 0) throw new RecordChanged()
  }

  async #insertClient(id: string, value: string): Promise<void> {
    const expires = this.#now + UNUSED_CLIENT_MS
    await this.#db.insert(oauthRecords).values({ id, value, expires, isUnused: true })
    await evictUnused(this.#db, this.#now)
  }

  async delete(id: string): Promise<void> {
    const [deleted] = await this.#db
      .delete(oauthRecords)
      .where(eq(oauthRecords.id, id))
      .returning({ value: oauthRecords.value })
    if (deleted && id.startsWith('grant:')) this.endedGrants.push(deleted.value)
  }

  /** The library lists only the tokens of a grant, which are not stored. */
  async list(): Promise<{ keys: []; list_complete: true }> {
    return { keys: [], list_complete: true }
  }
}
