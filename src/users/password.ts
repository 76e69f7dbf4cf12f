/*
 * PBKDF2 with HMAC-SHA-256 and 100,000 iterations: the slowest hash that Workers offer. WebCrypto has no scrypt or Argon2,
 * the platform refuses more iterations, and one in WebAssembly would want more memory and time than a request has.
 */
const ITERATIONS = 100_000
const BYTES = 32

const derive = async (
  password: string,
  salt: Uint8Array,
  iterations: number,
): Promise<Uint8Array> => {
  // The same password typed on two keyboards may come in two forms of the same characters.
  const bytes = new TextEncoder().encode(password.normalize('NFKC'))
  const key = await crypto.subtle.importKey('raw', bytes, 'PBKDF2', false, ['deriveBits'])
  return new Uint8Array(
    await crypto.subtle.deriveBits(
      { name: 'PBKDF2', hash: 'SHA-256', salt, iterations },
      key,
      BYTES * 8,
    ),
  )
}

/** What is kept of a password: how it was made, its own salt, the hash. */
export const hashPassword = async (password: string): Promise<string> => {
  const salt = crypto.getRandomValues(new Uint8Array(16))
  const hash = await derive(password, salt, ITERATIONS)
  return `pbkdf2-sha256$${ITERATIONS}$${salt.toBase64()}$${hash.toBase64()}`
}

export const isPassword = async (password: string, kept: string): Promise<boolean> => {
  const [scheme, iterations = '', salt = '', hash = ''] = kept.split('$')
  if (scheme !== 'pbkdf2-sha256') return false
  const given = await derive(password, Uint8Array.fromBase64(salt), Number(iterations))
  return crypto.subtle.timingSafeEqual(given, Uint8Array.fromBase64(hash))
}
