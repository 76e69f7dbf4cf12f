import { signal } from '@preact/signals'
import { text } from '../text/text.ts'
import { ApiError, isAborted } from './problem.ts'
import type { Problem } from './types.ts'

/** False after a call without an answer, until one gets through. */
export const isOnline = signal(true)

/** Calls `act` each time that the connection is back. */
export const onBack = (act: () => void): (() => void) => {
  let wasOnline = isOnline.peek()
  return isOnline.subscribe((isNow) => {
    const isBack = isNow && !wasOnline
    wasOnline = isNow
    if (isBack) act()
  })
}

const PROBE_MS = 3000
let isProbing = false

/** Asks until there is an answer: the browser knows its network, not whether the service is there. */
const probe = async (): Promise<void> => {
  if (isProbing) return
  isProbing = true
  while (!isOnline.peek()) {
    await new Promise((resolve) => setTimeout(resolve, PROBE_MS))
    if (!isOnline.peek()) await isReachable()
  }
  isProbing = false
}

export const isReachable = (): Promise<boolean> =>
  send({ method: 'GET', path: '/healthz' }).then(
    () => true,
    (error) => !(error instanceof ApiError && error.isOffline),
  )

export interface Sent {
  method: string
  path: string
  headers?: Record<string, string>
  body?: unknown
  signal?: AbortSignal | undefined
}

const isProblem = (reply: unknown): reply is Problem =>
  typeof (reply as Problem | null)?.error === 'string'

/** The URL of a path with its query; members that are undefined, null or empty are left out. */
export const withQuery = (path: string, query: Record<string, unknown> = {}): string => {
  const entries = Object.entries(query).filter(
    ([, value]) => value !== undefined && value !== null && value !== '',
  )
  const search = new URLSearchParams(entries.map(([name, value]) => [name, String(value)]))
  return entries.length > 0 ? `${path}?${search}` : path
}

const errorOf = async (response: Response): Promise<ApiError> => {
  const reply: unknown = await response.json().catch(() => null)
  const { status } = response
  return isProblem(reply)
    ? new ApiError(reply.error, status, reply)
    : new ApiError(text.errors.status(status), status)
}

/** One HTTP call. Throws an `ApiError` unless the answer is a success. */
export const send = async ({ method, path, headers, body, signal }: Sent): Promise<Response> => {
  let response: Response
  try {
    response = await fetch(path, {
      method,
      headers: {
        ...headers,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
      credentials: 'same-origin',
      cache: 'no-store',
    })
  } catch (error) {
    if (isAborted(error)) throw error
    isOnline.value = false
    void probe()
    throw new ApiError(text.errors.offline, 0)
  }
  isOnline.value = true
  if (!response.ok) throw Object.assign(await errorOf(response), retryAfterOf(response))
  return response
}

const retryAfterOf = (response: Response) => ({
  retryAfterMs: Number(response.headers.get('Retry-After') ?? 0) * 1000,
})

if (typeof addEventListener === 'function') {
  addEventListener('offline', () => {
    isOnline.value = false
  })
  addEventListener('online', () => {
    isOnline.value = true
  })
}
