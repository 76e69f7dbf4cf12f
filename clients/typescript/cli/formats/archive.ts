import { createGunzip } from 'node:zlib'

/* The archive of an export is a tar file in gzip. It is complete if it has a manifest. */

const BLOCK_BYTES = 512
const MANIFEST = 'manifest.json'

const textAt = (block: Buffer, from: number, to: number): string =>
  block.toString('utf8', from, to).replace(/\0.*$/s, '')

/** The headers of a tar file, one block at a time. */
class TarNames {
  hasManifest = false
  #rest = Buffer.alloc(0)
  #skipBytes = 0

  add(chunk: Buffer): void {
    const skipped = Math.min(this.#skipBytes, chunk.byteLength)
    this.#skipBytes -= skipped
    this.#rest = Buffer.concat([this.#rest, chunk.subarray(skipped)])
    while (this.#rest.byteLength >= BLOCK_BYTES) {
      const block = this.#rest.subarray(0, BLOCK_BYTES)
      this.#rest = this.#rest.subarray(BLOCK_BYTES)
      const size = Number.parseInt(textAt(block, 124, 136).trim() || '0', 8)
      if (textAt(block, 0, 100) === MANIFEST && size > 0) this.hasManifest = true
      const content = Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES
      const here = Math.min(content, this.#rest.byteLength)
      this.#rest = this.#rest.subarray(here)
      this.#skipBytes = content - here
    }
  }
}

/** Reads an archive as its bytes pass. */
export class ArchiveCheck {
  readonly #names = new TarNames()
  readonly #gunzip = createGunzip()
  readonly #isReadable: Promise<boolean>

  constructor() {
    this.#gunzip.on('data', (chunk: Buffer) => this.#names.add(chunk))
    this.#isReadable = new Promise((resolve) => {
      this.#gunzip.on('end', () => resolve(true))
      this.#gunzip.on('error', () => resolve(false))
    })
  }

  async add(chunk: Uint8Array): Promise<void> {
    if (this.#gunzip.destroyed) return
    const written = new Promise<void>((resolve) => {
      this.#gunzip.write(chunk, () => resolve())
    })
    // A write that fails may never call back.
    await Promise.race([written, this.#isReadable])
  }

  async isComplete(): Promise<boolean> {
    if (!this.#gunzip.destroyed) this.#gunzip.end()
    return (await this.#isReadable) && this.#names.hasManifest
  }
}
