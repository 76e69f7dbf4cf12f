/** How large the entries of one owner may be together, so that they do not evict all others. */
interface Share<V> {
  maxSize: number
  ownerOf: (value: V) => string
}

/** A map that evicts its oldest entries when all together are larger than `maxSize`. */
export class BoundedCache<V> {
  readonly #entries = new Map<string, V>()
  readonly #maxSize: number
  readonly #sizeOf: (value: V) => number
  readonly #share: Share<V> | undefined
  readonly #sizes = new Map<string, number>()
  #size = 0

  /** Counts entries, or what `sizeOf` says of each, such as its bytes. */
  constructor(maxSize: number, sizeOf: (value: V) => number = () => 1, share?: Share<V>) {
    this.#maxSize = maxSize
    this.#sizeOf = sizeOf
    this.#share = share
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
    this.#count(value, this.#sizeOf(value))
    if (this.#share) this.#evictOf(this.#share, this.#share.ownerOf(value))
    for (const oldest of this.#entries.keys()) {
      if (this.#size <= this.#maxSize) return
      this.delete(oldest)
    }
  }

  #evictOf({ maxSize, ownerOf }: Share<V>, owner: string): void {
    for (const [key, value] of this.#entries) {
      if ((this.#sizes.get(owner) ?? 0) <= maxSize) return
      if (ownerOf(value) === owner) this.delete(key)
    }
  }

  #count(value: V, size: number): void {
    this.#size += size
    if (!this.#share) return
    const owner = this.#share.ownerOf(value)
    const ofOwner = (this.#sizes.get(owner) ?? 0) + size
    if (ofOwner > 0) this.#sizes.set(owner, ofOwner)
    else this.#sizes.delete(owner)
  }

  delete(key: string): void {
    const value = this.#entries.get(key)
    if (value !== undefined) this.#count(value, -this.#sizeOf(value))
    this.#entries.delete(key)
  }

  /** Scans every entry: for rare events only. */
  deleteWhere(matches: (value: V) => boolean): void {
    for (const [key, value] of this.#entries) if (matches(value)) this.delete(key)
  }
}
