export const hmac = async (
  hash: 'SHA-1' | 'SHA-256',
  secret: Uint8Array | string,
  text: string,
): Promise<Uint8Array> => {
  const bytes = typeof secret === 'string' ? new TextEncoder().encode(secret) : secret
  const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash }, false, ['sign'])
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(text)))
}

/** Whether a signature in base64 is the expected one, in a time that does not tell where they differ. */
export const sameBytes = (base64: string, expected: Uint8Array): boolean => {
  let given: Uint8Array
  try {
    // Strict: bits left over in the last character would let one signature be written in several ways.
    given = Uint8Array.fromBase64(base64, { lastChunkHandling: 'strict' })
  } catch {
    return false
  }
  return given.byteLength === expected.byteLength && crypto.subtle.timingSafeEqual(given, expected)
}
