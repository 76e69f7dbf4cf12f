import {
  checksumOf,
  decodeText,
  findFault,
  type ListedFile,
  MANIFEST_FILE,
  type Manifest,
  parseJson,
} from '../../src/domain/archive/archive.ts'
import type { ArchiveFile } from '../../src/domain/archive/tar.ts'

export const isManifest = ({ name }: ArchiveFile): boolean => name === MANIFEST_FILE

export const readManifest = (file: ArchiveFile): Manifest => {
  const manifest = parseJson(file.name, decodeText(file)) as Manifest
  if (!Array.isArray(manifest?.files)) throw new Error('The manifest is not valid.')
  return manifest
}

/** Throws unless the archive is complete, and every file has its checksum. */
export const checkArchive = async (files: AsyncIterable<ArchiveFile>): Promise<void> => {
  const arrived: ListedFile[] = []
  let manifest: Manifest | null = null
  try {
    for await (const file of files) {
      const { name, bytes } = file
      if (isManifest(file)) manifest = readManifest(file)
      else arrived.push({ name, sha256: await checksumOf(bytes), bytes: bytes.byteLength, rows: 0 })
    }
  } catch (error) {
    throw new Error(`The archive cannot be read: ${(error as Error).message}`)
  }
  if (!manifest) throw new Error('The archive is truncated: it has no manifest.')
  const fault = findFault(manifest, arrived)
  if (fault) throw new Error(fault)
}
