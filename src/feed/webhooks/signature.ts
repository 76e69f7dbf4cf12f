import { importMacKey, macOf } from '../../auth/mac.ts'

/* The Standard Webhooks scheme: `v1,` and an HMAC-SHA256 of id, time and body, for each secret. */

const PREFIX = 'whsec_'
const SECRET_BYTES = 32

export const makeSecret = (): string =>
  PREFIX + crypto.getRandomValues(new Uint8Array(SECRET_BYTES)).toBase64()

const signWith = async (secret: string, message: string): Promise<string> => {
  const key = await importMacKey(Uint8Array.fromBase64(secret.slice(PREFIX.length)))
  return `v1,${(await macOf(key, message)).toBase64()}`
}

export const signatureHeaders = async (
  secrets: string[],
  id: string,
  body: string,
  now: number,
): Promise<Record<string, string>> => {
  const timestamp = String(Math.floor(now / 1000))
  const message = `${id}.${timestamp}.${body}`
  const signatures = await Promise.all(secrets.map((secret) => signWith(secret, message)))
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  }
}
