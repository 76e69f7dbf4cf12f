export const hmac = async (
  hash: 'SHA-1' | 'SHA-256',
  secret: Uint8Array | string,
  text: string,
): Promise<Uint8Array> => {
  const bytes = typeof secret === 'string' ? new TextEncoder().encode(secret) : secret
  const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash }, false, ['sign'])
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(text)))
}

/** Compares a base64 signature in constant time. */
export const isSameSignature = (base64: string, expected: Uint8Array): boolean => {
  let given: Uint8Array
  try {
    // Strict: otherwise unused bits in the last character give one signature several spellings.
    given = Uint8Array.fromBase64(base64, { lastChunkHandling: 'strict' })
  } catch {
    return false
  }
  return given.byteLength === expected.byteLength && crypto.subtle.timingSafeEqual(given, expected)
}
