import { backoffMs, unlessAborted, wait } from './backoff.ts'
import { errorOf, isTemporary, PerigeeError } from './error.ts'
import { WITHOUT_KEY, WITHOUT_TOKEN } from './operations.ts'
import type { TokenSource } from './tokens.ts'
import type { CommonOptions, Method, Parsed } from './types.ts'

/* Calls with tokens and retries, without the part that makes the HTTP request. */

export interface AnyOptions extends CommonOptions {
  path?: object | undefined
  query?: object | undefined
  body?: unknown
  parseAs?: keyof Parsed | undefined
}

export interface RequestInput extends Omit<AnyOptions, 'path' | 'query' | 'isQuery'> {
  params: Pick<AnyOptions, 'path' | 'query'>
  headers: Record<string, string>
}

/** One HTTP request, as openapi-fetch makes it. `error` is the body of a refusal. */
export type MakeRequest = (
  method: Uppercase<Method>,
  path: string,
  input: RequestInput,
) => Promise<{ data?: unknown; error?: unknown; response: Response }>

export interface SendSettings {
  request: MakeRequest
  token: TokenSource
  retries: number
  maxWaitMs: number
}

/** Any call, with the whole response: `send('GET', '/api/account')`. */
export type Send = (
  method: Uppercase<Method>,
  path: string,
  options?: AnyOptions,
) => Promise<{ data: unknown; response: Response }>

interface Attempt {
  method: Uppercase<Method>
  path: string
  options: AnyOptions
  /** The same for all attempts of a call. */
  key: string | null
}

/** `crypto.randomUUID` is missing on pages that were loaded without TLS. */
const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')

/** True if it does no harm that the service may get the request twice. */
const isRepeatable = ({ method, key, options }: Attempt): boolean => {
  if (method === 'POST') return key !== null || options.isQuery === true
  // A JSON Patch may add to a list. With the version that it is for, the second one is refused.
  const isVersioned = (options.headers?.['If-Match'] ?? '*') !== '*'
  return method !== 'PATCH' || isVersioned || !Array.isArray(options.body)
}

/** True if the service has done nothing, but may do it later. */
const isRefused = ({ status, code }: PerigeeError): boolean =>
  status === 429 || status === 503 || code === 'request-in-progress'

/** True if what a DELETE names does not exist. A move is ended, not deleted. */
const isGone = ({ status, code }: PerigeeError): boolean =>
  status === 404 && /^(?!route|move).*-not-found$/.test(code ?? '')

/** True if the same request may succeed later. */
const isTransient = (error: PerigeeError, attempt: Attempt): boolean =>
  isRefused(error) || (isTemporary(error) && isRepeatable(attempt))

const attemptCall = async (
  request: MakeRequest,
  { method, path, options, key }: Attempt,
  token: string | null,
) => {
  const { path: values, query, headers, signal, isQuery: _, ...more } = options
  try {
    const { data, error, response } = await request(method, path, {
      ...more,
      ...(signal && { signal }),
      params: { path: values, query },
      headers: {
        ...(key !== null && { 'Idempotency-Key': key }),
        ...(token !== null && { Authorization: `Bearer ${token}` }),
        ...headers,
      },
    })
    if (!response.ok) throw errorOf(response, error)
    return { data, response }
  } catch (error) {
    signal?.throwIfAborted()
    if (error instanceof PerigeeError) throw error
    throw new PerigeeError('The service could not be reached.', { cause: error })
  }
}

export const createSend =
  ({ request, token: tokenOf, retries: maxRetries, maxWaitMs }: SendSettings): Send =>
  async (method, path, options = {}) => {
    const takesKey = method === 'POST' && !options.isQuery && !WITHOUT_KEY.has(`POST ${path}`)
    const key = takesKey ? (options.headers?.['Idempotency-Key'] ?? randomKey()) : null
    const attempt = { method, path, options, key }
    let refused: string | undefined
    let mayBeDone = false
    for (let retries = 0; ; ) {
      const needsToken = !WITHOUT_TOKEN.has(`${method} ${path}`)
      const token = needsToken ? await unlessAborted(tokenOf(refused), options.signal) : null
      try {
        return await attemptCall(request, attempt, token)
      } catch (error) {
        if (!(error instanceof PerigeeError)) throw error
        if (error.status === 401 && token !== null && refused === undefined) {
          refused = token
          continue
        }
        // An earlier attempt has deleted it, but its reply was lost.
        if (mayBeDone && method === 'DELETE' && isGone(error))
          return { data: { success: true }, response: Response.json({ success: true }) }
        mayBeDone ||= !isRefused(error)
        const askedMs = (error.retryAfter ?? 0) * 1000
        const waitMs = Math.max(askedMs, backoffMs(retries, maxWaitMs))
        if (!isTransient(error, attempt) || askedMs > maxWaitMs || retries++ >= maxRetries)
          throw error
        await wait(Math.min(waitMs, maxWaitMs), options.signal)
      }
    }
  }
