import type { Env } from '../env.ts'
import { fromBase64url, macOf, toBase64url } from './mac.ts'
import { liveSecrets } from './token.ts'

/* Encrypts secrets that the database keeps, with AES-GCM keys that derive from TOKEN_SECRET. */

const IV_BYTES = 12

/** Each use has a key of its own. */
const deriveKey = async (secret: CryptoKey, use: string): Promise<CryptoKey> =>
  crypto.subtle.importKey('raw', await macOf(secret, `seal ${use}`), 'AES-GCM', false, [
    'encrypt',
    'decrypt',
  ])

export const seal = async (env: Env, use: string, text: string): Promise<string> => {
  const [signer] = await liveSecrets(env)
  if (!signer) throw new Error('TOKEN_SECRET is not set')
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES))
  const key = await deriveKey(signer.key, use)
  const bytes = new TextEncoder().encode(text)
  const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, key, bytes)
  return [signer.kid, toBase64url(iv), toBase64url(new Uint8Array(sealed))].join('.')
}

/** The text, and whether the present secret sealed it; null if no live secret did. */
export const unseal = async (
  env: Env,
  use: string,
  sealed: string,
): Promise<{ text: string; isCurrent: boolean } | null> => {
  const [kid, iv = '', encrypted = ''] = sealed.split('.')
  const secrets = await liveSecrets(env)
  const at = secrets.findIndex((secret) => secret.kid === kid)
  const secret = secrets[at]
  if (!secret) return null
  const algorithm = { name: 'AES-GCM', iv: fromBase64url(iv) }
  const key = await deriveKey(secret.key, use)
  const bytes = await crypto.subtle.decrypt(algorithm, key, fromBase64url(encrypted))
  return { text: new TextDecoder().decode(bytes), isCurrent: at === 0 }
}
