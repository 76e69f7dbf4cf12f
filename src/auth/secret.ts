import { formatApiKey, makeSecret, SECRET_BYTES } from '../domain/apiKey.ts'

/** What is kept of a secret. With 200 random bits in it, one round is as safe as many. */
export const hashSecret = async (secret: string): Promise<string> =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(secret))).toHex()

/** Equal hex digests, in a time that does not tell where they differ. An absent one is compared all the same. */
export const sameDigest = (a: string, b: string): boolean => {
  const expected = b.length === a.length ? b : '0'.repeat(a.length)
  const same = crypto.subtle.timingSafeEqual(Uint8Array.fromHex(a), Uint8Array.fromHex(expected))
  return same && b.length === a.length
}

/** A fresh secret for the key with this id: the whole API key to show once, and the hash to keep. */
export const issueApiKey = async (keyId: string): Promise<{ apiKey: string; hash: string }> => {
  const secret = makeSecret(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)))
  return { apiKey: formatApiKey(keyId, secret), hash: await hashSecret(secret) }
}
