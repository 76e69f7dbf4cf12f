import { isWithin, type Scope } from '../domain/scope.ts'
import type { Context } from '../http/context.ts'
import { Problem } from '../http/problem.ts'
import { findKey, type KeyRow } from './store.ts'

/* A token that is bound to a user cannot widen itself: what it makes is bound to the same user, allows no more and lives no longer. */

interface Reach {
  scopes: Scope[]
  expires: number | null
}

const forbidden = (detail: string) => new Problem('forbidden', { detail })

/** Of a key that is the caller's own to use, or any to a caller who is bound to nobody. */
export const refuseOthers = (c: Context, key: KeyRow | undefined): void => {
  const { userId } = c.get('principal')
  if (key && userId !== null && key.userId !== userId)
    throw forbidden('The key is not bound to the user of this token.')
}

/** Read anew: a token may outlive its key by half a minute, and what it made in that time would outlive both. */
const ownEnd = async (c: Context, now: number): Promise<number | null> => {
  const { accountId, keyId } = c.get('principal')
  const own = await findKey(c.get('db'), accountId, keyId, now)
  if (!own) throw new Problem('unauthorized')
  return own.expires
}

export const refuseWider = async (
  c: Context,
  { scopes, expires }: Reach,
  now: number,
): Promise<void> => {
  const caller = c.get('principal')
  const end = await ownEnd(c, now)
  if (caller.userId === null) return
  if (!isWithin(scopes, caller.scopes)) throw forbidden('The key would allow more than this token.')
  if (end !== null && (expires === null || expires > end))
    throw forbidden('The key would live longer than the key of this token.')
}

/** The user and the end of a new key. A bound caller who names neither gets its own. */
export const bindingFor = async (
  c: Context,
  asked: Reach & { userId?: string | null | undefined },
  now: number,
) => {
  const { userId } = c.get('principal')
  if (userId !== null && asked.userId !== undefined && asked.userId !== userId)
    throw forbidden('The key would be bound to another user.')
  const expires = asked.expires ?? (userId === null ? null : await ownEnd(c, now))
  await refuseWider(c, { scopes: asked.scopes, expires }, now)
  return { userId: userId ?? asked.userId ?? null, expires }
}
