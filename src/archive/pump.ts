import { delay } from '../http/admission/admission.ts'

/**
 * Runs bytes through a stream of the runtime in small pieces. The runtime does not make a writer
 * wait for the reader, so a piece is written only when what came of the one before was taken.
 */
export async function* pump(
  source: AsyncIterable<Uint8Array>,
  { readable, writable }: CompressionStream | DecompressionStream,
  pieceBytes: number,
): AsyncGenerator<Uint8Array> {
  const writer = writable.getWriter()
  const ready: Uint8Array[] = []
  let fault: { error: unknown } | null = null
  const read = async (): Promise<void> => {
    for await (const chunk of readable as ReadableStream<Uint8Array>) ready.push(chunk)
  }
  const noteFault = (error: unknown) => {
    fault ??= { error }
  }
  const reading = read().catch(noteFault)
  const settle = async (): Promise<void> => {
    for (let before = -1; before !== ready.length; ) {
      before = ready.length
      await delay(0)
    }
    if (fault) throw (fault as { error: unknown }).error
  }
  try {
    for await (const chunk of source) {
      for (let at = 0; at < chunk.byteLength; at += pieceBytes) {
        writer.write(chunk.subarray(at, at + pieceBytes) as BufferSource).catch(noteFault)
        await settle()
        yield* ready.splice(0)
      }
    }
    writer.close().catch(noteFault)
    await reading
    if (fault) throw (fault as { error: unknown }).error
    yield* ready.splice(0)
  } finally {
    // After a fault, or when nobody reads on. A stream that has ended ignores it.
    await writer.abort().catch(() => {})
  }
}
