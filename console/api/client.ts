import { session } from '../session/session.ts'
import { ApiError } from './problem.ts'
import { send, withQuery } from './send.ts'
import type { Operations } from './types.ts'

export interface CallOptions {
  /** Values for the `{…}` of the path. */
  params?: Record<string, string>
  query?: Record<string, unknown>
  body?: unknown
  signal?: AbortSignal | undefined
  headers?: Record<string, string>
  /** A POST that only reads, and therefore takes no `Idempotency-Key`. */
  isQuery?: boolean
}

type Operation = keyof Operations

/** Who calls: the account's user or key, or on `/admin` the operator. */
export interface Authority {
  /** Null where the browser itself has proof of who calls. */
  token: () => Promise<string | null>
  /** Called when the service has refused the token. */
  discardToken: (token: string | null) => void
}

let operator: Authority | null = null
/** Called by the operator's pages, which are loaded apart from the console. */
export const setOperator = (authority: Authority): void => {
  operator = authority
}

const MAX_RETRIES = 3
/** Refusals that show that the status of the account has changed. */
const SUSPENDED = /^account-(read|ingest)-only$/
const MAX_WAIT_MS = 10_000

const fillPath = (path: string, params: Record<string, string> = {}): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))

const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')

const wait = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal?.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(new DOMException('The call was abandoned.', 'AbortError'))
    })
  })

/** How long to wait before another attempt, or null if another attempt cannot help. */
const retryDelay = (error: ApiError & { retryAfterMs?: number }, retries: number) => {
  if (retries >= MAX_RETRIES) return null
  if (error.status !== 0 && error.status !== 429 && error.status !== 503) return null
  const delay = Math.max(error.retryAfterMs ?? 0, 400 * 2 ** retries)
  return delay > MAX_WAIT_MS ? null : delay
}

/** Cloudflare Access answers with a 401 instead of its own page to who sends this header. */
export const headersOf = (token: string | null): Record<string, string> =>
  token === null ? { 'X-Requested-With': 'XMLHttpRequest' } : { Authorization: `Bearer ${token}` }

/** Renews the token after a 401 and waits out short failures of calls that can be repeated. */
const sendWithToken = async (method: string, path: string, options: CallOptions) => {
  const { signal, body } = options
  // A repeated POST with the same key makes nothing twice.
  const key = method === 'POST' && !options.isQuery ? { 'Idempotency-Key': randomKey() } : {}
  const authority = path.startsWith('/admin/') && operator ? operator : session
  for (let retries = 0, hasRenewed = false; ; ) {
    const token = await authority.token()
    try {
      return await send({
        method,
        path,
        body,
        signal,
        headers: { ...key, ...options.headers, ...headersOf(token) },
      })
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (error.status === 401 && !hasRenewed) {
        hasRenewed = true
        authority.discardToken(token)
        continue
      }
      if (SUSPENDED.test(error.code ?? '')) void session.reload()
      // An earlier attempt has deleted it, but its answer was lost.
      if (method === 'DELETE' && error.status === 404 && retries > 0)
        return Response.json({ success: true })
      const delay = retryDelay(error, retries++)
      if (delay === null) throw error
      await wait(delay, signal)
    }
  }
}

/** Calls an operation of the API: `call('GET /api/devices/{deviceId}', { params: { deviceId } })`. */
export const call = async <Name extends Operation>(
  operation: Name,
  options: CallOptions & { body?: Operations[Name]['body'] } = {},
): Promise<Operations[Name]['reply']> => {
  const response = await callForResponse(operation, options)
  return (await response.json()) as Operations[Name]['reply']
}

/** The same for a reply that is not JSON, or whose headers are needed. */
export const callForResponse = async (
  operation: string,
  options: CallOptions = {},
): Promise<Response> => {
  const [method = 'GET', path = ''] = operation.split(' ')
  return sendWithToken(method, withQuery(fillPath(path, options.params), options.query), options)
}
