import { env, exports } from 'cloudflare:workers'

export const ORIGIN = 'https://perigee.test'

export interface Reply {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what came over the wire as it pleases
  body: any
  text: string
}

export interface Call {
  token?: string
  body?: unknown
  headers?: Record<string, string>
}

/** One request through the Worker's own door. A body that is not text is sent as JSON. */
export const call = async (
  method: string,
  path: string,
  { token, body, headers = {} }: Call = {},
): Promise<Reply> => {
  const response = await exports.default.fetch(`${ORIGIN}${path}`, {
    method,
    redirect: 'manual',
    headers: {
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && {
      body:
        typeof body === 'string' || body instanceof Uint8Array || body instanceof ReadableStream
          ? body
          : JSON.stringify(body),
    }),
  })
  const text = await response.text()
  const isJson = /json/.test(response.headers.get('Content-Type') ?? '') && text !== ''
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson ? JSON.parse(text) : null,
  }
}

export const operator = (method: string, path: string, options: Call = {}) =>
  call(method, path, { token: env.ADMIN_TOKEN ?? '', ...options })

export const tokenFor = async (
  userName: string,
  apiKey: string,
  headers: Record<string, string> = {},
): Promise<string> => {
  const reply = await call('POST', '/api/Auth/Token', { body: { userName, apiKey }, headers })
  if (reply.status !== 200) throw new Error(`no token: ${reply.text}`)
  return reply.body.token
}

export interface TestAccount {
  id: string
  userName: string
  apiKey: string
  token: string
  call: (method: string, path: string, options?: Call) => Promise<Reply>
}

let made = 0

/** An account of the test's own, with a token that may do everything. Tests share a file's storage, never an account. */
export const openAccount = async (
  options: { licenses?: number; timeZone?: string; cell?: number } = {},
): Promise<TestAccount> => {
  const userName = `test-${++made}-${crypto.randomUUID().slice(0, 8)}`
  const { licenses = 10, timeZone = 'UTC', cell = 0 } = options
  const reply = await operator('POST', '/admin/accounts', {
    body: { userName, name: 'Test', licenses, timeZone, cell },
  })
  if (reply.status !== 201) throw new Error(`no account: ${reply.text}`)
  const { account, apiKey } = reply.body
  const token = await tokenFor(userName, apiKey)
  return {
    id: account.id,
    userName,
    apiKey,
    token,
    call: (method, path, given = {}) => call(method, path, { token, ...given }),
  }
}

/** A token of a further key of the account, with just these scopes. */
export const tokenWithScopes = async (account: TestAccount, scopes: string[]): Promise<string> => {
  const { body } = await account.call('POST', '/api/account/keys', {
    body: { name: scopes.join('+'), scopes },
  })
  return tokenFor(account.userName, body.apiKey)
}

let people = 0

export interface BoundUser {
  id: string
  apiKey: string
  keyId: string
  token: string
  call: TestAccount['call']
}

/** A user of the account, and a token of a key that is bound to it. */
export const boundUser = async (
  account: TestAccount,
  user: object = {},
  key: object = {},
): Promise<BoundUser> => {
  const required = {
    name: 'Ana',
    email: `ana${++people}@example.com`,
    country: 'PT',
    timeZone: 'Europe/Lisbon',
  }
  const made = await account.call('POST', '/api/users', { body: { ...required, ...user } })
  const { status, body, text } = await account.call('POST', '/api/account/keys', {
    body: { name: 'ana', scopes: ['admin'], userId: made.body.id, ...key },
  })
  if (status !== 201) throw new Error(`no bound key: ${made.text} ${text}`)
  const token = await tokenFor(account.userName, body.apiKey)
  return {
    id: made.body.id,
    apiKey: body.apiKey,
    keyId: body.key.id,
    token,
    call: (method, path, given = {}) => call(method, path, { token, ...given }),
  }
}
