import { errors, jwtVerify } from 'jose'
import { type Scope, toScopes } from '../domain/account/scope.ts'
import { sha256 } from '../domain/text/sha256.ts'
import { type Env, readNumber } from '../env.ts'
import { importMacKey, macOf, toBase64url } from './mac.ts'

const ISSUER = 'perigee'
const AUDIENCE = 'perigee-api'
const SKEW_SECONDS = 30

/**
 * The content of a token. Whether its key or session still allows it is checked in the account's
 * cell.
 */
export interface Claims {
  accountId: string
  cell: number
  /** The id of the API key or of the session. */
  keyId: string
  scopes: Scope[]
  userId: string | null
  /** Seconds since 1970. */
  exp: number
}

/** Why a token is refused before its key is looked up. */
export type InvalidToken = 'token-invalid' | 'token-expired'

interface SigningKey {
  kid: string
  key: CryptoKey
  /** The first part of every token that the key signs. */
  header: string
}

const base64urlJson = (value: object): string =>
  toBase64url(new TextEncoder().encode(JSON.stringify(value)))

const importedKeys = new Map<string, Promise<SigningKey>>()

const signingKey = (secret: string): Promise<SigningKey> => {
  if (secret.length < 32) throw new Error('TOKEN_SECRET must have at least 32 characters')
  let pending = importedKeys.get(secret)
  if (!pending) {
    pending = importSecret(secret)
    importedKeys.set(secret, pending)
  }
  return pending
}

const importSecret = async (secret: string): Promise<SigningKey> => {
  const key = await importMacKey(secret)
  const kid = (await sha256(secret)).subarray(0, 6).toHex()
  return { kid, key, header: base64urlJson({ alg: 'HS256', typ: 'JWT', kid }) }
}

/** The signing secret, then the one it replaced: during a rotation tokens of both are valid. */
export const liveSecrets = (env: Env): Promise<SigningKey[]> =>
  Promise.all(
    [env.TOKEN_SECRET, env.TOKEN_SECRET_PREVIOUS]
      .filter((secret) => !!secret)
      .map((secret) => signingKey(secret as string)),
  )

/** Signs by hand what `jwtVerify` reads: the library's builder takes as long as a database read. */
export const signToken = async (
  env: Env,
  claims: Omit<Claims, 'exp'>,
  now: number,
  seconds = readNumber(env, 'TOKEN_TTL_SECONDS'),
): Promise<{ token: string; expires: number }> => {
  const [signer] = await liveSecrets(env)
  if (!signer) throw new Error('TOKEN_SECRET is not set')
  const issued = Math.floor(now / 1000)
  const expires = issued + seconds
  const payload = base64urlJson({
    key: claims.keyId,
    scope: claims.scopes.join(' '),
    user: claims.userId,
    cell: claims.cell,
    iss: ISSUER,
    aud: AUDIENCE,
    sub: claims.accountId,
    iat: issued,
    exp: expires,
    jti: crypto.randomUUID(),
  })
  const signed = `${signer.header}.${payload}`
  const mac = await macOf(signer.key, signed)
  return { token: `${signed}.${toBase64url(mac)}`, expires: expires * 1000 }
}

/** The claims of a token of this service. Only a token with a right signature is called expired. */
export const verifyToken = async (
  env: Env,
  token: string,
  now: number,
): Promise<Claims | InvalidToken> => {
  const secrets = await liveSecrets(env)
  try {
    const { payload } = await jwtVerify(
      token,
      (header) => {
        const found = secrets.find(({ kid }) => kid === header.kid)
        if (!found) throw new Error('no such key')
        return found.key
      },
      {
        algorithms: ['HS256'],
        issuer: ISSUER,
        audience: AUDIENCE,
        clockTolerance: SKEW_SECONDS,
        currentDate: new Date(now),
        requiredClaims: ['sub', 'iat', 'exp', 'jti'],
      },
    )
    const { sub, exp, key, scope, user, cell } = payload
    if (
      !sub ||
      !exp ||
      typeof key !== 'string' ||
      typeof scope !== 'string' ||
      typeof cell !== 'number'
    )
      return 'token-invalid'
    const scopes = toScopes(scope.split(' '))
    return {
      accountId: sub,
      cell,
      keyId: key,
      scopes,
      userId: typeof user === 'string' ? user : null,
      exp: exp + SKEW_SECONDS,
    }
  } catch (error) {
    return error instanceof errors.JWTExpired ? 'token-expired' : 'token-invalid'
  }
}
