import { isObject, type JsonObject } from '../domain/json.ts'
import type { SendOutcome } from './provider.ts'

/* One call of a provider's HTTP interface, and what its answer means for the message. */

export interface Answer {
  status: number
  headers: Headers
  body: JsonObject
}

const MAX_BYTES = 65_536

/** At most so much of an answer is read, whatever a provider sends. */
const readStart = async (response: Response): Promise<string> => {
  const decoder = new TextDecoder()
  let text = ''
  let size = 0
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength
    if (size > MAX_BYTES) break
    text += decoder.decode(chunk, { stream: true })
  }
  return text
}

const parse = (text: string): JsonObject => {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

/** The answer, or why there is none. Redirects are not followed: they would carry our credentials elsewhere. */
export const exchange = async (
  url: string,
  init: RequestInit,
  timeout: number,
): Promise<Answer | SendOutcome> => {
  try {
    const response = await fetch(url, {
      ...init,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeout),
    })
    return {
      status: response.status,
      headers: response.headers,
      body: parse(await readStart(response)),
    }
  } catch (error) {
    const reason = (error as Error).name === 'TimeoutError' ? 'timeout' : 'unreachable'
    return { kind: 'retry', reason, maybeAccepted: true }
  }
}

export const isAnswer = (result: Answer | SendOutcome): result is Answer => 'status' in result

const MAX_WAIT_MS = 86_400_000

/** `Retry-After` in milliseconds from now, seconds or a date; null where it says nothing. */
const retryAfter = (headers: Headers, now: number): number | null => {
  const text = headers.get('Retry-After')?.trim()
  if (!text) return null
  const wait = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
  return Number.isNaN(wait) ? null : Math.min(Math.max(wait, 0), MAX_WAIT_MS)
}

const DEFAULT_WAIT = 30_000

/**
 * An answer that is no success, by its status alone. What is wrong with our own credentials or address is tried again: it is
 * the operator's to mend, and an SOS must not be lost by it. A failure within the provider may have come after it accepted.
 */
export const failureOf = ({ status, headers }: Answer, reason: string): SendOutcome => {
  const after = retryAfter(headers, Date.now())
  if (status === 429 || (status === 503 && after !== null))
    return { kind: 'throttled', reason: 'throttled', after: after ?? DEFAULT_WAIT }
  if (status === 503) return { kind: 'retry', reason: 'provider-unavailable', maybeAccepted: false }
  if (status >= 500 || status === 408)
    return { kind: 'retry', reason: 'provider-failed', maybeAccepted: true }
  if (status < 400 || [401, 403, 404, 405].includes(status))
    return { kind: 'retry', reason, maybeAccepted: false }
  return { kind: 'refused', reason }
}

/** A provider's own name for a failure, as part of a reason. */
export const reasonOf = (provider: string, code: unknown, status: number): string =>
  `${provider}-${
    typeof code === 'string' || typeof code === 'number'
      ? String(code)
          .replaceAll(/[^\w-]/g, '')
          .slice(0, 40)
      : status
  }`
