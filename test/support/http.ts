import { env, exports } from 'cloudflare:workers'

export const ORIGIN = 'https://perigee.test'

export interface Reply {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests read the members they expect
  body: any
  text: string
}

export interface Call {
  token?: string
  body?: unknown
  headers?: Record<string, string>
}

/** The `fetch` options of a call. A body that is not text, bytes or a stream is sent as JSON. */
export const requestOf = (method: string, { token, body, headers = {} }: Call = {}) => ({
  method,
  redirect: 'manual' as const,
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

export const readReply = async (response: Response): Promise<Reply> => {
  const text = await response.text()
  const isJson = /[/+]json/.test(response.headers.get('Content-Type') ?? '') && text !== ''
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson ? JSON.parse(text) : null,
  }
}

/** Sends one request to the Worker's `fetch` handler. */
export const call = async (method: string, path: string, options: Call = {}): Promise<Reply> =>
  readReply(await exports.default.fetch(`${ORIGIN}${path}`, requestOf(method, options)))

export const callAsOperator = (method: string, path: string, options: Call = {}): Promise<Reply> =>
  call(method, path, { token: env.ADMIN_TOKEN ?? '', ...options })
