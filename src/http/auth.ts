import { routePath } from 'hono/route'
import { recordKeyUse } from '../auth/keyStatus.ts'
import { type Authenticated, authenticate } from '../auth/principal.ts'
import { recordNetwork, recordSupportUse } from '../auth/signIns.ts'
import { looksLikeApiKey } from '../domain/account/apiKey.ts'
import { allows, type Scope } from '../domain/account/scope.ts'
import { isSessionId } from '../domain/account/session.ts'
import { type Purpose, permits } from '../domain/admin/status.ts'
import { assignSlot } from './admission/loadShedding.ts'
import { countRequest, networkOfCaller } from './admission/rateLimit.ts'
import type { Context } from './context.ts'
import { Problem } from './contract/problem.ts'
import { pinnedVersion } from './version/versions.ts'
import { actorOf, writerAs } from './writer.ts'

const BEARER = /^Bearer(?: +(.*))?$/i
const TOKEN = /^[A-Za-z0-9._~+/=-]+$/

/** Whether the Authorization header has the scheme of a token. */
export const hasBearer = (c: Context): boolean => BEARER.test(c.req.header('Authorization') ?? '')

export const readBearer = (c: Context): string => {
  const token = BEARER.exec(c.req.header('Authorization') ?? '')?.[1]
  if (!token) throw new Problem('token-missing')
  if (!TOKEN.test(token)) throw new Problem('token-invalid')
  return token
}

/**
 * Updates `lastUsed` after the response; failures are ignored. What support does is recorded before
 * it is done.
 */
export const recordUse = async (
  c: Context,
  { principal, status, db }: Authenticated,
  now: number,
): Promise<void> => {
  const { accountId, keyId, operatorId } = principal
  const network = networkOfCaller(c)
  const use = { accountId, keyId, writer: writerAs(c, actorOf(principal)), now }
  if (operatorId !== null)
    await recordSupportUse(db, { ...use, method: c.req.method, route: routePath(c) })
  const written = [
    recordKeyUse(db, keyId, status, now),
    isSessionId(keyId) ? null : recordNetwork(db, { ...use, network }),
  ]
  for (const write of written) if (write) c.executionCtx.waitUntil(write.catch(() => {}))
}

/** Authenticates the request: sets `principal` and `db`, or throws a 401. */
export const admit = async (c: Context, token = readBearer(c)): Promise<void> => {
  if (looksLikeApiKey(token)) throw new Problem('not-a-token')
  const now = Date.now()
  const authenticated = await authenticate(c.env, token, now)
  if (typeof authenticated === 'string') throw new Problem(authenticated)
  const { claims, principal, status, db } = authenticated
  c.set('claims', claims)
  c.set('principal', principal)
  // A session is of the console, which comes with this release.
  if (!isSessionId(principal.keyId)) c.set('pinnedVersion', pinnedVersion(status.apiVersion))
  c.set('db', db)
  await recordUse(c, authenticated, now)
  countRequest(c, principal.accountId, now)
  await assignSlot(c.req.raw, principal.accountId)
}

/** Throws a 403 unless the token has one of the scopes. */
export const requireScope = (c: Context, accepted: Scope | readonly Scope[]): void => {
  const { scopes } = c.get('principal')
  const anyOf = typeof accepted === 'string' ? [accepted] : accepted
  if (anyOf.some((scope) => allows(scopes, scope))) return
  const detail = `The token does not have the scope ${anyOf.join(' or ')}.`
  throw new Problem('forbidden', { detail })
}

const REFUSALS = {
  readOnly: 'account-read-only',
  ingestOnly: 'account-ingest-only',
  disabled: 'account-disabled',
} as const

/** Throws a 401 or 403 while the account is suspended and its status does not allow this. */
export const requireStatus = (c: Context, purpose: Purpose): void => {
  const { status } = c.get('principal') ?? { status: 'active' }
  if (permits(status, purpose) || status === 'active' || status === 'notice') return
  throw new Problem(REFUSALS[status])
}

/** Throws a 403 to a user who sees only the devices of a group. */
export const requireWholeAccount = (c: Context): void => {
  if (c.get('principal').groupId === null) return
  throw new Problem('forbidden', {
    detail: 'The token belongs to a user who is confined to a group.',
  })
}
