import { createRemoteJWKSet, errors, jwtVerify } from 'jose'

/*
 * Cloudflare Access signs people in and adds a token to each of their requests. It is verified by
 * the certificates of the team, since the Worker may also be reached without Access.
 */

/** A token with an unknown certificate fetches them again, at most every 30 seconds. */
const CERTIFICATES_MS = 3_600_000
const SKEW_SECONDS = 30
/** Of failures to fetch the certificates; all others are of the token. */
const FETCH_FAILURES = ['ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID', 'ERR_JOSE_GENERIC']

type Certificates = ReturnType<typeof createRemoteJWKSet>
const certificates = new Map<string, Certificates>()

const certificatesOf = (issuer: string): Certificates => {
  const known = certificates.get(issuer)
  if (known) return known
  const url = new URL('/cdn-cgi/access/certs', issuer)
  const made = createRemoteJWKSet(url, { cacheMaxAge: CERTIFICATES_MS })
  certificates.set(issuer, made)
  return made
}

type AccessRefusal = 'token-invalid' | 'token-expired' | 'unavailable'

const refusalOf = (error: unknown): AccessRefusal => {
  if (error instanceof errors.JWTExpired) return 'token-expired'
  const isOfToken = error instanceof errors.JOSEError && !FETCH_FAILURES.includes(error.code)
  return isOfToken ? 'token-invalid' : 'unavailable'
}

/** The address that Access has verified (none for its service tokens), or why it is refused. */
export const readAccessToken = async (
  { issuer, audience }: { issuer: string; audience: string },
  token: string,
  now: number,
): Promise<{ email: string | null } | AccessRefusal> => {
  try {
    const { payload } = await jwtVerify(token, certificatesOf(issuer), {
      algorithms: ['RS256'],
      issuer,
      audience,
      clockTolerance: SKEW_SECONDS,
      currentDate: new Date(now),
      requiredClaims: ['iat', 'exp'],
    })
    return { email: typeof payload.email === 'string' && payload.email ? payload.email : null }
  } catch (error) {
    return refusalOf(error)
  }
}
