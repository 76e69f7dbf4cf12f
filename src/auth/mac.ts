/* HMAC-SHA-256, which signs tokens, cookies, links, acks and webhook calls. */

export const importMacKey = (secret: Uint8Array | string): Promise<CryptoKey> =>
  crypto.subtle.importKey(
    'raw',
    typeof secret === 'string' ? new TextEncoder().encode(secret) : secret,
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['sign', 'verify'],
  )

export const toBase64url = (bytes: Uint8Array): string =>
  bytes.toBase64({ alphabet: 'base64url', omitPadding: true })

export const fromBase64url = (text: string): Uint8Array =>
  Uint8Array.fromBase64(text, { alphabet: 'base64url' })

export const macOf = async (key: CryptoKey, data: Uint8Array | string): Promise<Uint8Array> => {
  const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes))
}
