/** A map that evicts its oldest entries when all together are larger than `maxSize`. */
export class BoundedCache<V> {
  readonly #entries = new Map<string, V>()
  readonly #maxSize: number
  readonly #sizeOf: (value: V) => number
  #size = 0

  /** Counts entries, or what `sizeOf` says of each, such as its bytes. */
  constructor(maxSize: number, sizeOf: (value: V) => number = () => 1) {
    this.#maxSize = maxSize
    this.#sizeOf = sizeOf
  }

  /** The size of all entries together. */
  get size(): number {
    return this.#size
  }

  get(key: string): V | undefined {
    return this.#entries.get(key)
  }

  /** An entry that is too large by itself is not kept. */
  set(key: string, value: V): void {
    this.delete(key)
    this.#entries.set(key, value)
    this.#size += this.#sizeOf(value)
    for (const oldest of this.#entries.keys()) {
      if (this.#size <= this.#maxSize) return
      this.delete(oldest)
    }
  }

  delete(key: string): void {
    const value = this.#entries.get(key)
    if (value !== undefined) this.#size -= this.#sizeOf(value)
    this.#entries.delete(key)
  }

  /** Scans every entry: for rare events only. */
  deleteWhere(matches: (value: V) => boolean): void {
    for (const [key, value] of this.#entries) if (matches(value)) this.delete(key)
  }
}
