import { importSPKI, jwtVerify } from 'jose'
import { isObject, type JsonObject } from '../../domain/text/json.ts'
import { type Push, Unreadable } from './push.ts'
import { parseFields } from './values.ts'

/* Ground Control signs the pushes of RockBLOCK and Rock 7 with one key pair. */

const PUBLIC_KEY = `-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAlaWAVJfNWC4XfnRx96p9cztBcdQV6l8aKmzAlZdpEcQR6MSPzlgvihaUHNJgKm8t5ShR3jcDXIOI7er30cIN4/9aVFMe0LWZClUGgCSLc3rrMD4FzgOJ4ibD8scVyER/sirRzf5/dswJedEiMte1ElMQy2M6IWBACry9u12kIqG0HrhaQOzc6Tr8pHUWTKft3xwGpxCkV+K1N+9HCKFccbwb8okRP6FFAMm5sBbw4yAu39IVvcSL43Tucaa79FzOmfGs5mMvQfvO1ua7cOLKfAwkhxEjirC0/RYX7Wio5yL6jmykAHJqFG2HT0uyjjrQWMtoGgwv9cIcI7xbsDX6owIDAQAB
-----END PUBLIC KEY-----`
const ALGORITHM = 'RS256'
const ISSUER = 'Rock 7'

let imported: Promise<CryptoKey> | null = null

const publicKey = (): Promise<CryptoKey> => {
  imported ??= importSPKI(PUBLIC_KEY, ALGORITHM)
  return imported
}

const readClaims = async (jwt: string): Promise<JsonObject> => {
  const verified = await jwtVerify(jwt, await publicKey(), {
    algorithms: [ALGORITHM],
    issuer: ISSUER,
  }).catch(() => null)
  if (!verified || !isObject(verified.payload))
    throw new Unreadable('The JWT is not signed by Rock 7.')
  return verified.payload
}

/**
 * The fields of a push. Of a signed one they are the claims of its JWT, not what stands beside it.
 * There is no bound on its age: the key of an item makes a replay a duplicate.
 */
export const readSignedFields = async (push: Push): Promise<JsonObject> => {
  const fields = parseFields(push)
  if (fields.JWT === undefined || fields.JWT === null || fields.JWT === '') {
    if (push.settings.requireJwt)
      throw new Unreadable('The push has no JWT, which the source requires.')
    return fields
  }
  if (typeof fields.JWT !== 'string') throw new Unreadable('`JWT` must be text.')
  return readClaims(fields.JWT)
}
