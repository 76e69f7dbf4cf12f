import type { PerigeeEvent } from './types.ts'

/** A call that does not come from Perigee, or is too old. Reply with 401 and do nothing else. */
export class WebhookError extends Error {
  override name = 'WebhookError'
}

export interface WebhookCall {
  /** The secret of the webhook, `whsec_…`. During a rotation, both. */
  secret: string | readonly string[]
  /** The headers of the request, of any runtime. */
  headers: Headers | Record<string, string | string[] | undefined>
  /** The body exactly as it was received. JSON that was parsed and written again does not fit. */
  body: string | Uint8Array | ArrayBuffer
  /** How many seconds the call may be old, or ahead. Default 300. */
  toleranceSeconds?: number
}

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))

/** Null for what is not base64. */
const signatureOf = (text: string): Uint8Array<ArrayBuffer> | null => {
  try {
    return bytesOf(text)
  } catch {
    return null
  }
}

const headerOf = (headers: WebhookCall['headers'], name: string): string => {
  if (headers instanceof Headers) return headers.get(name) ?? ''
  const found = Object.entries(headers).find(([one]) => one.toLowerCase() === name)
  return String(found?.[1] ?? '')
}

const isSigned = async (
  secret: string,
  signatures: string[],
  content: ReturnType<TextEncoder['encode']>,
) => {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const bytes = bytesOf(secret.replace(/^whsec_/, ''))
  const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['verify'])
  for (const signature of signatures) {
    const [version, value = ''] = signature.split(',')
    const given = version === 'v1' ? signatureOf(value) : null
    if (given && (await crypto.subtle.verify('HMAC', key, given, content))) return true
  }
  return false
}

/** Checks the signature of a webhook's call (Standard Webhooks) and returns its events. */
export const verifyWebhook = async ({
  secret,
  headers,
  body,
  toleranceSeconds = 300,
}: WebhookCall): Promise<{ events: PerigeeEvent[] }> => {
  const id = headerOf(headers, 'webhook-id')
  const timestamp = headerOf(headers, 'webhook-timestamp')
  const signatures = headerOf(headers, 'webhook-signature').split(' ')
  const isRecent = Math.abs(Date.now() / 1000 - Number(timestamp)) <= toleranceSeconds
  if (!id || !timestamp || !isRecent)
    throw new WebhookError('The call has no webhook headers, or is too old.')
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
  const content = new TextEncoder().encode(`${id}.${timestamp}.${text}`)
  for (const one of [secret].flat())
    if (await isSigned(one, signatures, content)) return JSON.parse(text)
  throw new WebhookError('The signature of the call is not valid.')
}
