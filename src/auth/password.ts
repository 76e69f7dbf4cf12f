import type { Env } from '../env.ts'
import { importMacKey, macOf } from './mac.ts'

/*
 * PBKDF2-HMAC-SHA-256 with 100,000 iterations: WebCrypto has neither scrypt nor Argon2, and the
 * platform refuses more in one call. More would cost more CPU. In one piece they keep the isolate
 * busy for 40 ms. So there are ten rounds, each with the result of the one before as salt,
 * and other requests have their turn between them.
 */
const ROUNDS = 10
const ITERATIONS = 10_000
const HASH_BYTES = 32
const SALT_BYTES = 16
const PLAIN = 'pbkdf2-sha256'
/** The password is first combined with the pepper. Hashes from before it was set stay `PLAIN`. */
const PEPPERED = 'pbkdf2-sha256-pepper'

type PepperEnv = Pick<Env, 'PASSWORD_PEPPER'>

/** HMAC-SHA-256 of the password under the pepper. */
const addPepper = async (password: Uint8Array, pepper: string): Promise<Uint8Array> =>
  // WebCrypto refuses an empty key; without a pepper the result is not used.
  macOf(await importMacKey(pepper || 'none'), password)

interface Derivation {
  scheme: string
  salt: Uint8Array
  /** `10x10000`: rounds and the iterations of each. Earlier hashes have one round: `100000`. */
  work: string
}
const WORK = `${ROUNDS}x${ITERATIONS}`

/** Does the same work for both schemes, so that the time does not tell which one was used. */
const deriveHash = async (
  { PASSWORD_PEPPER = '' }: PepperEnv,
  password: string,
  { scheme, salt, work }: Derivation,
): Promise<Uint8Array> => {
  // Keyboards may produce the same password in different Unicode forms.
  const bytes = new TextEncoder().encode(password.normalize('NFKC'))
  const peppered = await addPepper(bytes, PASSWORD_PEPPER)
  const secret = scheme === PEPPERED ? peppered : bytes
  const key = await crypto.subtle.importKey('raw', secret, 'PBKDF2', false, ['deriveBits'])
  const [iterations = 0, rounds = 1] = work.split('x').map(Number).toReversed()
  let hash = salt
  for (let round = 0; round < rounds; round++) {
    // After a wait of 0 ms the runtime goes on without taking in new requests.
    if (round > 0) await scheduler.wait(1)
    const algorithm = { name: 'PBKDF2', hash: 'SHA-256', salt: hash, iterations }
    hash = new Uint8Array(await crypto.subtle.deriveBits(algorithm, key, HASH_BYTES * 8))
  }
  return hash
}

/** The text stored for a password: scheme, work, salt and hash. */
export const hashPassword = async (env: PepperEnv, password: string): Promise<string> => {
  const scheme = env.PASSWORD_PEPPER ? PEPPERED : PLAIN
  const salt = crypto.getRandomValues(new Uint8Array(SALT_BYTES))
  const hash = await deriveHash(env, password, { scheme, salt, work: WORK })
  return `${scheme}$${WORK}$${salt.toBase64()}$${hash.toBase64()}`
}

/** A hash that no password has: it is checked where there is none, with the same work. */
const NO_PASSWORD = `${PLAIN}$${WORK}$${'A'.repeat(22)}==$${'A'.repeat(43)}=`

/** Whether this is the password. Null, for a user without one, takes as long as a wrong one. */
export const isPassword = async (
  env: PepperEnv,
  password: string,
  stored: string | null,
): Promise<boolean> => {
  const [scheme = '', work = '', salt = '', hash = ''] = (stored ?? NO_PASSWORD).split('$')
  const derivation = { scheme, salt: Uint8Array.fromBase64(salt), work }
  const given = await deriveHash(env, password, derivation)
  const isSame = crypto.subtle.timingSafeEqual(given, Uint8Array.fromBase64(hash))
  return isSame && stored !== null && (scheme === PLAIN || scheme === PEPPERED)
}
