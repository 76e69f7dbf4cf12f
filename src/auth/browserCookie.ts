import type { Env } from '../env.ts'
import { toBase64url } from './mac.ts'
import { isSignature, SIGNATURE, sign } from './signature.ts'

/*
 * Tells browsers in which a user has signed in before from unknown ones. The cookie proves nothing
 * but that: a sign-in with it still needs the password.
 */

/** Whom a sign-in names, folded. */
export interface SignInName {
  userNameKey: string
  emailKey: string
}

const FORMAT = new RegExp(`^([A-Za-z0-9_-]{22})\\.(${SIGNATURE})$`)
const signedText = (browserId: string, { userNameKey, emailKey }: SignInName): string =>
  `browser cookie ${JSON.stringify([browserId, userNameKey, emailKey])}`

const newBrowserId = () => toBase64url(crypto.getRandomValues(new Uint8Array(16)))

/** Without an id it is a new browser. */
export const writeBrowserCookie = async (
  env: Env,
  name: SignInName,
  browserId = newBrowserId(),
): Promise<string> => `${browserId}.${await sign(env, signedText(browserId, name))}`

/** The id of the browser; null for one in which this user has never signed in. */
export const readBrowserId = async (
  env: Env,
  cookie: string | null,
  name: SignInName,
): Promise<string | null> => {
  const [, browserId = '', signature = ''] = FORMAT.exec(cookie ?? '') ?? []
  return (await isSignature(env, signedText(browserId, name), signature)) ? browserId : null
}
