import { env } from 'cloudflare:workers'
import { writeLink } from '../../src/auth/passwordLink.ts'
import { callerWith, type TestAccount } from './accounts.ts'
import { call, ORIGIN, type Reply } from './http.ts'
import { createUser } from './users.ts'

export const PASSWORD = 'correct horse battery'

export interface SignInUser {
  id: string
  email: string
  [member: string]: unknown
}

/** Creates a user with the password `PASSWORD`. */
export const createSignInUser = (account: TestAccount, members: object = {}): Promise<SignInUser> =>
  createUser(account, {
    email: `${crypto.randomUUID()}@example.com`,
    password: PASSWORD,
    ...members,
  })

export const credentialsOf = ({ userName }: TestAccount, { email }: SignInUser) => ({
  account: userName,
  email,
  password: PASSWORD,
})

/** The session cookie that a reply sets, as a browser sends it back. */
export const cookieOf = ({ headers }: Reply): string =>
  (headers.get('Set-Cookie') ?? '').split(';')[0] ?? ''

export const postSignIn = (body: unknown, headers: Record<string, string> = {}): Promise<Reply> =>
  call('POST', '/api/Auth/SignIn', { body, headers })

/** Signs a user in. */
export const signIn = async (account: TestAccount, user: SignInUser) => {
  const reply = await postSignIn(credentialsOf(account, user), { 'User-Agent': 'Test/1.0' })
  if (reply.status !== 200) throw new Error(`no session: ${reply.text}`)
  const cookie = cookieOf(reply)
  const sessionId = cookie.split('.')[1] ?? ''
  const { token } = reply.body as { token: string }
  return { token, cookie, sessionId, ...callerWith(token) }
}

/** Sends a request with the cookie, as one of our own pages does. */
export const postWithCookie = (
  path: string,
  cookie: string,
  { body, headers = {} }: { body?: unknown; headers?: Record<string, string> } = {},
): Promise<Reply> =>
  call('POST', path, {
    headers: { Origin: ORIGIN, Cookie: cookie, ...headers },
    ...(body !== undefined && { body }),
  })

export const refresh = (cookie: string): Promise<Reply> =>
  postWithCookie('/api/Auth/Refresh', cookie)

/** A link for a user who has no password yet, without the e-mail. */
export const makeLink = (
  { id: accountId }: TestAccount,
  { id, email }: { id: string; email: string },
  { kind = 'invitation' as const, cell = 0, lifetimeMs = 60_000 } = {},
): Promise<string> =>
  writeLink(
    env,
    { kind, cell, userId: id, expires: Date.now() + lifetimeMs },
    { accountId, emailKey: email.toLowerCase(), password: null, lastDisabled: null },
  )
