import { openCell } from '../db/open.ts'
import { allows, narrowed, type Scope } from '../domain/scope.ts'
import { mayAct } from '../domain/user.ts'
import { cellBinding } from '../env.ts'
import type { Context } from './context.ts'
import { Problem } from './problem.ts'
import { countRequest } from './rateLimit.ts'
import { Recent } from './recent.ts'
import { hashSecret, sameDigest } from './secret.ts'
import { standingOf, touchKey } from './standing.ts'
import { type Claims, verifyToken } from './token.ts'

/** Checking a signature costs more than a database read here; the same token's is checked once an isolate. */
const verified = new Recent<Claims>(10_000)

const bearer = (c: Context): string => {
  const token = /^Bearer +([A-Za-z0-9._~+/=-]+)$/i.exec(c.req.header('Authorization') ?? '')?.[1]
  if (!token) throw new Problem('unauthorized')
  return token
}

const refused = () => new Problem('unauthorized', { headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' } })

const claimsOf = async (c: Context, token: string, now: number): Promise<Claims> => {
  const known = verified.get(token)
  if (known) {
    if (known.exp * 1000 <= now) throw refused()
    return known
  }
  const claims = await verifyToken(c.env, token, now)
  if (!claims) throw refused()
  verified.set(token, claims)
  return claims
}

/** Lets a good token in: it sets `principal` and `db`, or is a 401 that does not say why. */
export const admit = async (c: Context): Promise<void> => {
  const now = Date.now()
  const claims = await claimsOf(c, bearer(c), now)
  if (!cellBinding(c.env, claims.cell)) throw refused()
  const db = openCell(c.env, claims.cell)
  const standing = await standingOf(db, claims.keyId, now)
  if (!standing || standing.accountId !== claims.accountId || standing.disabled) throw refused()
  if (standing.userId !== claims.userId || (standing.expires !== null && standing.expires <= now)) throw refused()
  const { user } = standing
  if (user && !mayAct(user, now)) throw refused()
  const touched = touchKey(db, claims.keyId, standing, now)
  if (touched) c.executionCtx.waitUntil(touched.catch(() => {}))
  const { accountId, cell, keyId, userId } = claims
  const scopes = user ? narrowed(claims.scopes, user.privileges) : claims.scopes
  c.set('principal', { accountId, cell, keyId, scopes, userId, groupId: user?.groupId ?? null, adminDevices: user?.adminDevices ?? null })
  c.set('db', db)
  countRequest(c, accountId, now)
}

export const requireScope = (c: Context, wanted: Scope | readonly Scope[]): void => {
  const { scopes } = c.get('principal')
  const any = typeof wanted === 'string' ? [wanted] : wanted
  if (!any.some((scope) => allows(scopes, scope))) {
    throw new Problem('forbidden', { detail: `The token does not have the scope ${any.join(' or ')}.` })
  }
}

export const requireWholeAccount = (c: Context): void => {
  if (c.get('principal').groupId !== null) throw new Problem('forbidden', { detail: 'The token is of a user who is confined to a group.' })
}

/** Without ADMIN_TOKEN there are no operator's endpoints. */
export const admitOperator = async (c: Context): Promise<void> => {
  if (!c.env.ADMIN_TOKEN) throw new Problem('not-found')
  const [given, expected] = await Promise.all([hashSecret(bearer(c)), hashSecret(c.env.ADMIN_TOKEN)])
  if (!sameDigest(given, expected)) throw refused()
}
