import { delay } from '../admission/admission.ts'
import { malformedBody, Problem } from '../contract/problem.ts'

/* Unpacks gzip within a limit. */

/** The runtime unpacks at once what it is given: this becomes at most 2 MB. */
const PIECE_BYTES = 2048

/** Throws `tooLarge` as soon as more than `maxBytes` come out, and a 400 for what is no gzip. */
export const gunzip = async (
  packed: Uint8Array,
  maxBytes: number,
  tooLarge: Problem,
): Promise<Uint8Array> => {
  const { readable, writable } = new DecompressionStream('gzip')
  const writer = writable.getWriter()
  const chunks: Uint8Array[] = []
  let size = 0
  const read = async (): Promise<void> => {
    for await (const chunk of readable) {
      size += chunk.byteLength
      if (size > maxBytes) throw tooLarge
      chunks.push(chunk)
    }
  }
  /** Until nothing more comes out: the runtime does not make a writer wait for the reader. */
  const untilRead = async (): Promise<void> => {
    for (let before = -1; before !== size; ) {
      before = size
      await delay(0)
    }
  }
  const write = async (): Promise<void> => {
    for (let at = 0; at < packed.byteLength && size <= maxBytes; at += PIECE_BYTES) {
      if (at > 0) await untilRead()
      await writer.write(packed.subarray(at, at + PIECE_BYTES))
    }
    await writer.close()
  }
  try {
    await Promise.all([read(), write()])
  } catch (error) {
    throw error instanceof Problem ? error : malformedBody('must be well-formed gzip')
  }
  return joinChunks(chunks, size)
}

export const joinChunks = (chunks: readonly Uint8Array[], size: number): Uint8Array => {
  const bytes = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.byteLength
  }
  return bytes
}
