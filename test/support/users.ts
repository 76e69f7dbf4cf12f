import { type Caller, callerWith, fetchToken, type TestAccount } from './accounts.ts'

let userCount = 0

/** Creates a user; the members given replace the defaults. Returns the user as the API shows it. */
export const createUser = async (account: Caller, members: object = {}) => {
  const body = {
    name: 'Ana',
    email: `ana${++userCount}@example.com`,
    country: 'PT',
    timeZone: 'Europe/Lisbon',
    ...members,
  }
  const reply = await account.call('POST', '/api/users', { body })
  if (reply.status !== 201) throw new Error(`no user: ${reply.text}`)
  return reply.body
}

export interface BoundUser extends Caller {
  id: string
  apiKey: string
  keyId: string
  token: string
}

/** Creates a user, a key bound to it, and a token of that key. */
export const createBoundUser = async (
  account: TestAccount,
  user: object = {},
  key: object = {},
): Promise<BoundUser> => {
  const { id } = await createUser(account, user)
  const { status, body, text } = await account.call('POST', '/api/account/keys', {
    body: { name: 'ana', scopes: ['admin'], userId: id, ...key },
  })
  if (status !== 201) throw new Error(`no bound key: ${text}`)
  const token = await fetchToken(account.userName, body.apiKey)
  return { id, apiKey: body.apiKey, keyId: body.key.id, token, ...callerWith(token) }
}
