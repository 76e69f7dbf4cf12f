/*
 * An answer as it is kept for a repeat. D1 takes values of up to 2 MB, and an alert to ten thousand users is answered with 3.7:
 * long ones are kept compressed, as text, since that is what the column takes.
 */

/** A character has up to three bytes. */
const MAX_PLAIN_LENGTH = 500_000
/** No answer begins so: all are JSON. */
const COMPRESSED = 'gzip:'

export const pack = async (answer: string): Promise<string> => {
  if (answer.length <= MAX_PLAIN_LENGTH) return answer
  const bytes = new Response(answer).body?.pipeThrough(new CompressionStream('gzip'))
  return COMPRESSED + (await new Response(bytes).bytes()).toBase64()
}

export const unpack = async (kept: string): Promise<string> => {
  if (!kept.startsWith(COMPRESSED)) return kept
  const bytes = Uint8Array.fromBase64(kept.slice(COMPRESSED.length))
  return new Response(new Response(bytes).body?.pipeThrough(new DecompressionStream('gzip'))).text()
}
