import { type Authenticated, authenticate } from '../auth/principal.ts'
import { tryCountRequest } from '../auth/requestLimit.ts'
import { allows, type Scope } from '../domain/account/scope.ts'
import { type Closing, sendableCode } from '../domain/event/stream.ts'
import { admit, hasBearer, recordUse, requireScope } from './auth.ts'
import type { Context } from './context.ts'

export const isUpgrade = (c: Context): boolean =>
  c.req.header('Upgrade')?.toLowerCase() === 'websocket'

/** The protocols that the caller offers in `Sec-WebSocket-Protocol`. */
export const subprotocols = (c: Context): string[] =>
  (c.req.header('Sec-WebSocket-Protocol') ?? '').split(',').map((name) => name.trim())

/** Does nothing if the socket is closed already. */
export const closeSocket = (
  socket: WebSocket,
  { code, reason }: { code: number; reason?: string },
): void => {
  try {
    socket.close(sendableCode(code), reason)
  } catch {
    // It is closed.
  }
}

const BEARER = 'bearer.'

/**
 * Checks the token among the subprotocols or in the Authorization header. Without one, the first
 * message has to carry it.
 */
export const admitSocket = async (c: Context, scope: Scope): Promise<void> => {
  const token = subprotocols(c).find((name) => name.startsWith(BEARER))
  if (token === undefined && isUpgrade(c) && !hasBearer(c)) return
  await admit(c, token?.slice(BEARER.length))
  requireScope(c, scope)
}

/** Checks the token of a first message; a refusal is the reason to close the socket with. */
export const admitMessage = async (
  c: Context,
  token: string,
  scope: Scope,
): Promise<Authenticated | Closing> => {
  const now = Date.now()
  const authenticated = await authenticate(c.env, token, now)
  if (typeof authenticated === 'string') return 'unauthorized'
  await recordUse(c, authenticated, now)
  if (!tryCountRequest(c, authenticated.principal.accountId, now)) return 'tooManyRequests'
  return allows(authenticated.principal.scopes, scope) ? authenticated : 'forbidden'
}
