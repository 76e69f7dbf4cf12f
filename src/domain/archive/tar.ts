/* Archives in the ustar format, with plain files only, so that any tool can unpack them. */

/** An archive, or what claims to be one, that cannot be read. The message says what is wrong. */
export class ArchiveError extends Error {}

const BLOCK = 512
/** A file of an archive has at most so many bytes: it is read as a whole. */
export const MAX_FILE_BYTES = 8_388_608
/** After the end there are only zeros, and tools write at most a few blocks of them. */
const MAX_TRAILING_BYTES = 65_536
const NAME = /^[A-Za-z]{1,40}(-\d{5})?\.(json|ndjson|geojson)$/
const SIZE = /^[0-7]{11}[\0 ]$/

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** Where the fields of a header are that differ between files. */
const FIELDS = { name: [0, 100], size: [124, 12], checksum: [148, 8], prefix: [345, 155] } as const
const MAGIC = { at: 257, text: 'ustar\u000000' }
/** Every file has the same: readable by all, of nobody, from the beginning of 1970. */
const FIXED = [
  [100, '0000644\0'],
  [108, '0000000\0'],
  [116, '0000000\0'],
  [136, '00000000000\0'],
  [156, '0'],
  [MAGIC.at, MAGIC.text],
] as const
const TYPE_AT = 156

const octal = (value: number, digits: number): string => value.toString(8).padStart(digits, '0')

/** The sum of a header's bytes, with spaces in place of the sum itself. */
const sumOf = (header: Uint8Array): number => {
  const [from, length] = FIELDS.checksum
  return header.reduce((sum, byte, at) => sum + (at >= from && at < from + length ? 32 : byte), 0)
}

const headerOf = (name: string, size: number): Uint8Array => {
  const header = new Uint8Array(BLOCK)
  const write = (at: number, text: string) => header.set(encoder.encode(text), at)
  write(FIELDS.name[0], name)
  write(FIELDS.size[0], `${octal(size, 11)}\0`)
  for (const [at, text] of FIXED) write(at, text)
  write(FIELDS.checksum[0], `${octal(sumOf(header), 6)}\0 `)
  return header
}

const paddingOf = (size: number): number => (BLOCK - (size % BLOCK)) % BLOCK

/** A file with its header, as an archive has it. */
export const packFile = (name: string, bytes: Uint8Array): Uint8Array => {
  const packed = new Uint8Array(BLOCK + bytes.byteLength + paddingOf(bytes.byteLength))
  packed.set(headerOf(name, bytes.byteLength))
  packed.set(bytes, BLOCK)
  return packed
}

export const END_OF_ARCHIVE = new Uint8Array(2 * BLOCK)

export interface ArchiveFile {
  name: string
  bytes: Uint8Array
}

const textAt = (header: Uint8Array, [at, length]: readonly [number, number]): string =>
  decoder.decode(header.subarray(at, at + length))

/** Name and size of the next file; null for a block of zeros, which ends the archive. */
const readHeader = (header: Uint8Array): { name: string; size: number } | null => {
  if (header.every((byte) => byte === 0)) return null
  const sum = Number.parseInt(textAt(header, FIELDS.checksum), 8)
  if (sum !== sumOf(header) || textAt(header, [MAGIC.at, 5]) !== 'ustar')
    throw new ArchiveError('The archive is not a tar file, or is damaged.')
  const name = textAt(header, FIELDS.name).replace(/\0+$/, '')
  const isPlain = header[TYPE_AT] === '0'.charCodeAt(0) && header[FIELDS.prefix[0]] === 0
  if (!isPlain || !NAME.test(name))
    throw new ArchiveError('The archive has something other than the files of an export.')
  const sizeText = textAt(header, FIELDS.size)
  const size = SIZE.test(sizeText) ? Number.parseInt(sizeText, 8) : Number.POSITIVE_INFINITY
  if (size > MAX_FILE_BYTES)
    throw new ArchiveError(`The file ${name} of the archive is larger than 8 MiB.`)
  return { name, size }
}

/** Collects the bytes of a stream until as many are there as are asked for. */
class ByteQueue {
  readonly #source: AsyncIterator<Uint8Array>
  #rest = new Uint8Array()

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  /** Null at the end of the stream; fewer bytes than asked for are a fault. */
  async take(count: number): Promise<Uint8Array | null> {
    const parts: Uint8Array[] = []
    let left = count
    while (left > 0) {
      if (this.#rest.byteLength === 0) {
        const { value, done } = await this.#source.next()
        if (done) break
        this.#rest = value as Uint8Array<ArrayBuffer>
        continue
      }
      const part = this.#rest.subarray(0, left)
      this.#rest = this.#rest.subarray(part.byteLength)
      parts.push(part)
      left -= part.byteLength
    }
    if (left === count && count > 0) return null
    if (left > 0) throw new ArchiveError('The archive is truncated.')
    const bytes = new Uint8Array(count)
    let at = 0
    for (const part of parts) {
      bytes.set(part, at)
      at += part.byteLength
    }
    return bytes
  }

  async refuseMore(): Promise<void> {
    for (let read = 0; read <= MAX_TRAILING_BYTES; read += BLOCK) {
      const block = await this.take(BLOCK)
      if (block === null) return
      if (block.some((byte) => byte !== 0)) break
    }
    throw new ArchiveError('The archive goes on after its end.')
  }
}

/** The files of an archive, one at a time. Each is checked before its bytes are read. */
export async function* unpackFiles(
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<ArchiveFile, void> {
  const queue = new ByteQueue(source)
  for (;;) {
    const block = await queue.take(BLOCK)
    if (block === null) throw new ArchiveError('The archive is truncated.')
    const header = readHeader(block)
    if (header === null) return queue.refuseMore()
    const { name, size } = header
    const bytes = await queue.take(size + paddingOf(size))
    if (bytes === null) throw new ArchiveError('The archive is truncated.')
    yield { name, bytes: bytes.subarray(0, size) }
  }
}
