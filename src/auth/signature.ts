import type { Env } from '../env.ts'
import { fromBase64url, macOf, toBase64url } from './mac.ts'
import { liveSecrets } from './token.ts'

/* MACs of cookies and links, under the secrets that sign tokens. Each use begins with its name. */

/** 43 characters, the same again for the same text. */
export const sign = async (env: Env, text: string): Promise<string> => {
  const [signer] = await liveSecrets(env)
  if (!signer) throw new Error('TOKEN_SECRET is not set')
  return toBase64url(await macOf(signer.key, text))
}

export const SIGNATURE = '[A-Za-z0-9_-]{43}'

/** Whether one of the live secrets has signed the text. */
export const isSignature = async (env: Env, text: string, given: string): Promise<boolean> => {
  const expected = await Promise.all((await liveSecrets(env)).map(({ key }) => macOf(key, text)))
  try {
    const bytes = fromBase64url(given)
    return expected.some(
      (mac) => mac.length === bytes.length && crypto.subtle.timingSafeEqual(mac, bytes),
    )
  } catch {
    // Not base64url.
    return false
  }
}
