import { ArchiveError, type ArchiveFile, END_OF_ARCHIVE, packFile } from './tar.ts'

/*
 * The archive of an account: a file that says what it is, the account's rows in files of bounded
 * size, and a manifest with their checksums. It has no time of its own making, so that the same
 * account gives the same bytes.
 */

export const FORMAT = 'perigee-account'
export const VERSION = 1
export const HEAD_FILE = 'account.json'
export const MANIFEST_FILE = 'manifest.json'

/** A new file is begun beyond this. */
const FULL_FILE_BYTES = 2_097_152

/** More than an export writes: lines of a few bytes would take the memory of the isolate. */
const MAX_LINES = 100_000

export type FileType = 'ndjson' | 'geojson'

/** Rows of one kind, each a line of JSON, in pages. */
export interface RowSource {
  name: string
  type: FileType
  pages: () => AsyncIterable<string[]>
}

export interface ListedFile {
  name: string
  sha256: string
  bytes: number
  rows: number
}

export interface Manifest {
  format: string
  version: number
  accountId: string
  files: ListedFile[]
}

const encoder = new TextEncoder()
const COLLECTION = { begin: '{"type":"FeatureCollection","features":[\n', end: '\n]}\n' }

const toText = (type: FileType, lines: readonly string[]): string =>
  type === 'ndjson'
    ? `${lines.join('\n')}\n`
    : `${COLLECTION.begin}${lines.join(',\n')}${COLLECTION.end}`

/** The lines of a file, each of which is a row or a feature. */
export const linesOf = ({ name, bytes }: ArchiveFile): string[] => {
  const text = decodeText({ name, bytes })
  const isCollection = name.endsWith('.geojson')
  const [begin, end] = isCollection ? [COLLECTION.begin, COLLECTION.end] : ['', '\n']
  if (!text.startsWith(begin) || !text.endsWith(end))
    throw new ArchiveError(`The file ${name} of the archive is not as an export writes it.`)
  const separator = isCollection ? ',\n' : '\n'
  const lines = text.slice(begin.length, -end.length).split(separator, MAX_LINES + 1)
  if (lines.length > MAX_LINES) throw new ArchiveError(`The file ${name} has too many lines.`)
  return lines
}

export const decodeText = ({ name, bytes }: ArchiveFile): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new ArchiveError(`The file ${name} of the archive is not UTF-8.`)
  }
}

export const parseJson = (name: string, text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    throw new ArchiveError(`The file ${name} of the archive has a line that is not JSON.`)
  }
}

/** Without `toHex`, which Node.js 24 lacks: `npm run import` runs there. */
export const checksumOf = async (bytes: Uint8Array): Promise<string> => {
  const digest = await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>)
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

const fileName = ({ name, type }: RowSource, count: number): string =>
  `${name}-${String(count).padStart(5, '0')}.${type}`

/** The lines of a source, cut into files. */
async function* filesOf(source: RowSource): AsyncGenerator<{ name: string; lines: string[] }> {
  let lines: string[] = []
  let length = 0
  let count = 0
  for await (const page of source.pages()) {
    for (const line of page) {
      lines.push(line)
      length += line.length + 2
      if (length < FULL_FILE_BYTES) continue
      yield { name: fileName(source, ++count), lines }
      lines = []
      length = 0
    }
  }
  if (lines.length > 0) yield { name: fileName(source, ++count), lines }
}

/** The bytes of an archive, file by file: no more than one of them is in memory. */
export async function* writeArchive(
  head: { account: { id: string } },
  sources: Iterable<RowSource>,
): AsyncGenerator<Uint8Array> {
  const files: ListedFile[] = []
  const pack = async (name: string, text: string, rows: number): Promise<Uint8Array> => {
    const bytes = encoder.encode(text)
    files.push({ name, sha256: await checksumOf(bytes), bytes: bytes.byteLength, rows })
    return packFile(name, bytes)
  }
  const headText = `${JSON.stringify({ format: FORMAT, version: VERSION, ...head })}\n`
  yield await pack(HEAD_FILE, headText, 1)
  for (const source of sources)
    for await (const { name, lines } of filesOf(source))
      yield await pack(name, toText(source.type, lines), lines.length)
  const manifest: Manifest = {
    format: FORMAT,
    version: VERSION,
    accountId: head.account.id,
    files: [...files],
  }
  yield packFile(MANIFEST_FILE, encoder.encode(`${JSON.stringify(manifest, null, 1)}\n`))
  yield END_OF_ARCHIVE
}

/** What differs between the manifest and the files that arrived; null when nothing does. */
export const findFault = (manifest: Manifest, files: readonly ListedFile[]): string | null => {
  const arrived = new Map(files.map((file) => [file.name, file]))
  for (const listed of manifest.files) {
    const file = arrived.get(listed.name)
    if (!file) return `The file ${listed.name} is missing.`
    if (file.sha256 !== listed.sha256 || file.bytes !== listed.bytes)
      return `The file ${listed.name} does not have the checksum that the manifest names.`
    arrived.delete(listed.name)
  }
  const [other] = arrived.keys()
  return other === undefined ? null : `The manifest does not list the file ${other}.`
}
