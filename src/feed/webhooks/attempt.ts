import type { DeliveryFailure } from '../../domain/event/webhook.ts'
import { checkPublicUrl } from '../../domain/text/publicUrl.ts'
import { allowsLoopback, type Env } from '../../env.ts'

/** The result of one call of a receiver. */
export interface AttemptResult {
  responseCode: number | null
  /** Null for a success: a response of 2xx. */
  failure: Exclude<DeliveryFailure, 'disabled'> | null
  durationMs: number
  answer: string | null
  /** Of several records in a format of others: what became of those before the failure. */
  sent?: {
    result: AttemptResult
    /** The numbers of the events that are left. */
    rest: number[]
  }
}

const TIMEOUT_MS = 15_000
const MAX_ANSWER_BYTES = 1024

/** Reads the first kilobyte and cancels the rest. */
const readStart = async (body: ReadableStream<Uint8Array> | null): Promise<string> => {
  const start = new Uint8Array(MAX_ANSWER_BYTES)
  let size = 0
  const reader = body?.getReader()
  try {
    while (reader && size < MAX_ANSWER_BYTES) {
      const { done, value } = await reader.read()
      if (done) break
      const part = value.subarray(0, MAX_ANSWER_BYTES - size)
      start.set(part, size)
      size += part.byteLength
    }
  } catch {
    // The status decides, even if the body breaks off or takes too long.
  }
  await reader?.cancel().catch(() => {})
  return new TextDecoder().decode(start.subarray(0, size))
}

/**
 * Checks the URL again just before the call. Redirects are not followed: they could lead to a URL
 * that is not allowed.
 */
export const callReceiver = async (
  env: Env,
  url: string,
  headers: Record<string, string>,
  body: string,
): Promise<AttemptResult> => {
  if (!checkPublicUrl(url, allowsLoopback(env)).ok)
    return { responseCode: null, failure: 'refused-url', durationMs: 0, answer: null }
  const startedAt = Date.now()
  // AbortSignal.timeout would keep the object awake for 15 s after a quick response.
  const controller = new AbortController()
  const abort = () => controller.abort(new DOMException('', 'TimeoutError'))
  const timer = setTimeout(abort, TIMEOUT_MS)
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
    return { responseCode: status, failure, durationMs: Date.now() - startedAt, answer }
  } catch (error) {
    const failure = (error as Error).name === 'TimeoutError' ? 'timeout' : 'unreachable'
    return { responseCode: null, failure, durationMs: Date.now() - startedAt, answer: null }
  } finally {
    clearTimeout(timer)
  }
}
