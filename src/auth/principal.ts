import { type Database, openCell } from '../db/open.ts'
import { BoundedCache } from '../domain/boundedCache.ts'
import { intersectScopes, type Scope, toScopes } from '../domain/scope.ts'
import { canAct } from '../domain/user.ts'
import { cellBinding, type Env } from '../env.ts'
import { findKeyStatus, type KeyStatus, readKeyStatuses } from './keyStatus.ts'
import { type Claims, verifyToken } from './token.ts'

/** The caller, as the token states and the cell has confirmed. */
export interface Principal {
  accountId: string
  cell: number
  keyId: string
  scopes: Scope[]
  userId: string | null
  /** The one group a bound user is confined to; null for the whole account. */
  groupId: string | null
  /** How many devices of its own making a bound user may have; null for no limit. */
  adminDevices: number | null
}

/** A verified token with the current status of its key. */
export interface Authenticated {
  claims: Claims
  status: KeyStatus
  principal: Principal
  db: Database
}

/** Verifying a signature costs more than a database read, so each isolate verifies a token once. */
const verifiedTokens = new BoundedCache<Claims>(10_000)

const readClaims = async (env: Env, token: string, now: number): Promise<Claims | null> => {
  const known = verifiedTokens.get(token)
  if (known) return known.exp * 1000 > now ? known : null
  const claims = await verifyToken(env, token, now)
  if (claims) verifiedTokens.set(token, claims)
  return claims
}

/** Null when the key or its user no longer allows the token. */
export const principalOf = (
  claims: Claims,
  status: KeyStatus | null,
  now: number,
): Principal | null => {
  const { accountId, cell, keyId, userId } = claims
  if (!status || status.accountId !== accountId || status.disabled) return null
  if (status.userId !== userId || (status.expires !== null && status.expires <= now)) return null
  const { user } = status
  if (user && !canAct(user, now)) return null
  const scopes = user ? intersectScopes(claims.scopes, toScopes(user.privileges)) : claims.scopes
  const groupId = user?.groupId ?? null
  const adminDevices = user?.adminDevices ?? null
  return { accountId, cell, keyId, scopes, userId, groupId, adminDevices }
}

/** Reads the key status from the cell, not the cache: a stream is admitted once and stays open. */
export const readPrincipal = async (
  db: Database,
  claims: Claims,
  now: number,
): Promise<Principal | null> => {
  const statuses = await readKeyStatuses(db, [claims.keyId])
  return principalOf(claims, statuses.get(claims.keyId) ?? null, now)
}

/** Null for a token that is not valid, whatever the reason. */
export const authenticate = async (
  env: Env,
  token: string,
  now: number,
): Promise<Authenticated | null> => {
  const claims = await readClaims(env, token, now)
  if (!claims || !cellBinding(env, claims.cell)) return null
  const db = openCell(env, claims.cell)
  const status = await findKeyStatus(db, claims.keyId, now)
  const principal = principalOf(claims, status, now)
  return status && principal && { claims, status, principal, db }
}
