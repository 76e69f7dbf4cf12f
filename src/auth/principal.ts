import { resolveCell } from '../db/movedCell.ts'
import { type Database, openCell, withRetries } from '../db/open.ts'
import { intersectScopes, SCOPES, type Scope, toScopes } from '../domain/account/scope.ts'
import { isSessionId } from '../domain/account/session.ts'
import { canAct } from '../domain/account/user.ts'
import { type AccountStatus, permits } from '../domain/admin/status.ts'
import { BoundedCache } from '../domain/cache/boundedCache.ts'
import { cellBinding, type Env } from '../env.ts'
import { evictKey, findKeyStatus, type KeyStatus, readKeyStatuses } from './keyStatus.ts'
import { noteAccountLimit } from './requestLimit.ts'
import { type Claims, type InvalidToken, verifyToken } from './token.ts'

/** The caller, as the token states and the cell has confirmed. */
export interface Principal {
  accountId: string
  cell: number
  /** The id of the API key, or of the session (`ses_…`). */
  keyId: string
  scopes: Scope[]
  userId: string | null
  /** The one group a bound user is confined to; null for the whole account. */
  groupId: string | null
  /** How many devices of its own making a bound user may have; null for no limit. */
  adminDevices: number | null
  /** What the key, or the user of the session, is called. */
  name: string | null
  /** Whether it is a program that a user has let act for them by OAuth. */
  isAgent: boolean
  /** The operator whose support this is; null for the account's own people and machines. */
  operatorId: string | null
  status: AccountStatus
}

/** A verified token with the current status of its key. */
export interface Authenticated {
  claims: Claims
  status: KeyStatus
  principal: Principal
  db: Database
}

/** Why a token is refused. Only a token with our signature gets more than `token-invalid`. */
export type TokenRefusal =
  | InvalidToken
  | 'key-revoked'
  | 'session-ended'
  | 'account-disabled'
  | 'user-disabled'

/** Verifying a signature costs more than a database read, so each isolate verifies a token once. */
const verifiedTokens = new BoundedCache<Claims>(10_000)

const readClaims = async (env: Env, token: string, now: number): Promise<Claims | InvalidToken> => {
  const known = verifiedTokens.get(token)
  if (known) return known.exp * 1000 > now ? known : 'token-expired'
  const claims = await verifyToken(env, token, now)
  if (typeof claims !== 'string') verifiedTokens.set(token, claims)
  return claims
}

/** The caller, or why its key, user or account no longer allows the token. */
const checkStatus = (
  claims: Claims,
  status: KeyStatus | null,
  now: number,
): Principal | TokenRefusal => {
  const { accountId, cell, keyId, userId } = claims
  const isSession = isSessionId(keyId)
  const ended = isSession ? 'session-ended' : 'key-revoked'
  // The key or session is gone, or its user, or its account.
  if (!status) return ended
  if (status.accountId !== accountId || status.userId !== userId) return 'token-invalid'
  if (status.expires !== null && status.expires <= now) return ended
  const { user } = status
  if (user && !canAct(user, now)) return 'user-disabled'
  // A session has the user's present privileges, even if they are more than at the sign-in. The
  // user has limited those of an agent.
  const ofSession = status.agent ? intersectScopes(status.agent.scopes, claims.scopes) : SCOPES
  const held = isSession ? ofSession : claims.scopes
  const ownScopes = user ? intersectScopes(held, toScopes(user.privileges)) : claims.scopes
  // The account may take back at any time that support changes something.
  const isReader = status.operatorId !== null && !status.supportMayWrite
  const scopes = isReader ? intersectScopes(ownScopes, ['read']) : ownScopes
  const groupId = user?.groupId ?? null
  const adminDevices = user?.adminDevices ?? null
  const { name, operatorId, accountStatus } = status
  const isAgent = status.agent !== null
  const rights = { scopes, userId, groupId, adminDevices, operatorId, isAgent }
  return { accountId, cell, keyId, ...rights, name, status: accountStatus }
}

/** Null when the key or its user no longer allows the token, or the account may read nothing. */
export const principalOf = (
  claims: Claims,
  status: KeyStatus | null,
  now: number,
): Principal | null => {
  const principal = checkStatus(claims, status, now)
  return typeof principal === 'string' || !permits(principal.status, 'read') ? null : principal
}

/** Reads the key status from the cell, not the cache: a stream is admitted once and stays open. */
export const readPrincipal = async (
  db: Database,
  claims: Claims,
  now: number,
): Promise<Principal | null> => {
  const statuses = await readKeyStatuses(withRetries(db), [claims.keyId])
  return principalOf(claims, statuses.get(claims.keyId) ?? null, now)
}

/** Where accounts are whose tokens name a cell that does not have their key. */
const locatedCells = new BoundedCache<{ cell: number; until: number }>(10_000)
const LOCATED_MS = 15_000

/** The status of the token's key in the account's present cell, which the token may not name. */
const locate = async (env: Env, named: Claims, now: number) => {
  const place = `${named.accountId} ${named.cell}`
  const known = locatedCells.get(place)
  const isFresh = known !== undefined && known.until > now
  let cell = isFresh ? known.cell : named.cell
  const read = () => findKeyStatus(withRetries(openCell(env, cell)), named.keyId, now)
  let status = await read()
  const isHere = isFresh && cell === named.cell
  if (status ? status.otherCell !== null : !isHere) {
    const actual = await resolveCell(env, named.accountId, cell)
    locatedCells.set(place, { cell: actual, until: now + LOCATED_MS })
    if (actual !== cell) {
      cell = actual
      evictKey(named.keyId)
      status = await read()
    }
  }
  return { status, cell }
}

/** The caller of a token, or why the token is refused. */
export const authenticate = async (
  env: Env,
  token: string,
  now: number,
): Promise<Authenticated | TokenRefusal> => {
  const named = await readClaims(env, token, now)
  if (typeof named === 'string') return named
  if (!cellBinding(env, named.cell)) return 'token-invalid'
  const { status, cell } = await locate(env, named, now)
  const claims = cell === named.cell ? named : { ...named, cell }
  const db = openCell(env, cell)
  const principal = checkStatus(claims, status, now)
  if (typeof principal === 'string') return principal
  if (!status) return 'key-revoked'
  noteAccountLimit(principal.accountId, status.requestsPerMinute)
  return { claims, status, principal, db }
}
