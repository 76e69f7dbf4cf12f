import { type Authenticated, authenticate } from '../auth/principal.ts'
import { tryCountRequest } from '../auth/requestLimit.ts'
import { allows, type Scope } from '../domain/scope.ts'
import type { Closing } from '../domain/stream.ts'
import { admit, recordUse, requireScope } from './auth.ts'
import type { Context } from './context.ts'
import { Problem } from './problem.ts'

export const isUpgrade = (c: Context): boolean =>
  c.req.header('Upgrade')?.toLowerCase() === 'websocket'

/** What the caller offers in `Sec-WebSocket-Protocol`. */
export const subprotocols = (c: Context): string[] =>
  (c.req.header('Sec-WebSocket-Protocol') ?? '').split(',').map((name) => name.trim())

const BEARER = 'bearer.'

/** A token among the subprotocols is checked here; without one, a socket may still show its token in its first message. */
export const admitSocket = async (c: Context, scope: Scope): Promise<void> => {
  const token = subprotocols(c).find((name) => name.startsWith(BEARER))
  if (token !== undefined) {
    await admit(c, token.slice(BEARER.length))
    requireScope(c, scope)
  } else if (!isUpgrade(c)) throw new Problem('unauthorized')
}

/** For a token in the first message: the same as for any request, but that a refusal is how the socket is closed. */
export const admitMessage = async (
  c: Context,
  token: string,
  scope: Scope,
): Promise<Authenticated | Closing> => {
  const now = Date.now()
  const admitted = await authenticate(c.env, token, now)
  if (!admitted) return 'unauthorized'
  recordUse(c, admitted, now)
  if (!tryCountRequest(c, admitted.principal.accountId, now)) return 'tooManyRequests'
  return allows(admitted.principal.scopes, scope) ? admitted : 'forbidden'
}
