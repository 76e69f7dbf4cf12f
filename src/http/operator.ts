import { readAccessToken } from '../auth/access.ts'
import {
  findOperator,
  findOperatorByEmail,
  isOperatorKey,
  type OperatorRow,
  recordOperatorUse,
} from '../auth/operator.ts'
import { hashSecret, isSameDigest } from '../auth/secret.ts'
import { countSignIn } from '../auth/signIns.ts'
import { openDirectory, withRetries } from '../db/open.ts'
import { NO_ACCOUNT } from '../db/queries/audit.ts'
import { parseApiKey } from '../domain/account/apiKey.ts'
import type { Actor } from '../domain/admin/audit.ts'
import { mayOperate, type OperatorRight, type OperatorSignIn } from '../domain/admin/operator.ts'
import { BoundedCache } from '../domain/cache/boundedCache.ts'
import { emailKey } from '../domain/message/email.ts'
import { accessOf, operatorTokens } from '../env.ts'
import { log } from '../log.ts'
import {
  countOperatorFailure,
  networkOfCaller,
  noteOperator,
  refuseOperatorGuesses,
} from './admission/rateLimit.ts'
import { readBearer } from './auth.ts'
import type { Context } from './context.ts'
import { Problem } from './contract/problem.ts'
import { requireOwnOrigin } from './ownOrigin.ts'
import { writerAs } from './writer.ts'

/* Who operates the service: ADMIN_TOKEN, the key of an operator, or a person of Cloudflare Access. */

type OperatorName = Pick<OperatorRow, 'id' | 'name'>
const BOOTSTRAP = { type: 'operator', id: 'operator', name: 'ADMIN_TOKEN' } as const

let hasWarned = false

/** Once in an isolate: otherwise an operator would look for the cause of the 404 in vain. */
const warnOfShortToken = (): void => {
  if (!hasWarned) log('warn', { event: 'admin-token-too-short' })
  hasWarned = true
}

type Outcome = 'operator.signedIn' | 'signIn.refused'

/** Counts a sign-in in the service's own audit, after the reply; an unknown operator has no id. */
const countSignInLater = (c: Context, action: Outcome, row: OperatorName | null, now: number) => {
  const actor: Actor = row
    ? { type: 'operator', id: row.id, name: row.name }
    : { type: 'system', id: 'sign-in', name: null }
  const counted = countSignIn(openDirectory(c.env), {
    accountId: NO_ACCOUNT,
    action,
    resource: { type: 'operator', id: row?.id ?? '' },
    writer: writerAs(c, actor),
    network: networkOfCaller(c),
    now,
  })
  c.executionCtx.waitUntil(counted.catch(() => {}))
}

const HOUR_MS = 3_600_000
/** Whom this isolate has counted in which hour: each of their requests is a sign-in. */
const signedIn = new BoundedCache<true>(1000)

const noteSignIn = (c: Context, row: OperatorName, now: number): void => {
  noteOperator(c, now)
  const known = `${row.id} ${networkOfCaller(c)} ${Math.floor(now / HOUR_MS)}`
  if (signedIn.get(known)) return
  signedIn.set(known, true)
  countSignInLater(c, 'operator.signedIn', row, now)
}

const setOperator = (c: Context, row: OperatorRow, signIn: OperatorSignIn, now: number): void => {
  const { id, name, role } = row
  c.set('operator', { type: 'operator', id, name })
  c.set('operatorAccess', { role, signIn })
  noteSignIn(c, row, now)
  const written = recordOperatorUse(openDirectory(c.env), row, now)
  if (written) c.executionCtx.waitUntil(written.catch(() => {}))
}

const refuseToken = async (
  c: Context,
  now: number,
  row: OperatorName | null = null,
): Promise<never> => {
  await countOperatorFailure(c, now)
  countSignInLater(c, 'signIn.refused', row, now)
  throw new Problem('token-invalid', { detail: 'The token is not an operator’s.' })
}

const admitKey = async (c: Context, key: string): Promise<void> => {
  refuseOperatorGuesses(c, Date.now())
  const parsed = parseApiKey(key, 'opr')
  const row = parsed && (await findOperator(withRetries(openDirectory(c.env)), parsed.id))
  const hash = await hashSecret(parsed?.secret ?? '')
  const now = Date.now()
  // Nothing is awaited until a failure is counted, so that many at once cannot pass together.
  refuseOperatorGuesses(c, now)
  if (!row || !isOperatorKey(row, hash, now)) return refuseToken(c, now, row)
  setOperator(c, row, 'key', now)
}

const admitToken = async (c: Context, tokens: string[], token: string): Promise<void> => {
  const [given = '', ...expected] = await Promise.all([token, ...tokens].map(hashSecret))
  const now = Date.now()
  refuseOperatorGuesses(c, now)
  // All are compared, so that the time does not show which of them it was.
  if (!expected.map((digest) => isSameDigest(given, digest)).includes(true))
    return refuseToken(c, now)
  c.set('operator', BOOTSTRAP)
  c.set('operatorAccess', { role: 'owner', signIn: 'token' })
  noteSignIn(c, BOOTSTRAP, now)
}

interface Access {
  issuer: string
  audience: string
}

const isRead = ({ req }: Context): boolean => req.method === 'GET' || req.method === 'HEAD'

/** The browser sends the cookie of Access whoever asks it to: a write must come from our pages. */
const admitPerson = async (c: Context, access: Access, token: string): Promise<void> => {
  if (!isRead(c)) requireOwnOrigin(c)
  const now = Date.now()
  refuseOperatorGuesses(c, now)
  const verified = await readAccessToken(access, token, now)
  if (verified === 'token-invalid') return refuseToken(c, now)
  if (verified === 'unavailable') log('warn', { event: 'access-certificates-unavailable' })
  if (typeof verified === 'string') throw new Problem(verified)
  const { email } = verified
  const directory = withRetries(openDirectory(c.env))
  const key = email === null ? null : emailKey(email)
  const row = key === null ? null : await findOperatorByEmail(directory, key)
  if (!row) {
    countSignInLater(c, 'signIn.refused', null, now)
    throw new Problem('forbidden', {
      detail: 'Cloudflare Access has signed you in, but your address is not an operator’s.',
    })
  }
  setOperator(c, row, 'access', now)
}

/** Without a token of the operator, or with a short one, the operator's endpoints do not exist. */
export const admitOperator = async (c: Context): Promise<void> => {
  const tokens = operatorTokens(c.env)
  if (tokens.length === 0) {
    if (c.env.ADMIN_TOKEN) warnOfShortToken()
    throw new Problem('route-not-found')
  }
  const assertion = c.req.header('Cf-Access-Jwt-Assertion')
  const access = assertion === undefined ? null : accessOf(c.env)
  // A program behind Access also has its assertion.
  if (access && assertion && c.req.header('Authorization') === undefined)
    return admitPerson(c, access, assertion)
  const token = readBearer(c)
  return token.startsWith('pgo_') ? admitKey(c, token) : admitToken(c, tokens, token)
}

/** Throws a 403 unless the operator's role has the right. */
export const requireRight = (c: Context, right: OperatorRight | 'any'): void => {
  const { role } = c.get('operatorAccess')
  if (right === 'any' || mayOperate(role, right)) return
  throw new Problem('forbidden', { detail: `An operator with the role ${role} may not do this.` })
}
