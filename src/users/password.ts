/*
 * PBKDF2-HMAC-SHA-256 with 100,000 iterations is the slowest hash that Workers offer: WebCrypto has
 * neither scrypt nor Argon2, and the platform refuses more iterations.
 */
const ITERATIONS = 100_000
const HASH_BYTES = 32
const SALT_BYTES = 16
const SCHEME = 'pbkdf2-sha256'

const deriveHash = async (
  password: string,
  salt: Uint8Array,
  iterations: number,
): Promise<Uint8Array> => {
  // Keyboards may produce the same password in different Unicode forms.
  const bytes = new TextEncoder().encode(password.normalize('NFKC'))
  const key = await crypto.subtle.importKey('raw', bytes, 'PBKDF2', false, ['deriveBits'])
  const algorithm = { name: 'PBKDF2', hash: 'SHA-256', salt, iterations }
  return new Uint8Array(await crypto.subtle.deriveBits(algorithm, key, HASH_BYTES * 8))
}

/** The text stored for a password: scheme, iterations, salt and hash. */
export const hashPassword = async (password: string): Promise<string> => {
  const salt = crypto.getRandomValues(new Uint8Array(SALT_BYTES))
  const hash = await deriveHash(password, salt, ITERATIONS)
  return `${SCHEME}$${ITERATIONS}$${salt.toBase64()}$${hash.toBase64()}`
}

export const isPassword = async (password: string, stored: string): Promise<boolean> => {
  const [scheme, iterations = '', salt = '', hash = ''] = stored.split('$')
  if (scheme !== SCHEME) return false
  const given = await deriveHash(password, Uint8Array.fromBase64(salt), Number(iterations))
  return crypto.subtle.timingSafeEqual(given, Uint8Array.fromBase64(hash))
}
