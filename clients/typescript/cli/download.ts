import { createWriteStream } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { EXIT, Failure } from './failure.ts'
import { ArchiveCheck } from './formats/archive.ts'
import type { TrackFormat } from './formats/readTrack.ts'
import { note, write } from './terminal/output.ts'
import { Progress } from './terminal/progress.ts'

export interface Download {
  /** Asks the service for the file. */
  open: () => Promise<ReadableStream<Uint8Array>>
  format: TrackFormat | 'archive'
  /** The file; undefined for stdout. */
  output: string | undefined
  signal: AbortSignal
}

/**
 * How a whole file ends. A reply that fails in the middle looks complete to HTTP. CSV has no end
 * of its own: one that is cut exactly after a line is not noticed.
 */
const ENDS: Partial<Record<Download['format'], RegExp>> = {
  gpx: /<\/gpx>\s*$/,
  kml: /<\/kml>\s*$/,
  geojson: /\]\s*\}\s*$/,
  csv: /\r\n$/,
}
const TAIL_BYTES = 64

const sizeOf = (bytes: number): string =>
  bytes < 1e6 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`

/** Passes the bytes on, and finds out whether the file is whole. */
class Watched {
  bytes = 0
  #tail = Buffer.alloc(0)
  readonly #format: Download['format']
  readonly #archive: ArchiveCheck | null
  readonly #progress: Progress

  constructor(format: Download['format'], progress: Progress) {
    this.#format = format
    this.#archive = format === 'archive' ? new ArchiveCheck() : null
    this.#progress = progress
  }

  async *read(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      this.bytes += chunk.byteLength
      this.#tail = Buffer.concat([this.#tail, chunk.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES)
      await this.#archive?.add(chunk)
      this.#progress.update(sizeOf(this.bytes), null)
      yield chunk
    }
    const isWhole = this.#archive
      ? await this.#archive.isComplete()
      : (ENDS[this.#format]?.test(this.#tail.toString('utf8')) ?? true)
    if (!isWhole)
      throw new Failure(
        'The service ended the file before it was complete. Try again.',
        EXIT.unavailable,
      )
  }
}

/** A file gets its name once it is complete; until then it ends with `.part`. */
const toFile = async (chunks: AsyncIterable<Uint8Array>, file: string, signal: AbortSignal) => {
  const part = `${file}.part`
  try {
    await pipeline(Readable.from(chunks), createWriteStream(part, { mode: 0o600 }), { signal })
    await rename(part, file)
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
}

/** Writes a reply to stdout or to a file, and returns its length. */
export const download = async ({ open, format, output, signal }: Download): Promise<number> => {
  if (output !== undefined && (await stat(output).catch(() => null))?.isDirectory())
    throw new Failure(`${output} is a folder.`, EXIT.usage)
  const progress = new Progress(process.stderr, output ?? format)
  const watched = new Watched(format, progress)
  try {
    const chunks = watched.read(Readable.fromWeb((await open()) as never))
    if (output === undefined) for await (const chunk of chunks) await write(chunk)
    else await toFile(chunks, output, signal)
  } finally {
    progress.end()
  }
  if (output !== undefined) note(`${output}: ${sizeOf(watched.bytes)}`)
  return watched.bytes
}
