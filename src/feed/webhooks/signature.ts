/* The Standard Webhooks scheme: `v1,` and an HMAC-SHA256 of id, time and body, for each secret. */

const PREFIX = 'whsec_'
const SECRET_BYTES = 32

export const makeSecret = (): string =>
  PREFIX + crypto.getRandomValues(new Uint8Array(SECRET_BYTES)).toBase64()

const signWith = async (secret: string, message: Uint8Array): Promise<string> => {
  const bytes = Uint8Array.fromBase64(secret.slice(PREFIX.length))
  const key = await crypto.subtle.importKey(
    'raw',
    bytes,
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['sign'],
  )
  return `v1,${new Uint8Array(await crypto.subtle.sign('HMAC', key, message)).toBase64()}`
}

export const signatureHeaders = async (
  secrets: string[],
  id: string,
  body: string,
  now: number,
): Promise<Record<string, string>> => {
  const timestamp = String(Math.floor(now / 1000))
  const message = new TextEncoder().encode(`${id}.${timestamp}.${body}`)
  const signatures = await Promise.all(secrets.map((secret) => signWith(secret, message)))
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  }
}
