/** A map that evicts its oldest entries when what they take exceeds a number of bytes. */
export class SizedCache<V extends { bytes: number }> {
  readonly #entries = new Map<string, V>()
  readonly #maxBytes: number
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** What all entries take together. */
  get bytes(): number {
    return this.#bytes
  }

  get(key: string): V | undefined {
    return this.#entries.get(key)
  }

  delete(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0
    this.#entries.delete(key)
  }

  /** An entry that is too large by itself is not kept. */
  set(key: string, value: V): void {
    this.delete(key)
    this.#entries.set(key, value)
    this.#bytes += value.bytes
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) return
      this.delete(oldest)
    }
  }
}
