import { isObject, type JsonObject } from '../domain/text/json.ts'
import type { SendOutcome } from './provider.ts'

/* Calls to a provider's HTTP API, and what a failed reply means for the message. */

export interface ProviderReply {
  status: number
  headers: Headers
  body: JsonObject
}

const MAX_REPLY_BYTES = 65_536

/** Reads no more than `MAX_REPLY_BYTES`, whatever a provider sends. */
const readStart = async (response: Response): Promise<string> => {
  const decoder = new TextDecoder()
  let text = ''
  let size = 0
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength
    if (size > MAX_REPLY_BYTES) break
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

/** The reply, or the outcome if there is none. Redirects would carry our credentials elsewhere. */
export const callProvider = async (
  url: string,
  init: RequestInit,
  timeoutMs: number,
): Promise<ProviderReply | SendOutcome> => {
  try {
    const response = await fetch(url, {
      ...init,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
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

export const isReply = (result: ProviderReply | SendOutcome): result is ProviderReply =>
  'status' in result

const MAX_WAIT_MS = 86_400_000

/** `Retry-After`, which is in seconds or a date; null if it is missing or unreadable. */
const readRetryAfterMs = (headers: Headers, now: number): number | null => {
  const text = headers.get('Retry-After')?.trim()
  if (!text) return null
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
  return Number.isNaN(waitMs) ? null : Math.min(Math.max(waitMs, 0), MAX_WAIT_MS)
}

const DEFAULT_WAIT_MS = 30_000

/**
 * The outcome of a failed reply, by its status. Wrong credentials or a wrong URL are retried: the
 * operator can fix them before an SOS is lost. A provider may fail after it accepted a message.
 */
export const toFailure = ({ status, headers }: ProviderReply, reason: string): SendOutcome => {
  const afterMs = readRetryAfterMs(headers, Date.now())
  if (status === 429 || (status === 503 && afterMs !== null))
    return { kind: 'throttled', reason: 'throttled', afterMs: afterMs ?? DEFAULT_WAIT_MS }
  if (status === 503) return { kind: 'retry', reason: 'provider-unavailable', maybeAccepted: false }
  if (status >= 500 || status === 408)
    return { kind: 'retry', reason: 'provider-failed', maybeAccepted: true }
  if (status < 400 || [401, 403, 404, 405].includes(status))
    return { kind: 'retry', reason, maybeAccepted: false }
  return { kind: 'refused', reason }
}

/** A reason that contains the provider's own code for a failure. */
export const reasonOf = (provider: string, code: unknown, status: number): string =>
  `${provider}-${
    typeof code === 'string' || typeof code === 'number'
      ? String(code)
          .replaceAll(/[^\w-]/g, '')
          .slice(0, 40)
      : status
  }`
