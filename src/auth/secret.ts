import { formatApiKey, makeSecret, SECRET_BYTES } from '../domain/account/apiKey.ts'
import { sha256 } from '../domain/text/sha256.ts'

/** The hash stored for a secret. With 200 random bits, one round is enough. */
export const hashSecret = async (secret: string): Promise<string> => (await sha256(secret)).toHex()

/** Compares hex digests in constant time, also when `b` is missing (empty). */
export const isSameDigest = (a: string, b: string): boolean => {
  const expected = b.length === a.length ? b : '0'.repeat(a.length)
  const isSame = crypto.subtle.timingSafeEqual(Uint8Array.fromHex(a), Uint8Array.fromHex(expected))
  return isSame && b.length === a.length
}

/** Makes a new secret for a key id: the API key, which is shown once, and the hash to store. */
export const issueApiKey = async (keyId: string): Promise<{ apiKey: string; hash: string }> => {
  const secret = makeSecret(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)))
  return { apiKey: formatApiKey(keyId, secret), hash: await hashSecret(secret) }
}
