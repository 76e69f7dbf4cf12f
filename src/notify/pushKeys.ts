import { eq, lt, sql } from 'drizzle-orm'
import { toBase64url } from '../auth/mac.ts'
import { seal, unseal } from '../auth/seal.ts'
import { type Database, openCell, openDirectory, withRetries, withWriter } from '../db/open.ts'
import { auditWrite, NO_ACCOUNT } from '../db/queries/audit.ts'
import { pushKeys, pushSubscriptions } from '../db/schema.ts'
import { runBatch } from '../db/statement.ts'
import type { Writer } from '../domain/admin/audit.ts'
import { cellNumbers, type Env } from '../env.ts'

/*
 * The keys that push services know us by (VAPID), in cell 0. Browsers subscribe with the newest one,
 * and each subscription keeps the key that it was made with.
 */

type KeyRow = typeof pushKeys.$inferSelect

/** What is written here may be written twice. */
const openKeys = (env: Env): Database => withRetries(openDirectory(env))

const USE = 'push key'
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256' }
const NUMBER_LENGTH = 6

/** Ids count up, so that calls at the same time make the same id. */
const idAfter = (id = 'psk_0'): string =>
  `psk_${String(Number(id.slice(4)) + 1).padStart(NUMBER_LENGTH, '0')}`

const makeKey = async (env: Env, id: string): Promise<KeyRow> => {
  const pair = (await crypto.subtle.generateKey(ALGORITHM, true, [
    'sign',
    'verify',
  ])) as CryptoKeyPair
  const raw = (await crypto.subtle.exportKey('raw', pair.publicKey)) as ArrayBuffer
  const jwk = await crypto.subtle.exportKey('jwk', pair.privateKey)
  const privateKey = await seal(env, USE, JSON.stringify(jwk))
  return { id, publicKey: toBase64url(new Uint8Array(raw)), privateKey, creation: Date.now() }
}

const findKey = (db: Database, id: string): Promise<KeyRow | undefined> =>
  db.select().from(pushKeys).where(eq(pushKeys.id, id)).get()

const findNewest = (db: Database): Promise<KeyRow | undefined> =>
  db
    .select()
    .from(pushKeys)
    .where(sql`${pushKeys.id} = (SELECT max(${pushKeys.id}) FROM ${pushKeys})`)
    .get()

/** Adds the key that follows another one. Of calls at the same time one adds it; all get that one. */
const addKey = async (env: Env, after?: string, db = openKeys(env)): Promise<KeyRow> => {
  const made = await makeKey(env, idAfter(after))
  await runBatch(db, {
    inserted: db.insert(pushKeys).values(made).onConflictDoNothing(),
    audited: auditWrite(db, {
      accountId: NO_ACCOUNT,
      now: made.creation,
      action: 'pushKey.rotated',
      resource: { type: 'pushKey', id: made.id },
    }),
  })
  const stored = await findKey(db, made.id)
  if (!stored) throw new Error('the push key was not stored')
  return stored
}

const CACHE_MS = 60_000
let remembered: { key: KeyRow; until: number } | null = null

const remember = (key: KeyRow): KeyRow => {
  remembered = { key, until: Date.now() + CACHE_MS }
  return key
}

/** The key for new subscriptions, as it is stored now. Makes the first one. */
export const readPushKey = async (env: Env): Promise<KeyRow> =>
  remember((await findNewest(openKeys(env))) ?? (await addKey(env)))

/** The same as the isolate remembers it for a minute: anybody may ask. */
export const recallPushKey = async (env: Env, now: number): Promise<KeyRow> =>
  remembered && now < remembered.until ? remembered.key : readPushKey(env)

const isUsed = async (env: Env, id: string): Promise<boolean> => {
  const found = await Promise.all(
    cellNumbers(env).map((cell) =>
      openCell(env, cell)
        .select({ id: pushSubscriptions.id })
        .from(pushSubscriptions)
        .where(eq(pushSubscriptions.keyId, id))
        .limit(1)
        .get(),
    ),
  )
  return found.some(Boolean)
}

/**
 * Makes another key for new subscriptions. Deletes those before the last one that no browser uses:
 * for a minute isolates may still give out the last one.
 */
export const rotatePushKey = async (env: Env, writer?: Writer): Promise<KeyRow> => {
  const db = writer ? withWriter(openKeys(env), writer) : openKeys(env)
  const last = await findNewest(db)
  const added = await addKey(env, last?.id, db)
  const older = last ? await db.select().from(pushKeys).where(lt(pushKeys.id, last.id)) : []
  for (const { id } of older)
    if (!(await isUsed(env, id))) await db.delete(pushKeys).where(eq(pushKeys.id, id))
  return remember(added)
}

/** A key as requests are signed with it; null if it is unknown or its secret is lost. */
export const findSigningKey = async (
  env: Env,
  id: string,
): Promise<{ publicKey: string; key: CryptoKey } | null> => {
  const row = await findKey(openKeys(env), id)
  const opened = row && (await unseal(env, USE, row.privateKey))
  if (!row || !opened) return null
  const jwk = JSON.parse(opened.text) as JsonWebKey
  const key = await crypto.subtle.importKey('jwk', jwk, ALGORITHM, false, ['sign'])
  return { publicKey: row.publicKey, key }
}

/** Encrypts the keys with the new secret while the secret before it can still read them. */
export const resealPushKeys = async (env: Env): Promise<void> => {
  if (!env.TOKEN_SECRET_PREVIOUS) return
  const db = openKeys(env)
  for (const row of await db.select().from(pushKeys)) {
    const opened = await unseal(env, USE, row.privateKey)
    if (!opened || opened.isCurrent) continue
    const privateKey = await seal(env, USE, opened.text)
    await db.update(pushKeys).set({ privateKey }).where(eq(pushKeys.privateKey, row.privateKey))
  }
}
