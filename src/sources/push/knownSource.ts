import { hashSecret, isSameDigest } from '../../auth/secret.ts'
import { resolveCell } from '../../db/movedCell.ts'
import { type Database, openCell, openDirectory } from '../../db/open.ts'
import { BoundedCache } from '../../domain/cache/boundedCache.ts'
import type { Env } from '../../env.ts'
import { findInDirectory, readSourceAccount, type SourceAccount } from '../directory.ts'
import type { PushSettings } from '../settings.ts'
import { findSource, type StoredSource } from '../store.ts'
import { readPushSettings } from './pushSettings.ts'

/** A source with the account and the cell that it belongs to. */
export interface KnownSource extends SourceAccount {
  source: StoredSource
  settings: PushSettings
  accountId: string
  cell: number
  db: Database
}

/**
 * Half of the 30 s after which a source must stop or go on: it or its account was deleted, disabled
 * or enabled, or the secret is another. Leaves time for a slow read.
 */
const CACHE_MS = 15_000

/** Without the settings until somebody has sent the right secret. */
type FoundSource = Omit<KnownSource, 'settings'> & { settings: PushSettings | null }

/** Null for an id that no source has: a flood of them costs one read each. */
const cache = new BoundedCache<{ found: FoundSource | null; until: number }>(10_000)

const readSource = async (env: Env, id: string): Promise<FoundSource | null> => {
  const entry = await findInDirectory(openDirectory(env), id)
  if (!entry) return null
  const { accountId } = entry
  const cell = await resolveCell(env, accountId, entry.cell)
  const db = openCell(env, cell)
  const account = await readSourceAccount(db, accountId)
  const source = account && (await findSource(db, accountId, id))
  return source ? { source, settings: null, accountId, ...account, cell, db } : null
}

const SOURCE_ID = /^src_[0-9a-z]{22}$/

const lookUp = async (env: Env, id: string, now: number): Promise<FoundSource | null> => {
  if (!SOURCE_ID.test(id)) return null
  const cached = cache.get(id)
  if (cached && cached.until > now) return cached.found
  const found = await readSource(env, id)
  cache.set(id, { found, until: now + CACHE_MS })
  return found
}

/** Evicts what this isolate knows of a source that it has changed. */
export const evictSource = (id: string): void => cache.delete(id)

/** The source of an address; null, after the same work, when the secret is wrong. */
export const admitSource = async (
  env: Env,
  { id, secret, now }: { id: string; secret: string; now: number },
): Promise<KnownSource | null> => {
  const [found, given] = await Promise.all([lookUp(env, id, now), hashSecret(secret)])
  const isRight = isSameDigest(given, found?.source.hash ?? '')
  if (!isRight || !found?.source.enabled) return null
  found.settings ??= await readPushSettings({ env, accountId: found.accountId }, found.source)
  return { ...found, settings: found.settings }
}
