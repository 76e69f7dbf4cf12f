/** A map that forgets its oldest entries: what an isolate may keep in memory without growing for ever. */
export class BoundedCache<V> {
  readonly #entries = new Map<string, V>()
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  get(key: string): V | undefined {
    return this.#entries.get(key)
  }

  set(key: string, value: V): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    if (this.#entries.size > this.#most) {
      const [oldest] = this.#entries.keys()
      if (oldest !== undefined) this.#entries.delete(oldest)
    }
  }

  delete(key: string): void {
    this.#entries.delete(key)
  }

  /** Looks at every entry: for what happens seldom. */
  deleteWhere(matches: (value: V) => boolean): void {
    for (const [key, value] of this.#entries) if (matches(value)) this.#entries.delete(key)
  }
}
