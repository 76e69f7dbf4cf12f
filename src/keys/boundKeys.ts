import { readKeyStatuses } from '../auth/keyStatus.ts'
import { isWithin, type Scope } from '../domain/account/scope.ts'
import { isSessionId } from '../domain/account/session.ts'
import type { Context } from '../http/context.ts'
import { Problem } from '../http/contract/problem.ts'
import { findKey, type Key } from './store.ts'

/*
 * A token bound to a user cannot widen its own rights: a key that it creates is bound to the same
 * user, allows no more and expires no later.
 */

interface KeyRights {
  scopes: Scope[]
  expires: number | null
}

const forbidden = (detail: string) => new Problem('forbidden', { detail })

/** 403 unless the key belongs to the caller's user; unbound callers may use any. */
export const requireOwnKey = (c: Context, key: Key | null): void => {
  const { userId } = c.get('principal')
  if (key && userId !== null && key.userId !== userId)
    throw forbidden('The key is not bound to the user of this token.')
}

/** A session is the user itself: the keys that it creates may outlast it. */
const requireOwnSession = async (c: Context, now: number): Promise<null> => {
  const { keyId } = c.get('principal')
  const status = (await readKeyStatuses(c.get('db'), [keyId])).get(keyId)
  if (!status || (status.expires !== null && status.expires <= now))
    throw new Problem('session-ended')
  return null
}

/** Reads the database, not the cache: a token can outlive its deleted key by up to 30 s. */
const readOwnExpiry = async (c: Context, now: number): Promise<number | null> => {
  const { accountId, keyId } = c.get('principal')
  if (isSessionId(keyId)) return requireOwnSession(c, now)
  const own = await findKey(c.get('db'), accountId, keyId, now)
  if (!own) throw new Problem('key-revoked')
  return own.expires
}

/** 403 when a bound caller asks for a key that allows more or expires later than its own. */
export const requireNoWiderKey = async (
  c: Context,
  { scopes, expires }: KeyRights,
  now: number,
): Promise<void> => {
  const caller = c.get('principal')
  const ownExpiry = await readOwnExpiry(c, now)
  if (caller.userId === null) return
  if (!isWithin(scopes, caller.scopes)) throw forbidden('The key would allow more than this token.')
  if (ownExpiry !== null && (expires === null || expires > ownExpiry))
    throw forbidden('The key would expire later than the key of this token.')
}

/** The user and the expiry of a new key. A bound caller's own are the default. */
export const resolveBinding = async (
  c: Context,
  asked: KeyRights & { userId?: string | null | undefined },
  now: number,
) => {
  const { userId } = c.get('principal')
  if (userId !== null && asked.userId !== undefined && asked.userId !== userId)
    throw forbidden('The key would be bound to another user than this token.')
  const expires = asked.expires ?? (userId === null ? null : await readOwnExpiry(c, now))
  await requireNoWiderKey(c, { scopes: asked.scopes, expires }, now)
  return { userId: userId ?? asked.userId ?? null, expires }
}
