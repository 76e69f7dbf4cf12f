import { checksumOf, linesOf, type Manifest } from '../../src/domain/archive/archive.ts'
import type { ArchiveFile } from '../../src/domain/archive/tar.ts'
import { isManifest, readManifest } from './checkArchive.ts'

const isTrack = ({ name }: ArchiveFile): boolean => name.startsWith('tracks-')

/**
 * Several archives of an account as one: everything of the last, with the locations of all. Each has
 * other locations (`from` and `to` of an export).
 */
export async function* joinArchives(
  archives: (() => AsyncIterable<ArchiveFile>)[],
): AsyncGenerator<ArchiveFile> {
  const [last, ...earlier] = archives.toReversed()
  if (!last) return
  let manifest: Manifest | null = null
  for await (const file of last()) {
    if (isManifest(file)) manifest = readManifest(file)
    else yield file
  }
  if (!manifest) throw new Error('The archive is truncated: it has no manifest.')
  const { accountId, files } = manifest
  let count = files.filter(({ name }) => name.startsWith('tracks-')).length
  for (const archive of earlier) {
    for await (const file of archive()) {
      if (isManifest(file) && readManifest(file).accountId !== accountId)
        throw new Error('The archives are of different accounts.')
      if (!isTrack(file)) continue
      const { bytes } = file
      const rows = linesOf(file).length
      const name = `tracks-${String(++count).padStart(5, '0')}.geojson`
      files.push({ name, sha256: await checksumOf(bytes), bytes: bytes.byteLength, rows })
      yield { name, bytes }
    }
  }
  yield { name: 'manifest.json', bytes: new TextEncoder().encode(JSON.stringify(manifest)) }
}
