import { type Database, openCell } from '../db/open.ts'
import { allows, narrowed, type Scope } from '../domain/scope.ts'
import { mayAct } from '../domain/user.ts'
import { cellBinding, type Env } from '../env.ts'
import type { Context, Principal } from './context.ts'
import { Problem } from './problem.ts'
import { countRequest } from './rateLimit.ts'
import { Recent } from './recent.ts'
import { hashSecret, sameDigest } from './secret.ts'
import { readStandings, type Standing, standingOf, touchKey } from './standing.ts'
import { type Claims, verifyToken } from './token.ts'

/** Checking a signature costs more than a database read here; the same token's is checked once an isolate. */
const verified = new Recent<Claims>(10_000)

const bearer = (c: Context): string => {
  const token = /^Bearer +([A-Za-z0-9._~+/=-]+)$/i.exec(c.req.header('Authorization') ?? '')?.[1]
  if (!token) throw new Problem('unauthorized')
  return token
}

const refused = () => new Problem('unauthorized', { headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' } })

const claimsOf = async (env: Env, token: string, now: number): Promise<Claims | null> => {
  const known = verified.get(token)
  if (known) return known.exp * 1000 > now ? known : null
  const claims = await verifyToken(env, token, now)
  if (claims) verified.set(token, claims)
  return claims
}

/** Whom the claims speak for, as their key stands now; null where they do not hold any more. */
export const principalOf = (claims: Claims, standing: Standing | null, now: number): Principal | null => {
  const { accountId, cell, keyId, userId } = claims
  if (!standing || standing.accountId !== accountId || standing.disabled) return null
  if (standing.userId !== userId || (standing.expires !== null && standing.expires <= now)) return null
  const { user } = standing
  if (user && !mayAct(user, now)) return null
  const scopes = user ? narrowed(claims.scopes, user.privileges) : claims.scopes
  return { accountId, cell, keyId, scopes, userId, groupId: user?.groupId ?? null, adminDevices: user?.adminDevices ?? null }
}

/** The same by what the cell says at this moment: for whoever is let in once and stays, what an isolate remembers is too old. */
export const principalNow = async (db: Database, claims: Claims, now: number): Promise<Principal | null> =>
  principalOf(claims, (await readStandings(db, [claims.keyId])).get(claims.keyId) ?? null, now)

export interface Admitted {
  claims: Claims
  standing: Standing
  principal: Principal
  db: Database
}

/** Who brings this token, if it still holds; null does not say why not. */
export const admitToken = async (env: Env, token: string, now: number): Promise<Admitted | null> => {
  const claims = await claimsOf(env, token, now)
  if (!claims || !cellBinding(env, claims.cell)) return null
  const db = openCell(env, claims.cell)
  const standing = await standingOf(db, claims.keyId, now)
  const principal = principalOf(claims, standing, now)
  return standing && principal && { claims, standing, principal, db }
}

/** Told beside the answer: it is nobody's to wait for. */
export const noteUse = (c: Context, { principal, standing, db }: Admitted, now: number): void => {
  const touched = touchKey(db, principal.keyId, standing, now)
  if (touched) c.executionCtx.waitUntil(touched.catch(() => {}))
}

/** Lets a good token in: it sets `principal` and `db`, or is a 401 that does not say why. */
export const admit = async (c: Context, token = bearer(c)): Promise<void> => {
  const now = Date.now()
  const admitted = await admitToken(c.env, token, now)
  if (!admitted) throw refused()
  const { claims, principal, db } = admitted
  noteUse(c, admitted, now)
  c.set('claims', claims)
  c.set('principal', principal)
  c.set('db', db)
  countRequest(c, principal.accountId, now)
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
