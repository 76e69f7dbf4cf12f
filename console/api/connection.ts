import { signal } from '@preact/signals'
import { PerigeeError } from '../../clients/typescript/src/error.ts'
import { createSend, type MakeRequest } from '../../clients/typescript/src/send.ts'
import { text } from '../text/text.ts'

/*
 * The requests that the TypeScript client makes for the console, and whether they get a reply.
 * Made by openapi-fetch, as elsewhere, they would not fit into the first load of the console.
 */

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
  sendOnce('GET', '/healthz').then(
    () => true,
    (error) => !isOffline(error),
  )

/** True if no answer came at all. */
export const isOffline = (error: unknown): boolean =>
  error instanceof PerigeeError && error.status === 0

/** The URL of a call; members of the query that are undefined, null or empty are left out. */
const urlOf = (path: string, values: object = {}, query: object = {}): string => {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent((values as Record<string, string>)[name] ?? ''),
  )
  const entries = Object.entries(query).filter(
    ([, value]) => value !== undefined && value !== null && value !== '',
  )
  const search = new URLSearchParams(entries.map(([name, value]) => [name, String(value)]))
  return entries.length > 0 ? `${filled}?${search}` : filled
}

/** The body of a success is left to the caller. */
export const request: MakeRequest = async (method, path, { params, headers, body, signal }) => {
  let response: Response
  try {
    response = await fetch(urlOf(path, params.path, params.query), {
      method,
      headers: {
        // Cloudflare Access answers with a 401 instead of its own page to who sends this header.
        ...(!headers.Authorization && { 'X-Requested-With': 'XMLHttpRequest' }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
      credentials: 'same-origin',
      cache: 'no-store',
    })
  } catch (cause) {
    if (!signal?.aborted) {
      isOnline.value = false
      void probe()
    }
    throw new PerigeeError(text.errors.offline, { cause })
  }
  isOnline.value = true
  return { response, error: response.ok ? null : await response.json().catch(() => null) }
}

/** One request, without the token of the session. */
export const sendOnce = createSend({ request, token: () => null, retries: 0, maxWaitMs: 0 })

if (typeof addEventListener === 'function') {
  addEventListener('offline', () => {
    isOnline.value = false
  })
  addEventListener('online', () => {
    isOnline.value = true
  })
}
