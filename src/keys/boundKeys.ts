import { readKeyStatuses } from '../auth/keyStatus.ts'
import type { Principal } from '../auth/principal.ts'
import type { Database } from '../db/open.ts'
import { isWithin, type Scope } from '../domain/account/scope.ts'
import { isSessionId } from '../domain/account/session.ts'
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

/** 403 to agents: it would let somebody in, or notify them, after the agent's session has ended. */
export const refuseAgent = ({ isAgent }: Principal): void => {
  if (isAgent)
    throw forbidden(
      'A program that acts for a user makes no API keys, and nothing else that somebody signs in with, and changes no users and no emergency contacts. The user can.',
    )
}

/** Whether the caller is an agent or the operator's support. */
export const hasTemporaryAccess = ({ isAgent, operatorId }: Principal): boolean =>
  isAgent || operatorId !== null

/** 403 to agents and to the operator's support: what is made here would outlast their access. */
export const refuseTemporaryAccess = (caller: Principal, what: string): void => {
  if (hasTemporaryAccess(caller))
    throw forbidden(
      `${what} would outlast the access of a program that acts for a user, and of the operator’s support. A user of the account can do this.`,
    )
}

/** 403 unless the key belongs to the caller's user; unbound callers may use any. */
export const requireOwnKey = ({ userId }: Principal, key: Key | null): void => {
  if (key && userId !== null && key.userId !== userId)
    throw forbidden('The key is not bound to the user of this token.')
}

/** A session is the user itself: the keys that it creates may outlast it. Agents create none. */
const readSessionExpiry = async (db: Database, keyId: string, now: number): Promise<null> => {
  const status = (await readKeyStatuses(db, [keyId])).get(keyId)
  if (!status || (status.expires !== null && status.expires <= now))
    throw new Problem('session-ended')
  return null
}

/** Reads the database, not the cache: a token can outlive its deleted key by up to 30 s. */
const readOwnExpiry = async (
  db: Database,
  { accountId, keyId }: Principal,
  now: number,
): Promise<number | null> => {
  if (isSessionId(keyId)) return readSessionExpiry(db, keyId, now)
  const own = await findKey(db, accountId, keyId, now)
  if (!own) throw new Problem('key-revoked')
  return own.expires
}

/** 403 when a bound caller asks for a key that allows more or expires later than its own. */
export const requireNoWiderKey = async (
  db: Database,
  caller: Principal,
  { scopes, expires }: KeyRights,
  now: number,
): Promise<void> => {
  const ownExpiry = await readOwnExpiry(db, caller, now)
  if (caller.userId === null) return
  if (!isWithin(scopes, caller.scopes)) throw forbidden('The key would allow more than this token.')
  if (ownExpiry !== null && (expires === null || expires > ownExpiry))
    throw forbidden('The key would expire later than the key of this token.')
}

/** The user and the expiry of a new key. A bound caller's own are the default. */
export const resolveBinding = async (
  db: Database,
  caller: Principal,
  asked: KeyRights & { userId?: string | null | undefined },
  now: number,
) => {
  const { userId } = caller
  if (userId !== null && asked.userId !== undefined && asked.userId !== userId)
    throw forbidden('The key would be bound to another user than this token.')
  const expires = asked.expires ?? (userId === null ? null : await readOwnExpiry(db, caller, now))
  await requireNoWiderKey(db, caller, { scopes: asked.scopes, expires }, now)
  return { userId: userId ?? asked.userId ?? null, expires }
}
