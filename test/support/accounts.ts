import { type Call, call, callAsOperator, type Reply } from './http.ts'

/** Calls the API with a token of its own. */
export interface Caller {
  call: (method: string, path: string, options?: Call) => Promise<Reply>
}

export interface TestAccount extends Caller {
  id: string
  userName: string
  apiKey: string
  token: string
}

export const callerWith = (token: string): Caller => ({
  call: (method, path, options = {}) => call(method, path, { token, ...options }),
})

export const fetchToken = async (
  userName: string,
  apiKey: string,
  headers: Record<string, string> = {},
): Promise<string> => {
  const reply = await call('POST', '/api/Auth/Token', { body: { userName, apiKey }, headers })
  if (reply.status !== 200) throw new Error(`no token: ${reply.text}`)
  return reply.body.token
}

let accountCount = 0

/**
 * Opens an account for one test, with a token of all scopes. Tests share a file's storage, never an
 * account.
 */
export const openAccount = async (
  options: { licenses?: number; timeZone?: string; cell?: number } = {},
): Promise<TestAccount> => {
  const userName = `test-${++accountCount}-${crypto.randomUUID().slice(0, 8)}`
  const { licenses = 10, timeZone = 'UTC', cell = 0 } = options
  const reply = await callAsOperator('POST', '/admin/accounts', {
    body: { userName, name: 'Test', licenses, timeZone, cell },
  })
  if (reply.status !== 201) throw new Error(`no account: ${reply.text}`)
  const { account, apiKey } = reply.body
  const token = await fetchToken(userName, apiKey)
  return { id: account.id, userName, apiKey, token, ...callerWith(token) }
}

/** Erases an account at once. */
export const eraseAccount = ({ id, userName }: Pick<TestAccount, 'id' | 'userName'>) =>
  callAsOperator('DELETE', `/admin/accounts/${id}?now=true`, { body: { userName } })

/** Creates a key with just these scopes and gets a token for it. */
export const fetchTokenWithScopes = async (
  account: TestAccount,
  scopes: string[],
): Promise<string> => {
  const { body } = await account.call('POST', '/api/account/keys', {
    body: { name: scopes.join('+'), scopes },
  })
  return fetchToken(account.userName, body.apiKey)
}

/** Opens a sandbox as the operator, with a token of all scopes. */
export const openSandbox = async (more: object = {}): Promise<TestAccount> => {
  const given = `sandbox-${++accountCount}-${crypto.randomUUID().slice(0, 8)}`
  const { status, body, text } = await callAsOperator('POST', '/admin/accounts', {
    body: { userName: given, name: 'Sandbox', timeZone: 'UTC', sandbox: true, ...more },
  })
  if (status !== 201) throw new Error(`no sandbox: ${text}`)
  const { id, userName } = body.account
  const token = await fetchToken(userName, body.apiKey)
  return { id, userName, apiKey: body.apiKey, token, ...callerWith(token) }
}
