/*
 * Reply bodies as they are stored for a replay. D1 takes values of up to 2 MB, and the reply to an
 * import of zones has almost as much: long bodies are compressed, as base64 text.
 */

/** In characters, of which each takes up to three bytes. */
const MAX_PLAIN_LENGTH = 500_000
/** Replies are JSON, so none begins with this. */
const COMPRESSED = 'gzip:'

export const pack = async (body: string): Promise<string> => {
  if (body.length <= MAX_PLAIN_LENGTH) return body
  const bytes = new Response(body).body?.pipeThrough(new CompressionStream('gzip'))
  return COMPRESSED + (await new Response(bytes).bytes()).toBase64()
}

export const unpack = async (stored: string): Promise<string> => {
  if (!stored.startsWith(COMPRESSED)) return stored
  const bytes = Uint8Array.fromBase64(stored.slice(COMPRESSED.length))
  return new Response(new Response(bytes).body?.pipeThrough(new DecompressionStream('gzip'))).text()
}
