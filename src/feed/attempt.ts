import { checkPublicUrl } from '../domain/publicUrl.ts'
import type { DeliveryFailure } from '../domain/webhook.ts'
import { allowsLoopback, type Env } from '../env.ts'

/** What came of one call of a receiver. */
export interface Attempt {
  responseCode: number | null
  /** Null for a success: an answer of 2xx. */
  failure: Exclude<DeliveryFailure, 'disabled'> | null
  durationMs: number
  answer: string | null
}

const TIMEOUT = 15_000
const ANSWER_BYTES = 1024

/** The first kilobyte; whatever follows is not even received. */
const readStart = async (body: ReadableStream<Uint8Array> | null): Promise<string> => {
  const start = new Uint8Array(ANSWER_BYTES)
  let size = 0
  const reader = body?.getReader()
  try {
    while (reader && size < ANSWER_BYTES) {
      const { done, value } = await reader.read()
      if (done) break
      const part = value.subarray(0, ANSWER_BYTES - size)
      start.set(part, size)
      size += part.byteLength
    }
  } catch {
    // The receiver stopped in the middle, or took too long: its status was there before.
  }
  await reader?.cancel().catch(() => {})
  return new TextDecoder().decode(start.subarray(0, size))
}

/** Redirects are not followed: they could lead where the URL itself may not. It is checked here again, just before it is called. */
export const callReceiver = async (
  env: Env,
  url: string,
  headers: Record<string, string>,
  body: string,
): Promise<Attempt> => {
  if (!checkPublicUrl(url, allowsLoopback(env)).ok)
    return { responseCode: null, failure: 'refused-url', durationMs: 0, answer: null }
  const began = Date.now()
  // Not AbortSignal.timeout: it would keep the object awake for 15 seconds after an answer that came at once.
  const controller = new AbortController()
  const late = setTimeout(() => controller.abort(new DOMException('', 'TimeoutError')), TIMEOUT)
  try {
    const response = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      signal: controller.signal,
      headers: {
        'Content-Type': 'application/json',
        'User-Agent': 'Perigee-Webhooks/1',
        ...headers,
      },
      body,
    })
    const answer = await readStart(response.body)
    const { status } = response
    const failure = response.ok ? null : status >= 300 && status < 400 ? 'redirect' : 'status'
    return { responseCode: status, failure, durationMs: Date.now() - began, answer }
  } catch (error) {
    const failure = (error as Error).name === 'TimeoutError' ? 'timeout' : 'unreachable'
    return { responseCode: null, failure, durationMs: Date.now() - began, answer: null }
  } finally {
    clearTimeout(late)
  }
}
