import type { Principal } from '../auth/principal.ts'
import { isSessionId } from '../domain/account/session.ts'
import type { Actor, Writer } from '../domain/admin/audit.ts'
import type { Context } from './context.ts'

/* Who makes a request, for the audit. */

/** Cloudflare sets it; a client can write anything into X-Forwarded-For. */
export const addressOf = (c: Context): string | null => c.req.header('CF-Connecting-IP') ?? null

/** A key that is bound to a user is still a key; a session is its user. */
export const actorOf = ({ keyId, userId, name, operatorId }: Principal): Actor => {
  if (operatorId !== null) return { type: 'operator', id: operatorId, name }
  const isUser = userId !== null && isSessionId(keyId)
  return isUser ? { type: 'user', id: userId, name } : { type: 'key', id: keyId, name }
}

/** A writer that no token names: who signs in, or uses a link. */
export const writerAs = (c: Context, actor: Actor): Writer => ({
  actor,
  requestId: c.get('requestId'),
  address: addressOf(c),
})

/** Who makes the request: the caller of the token, or the operator. */
export const writerOf = (c: Context): Writer =>
  writerAs(c, c.get('principal') ? actorOf(c.get('principal')) : c.get('operator'))
