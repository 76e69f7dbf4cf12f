export interface Slot {
  acquiredAt: number
  owner: string | undefined
}

interface OwnerLimit {
  owner: string
  max: number
}

/** Slots that work in this isolate holds, oldest first. */
export class Slots {
  readonly #held = new Map<object, Slot>()
  readonly #countByOwner = new Map<string, number>()
  readonly #maxHeldMs: number

  /** After a disconnect `finally` may never run: slots older than `maxHeldMs` are evicted. */
  constructor(maxHeldMs: number) {
    this.#maxHeldMs = maxHeldMs
  }

  /** False while `max` slots are held, or `ownerLimit.max` by this owner. */
  acquire(holder: object, now: number, max: number, ownerLimit?: OwnerLimit): boolean {
    this.#evict(now)
    if (this.#held.size >= max) return false
    if (ownerLimit && this.countOf(ownerLimit.owner) >= ownerLimit.max) return false
    this.hold(holder, now, ownerLimit?.owner)
    return true
  }

  /** Takes a slot even if none is free. */
  hold(holder: object, now: number, owner?: string): void {
    this.release(holder)
    this.#held.set(holder, { acquiredAt: now, owner })
    if (owner !== undefined) this.#countByOwner.set(owner, this.countOf(owner) + 1)
  }

  /** The slot that was held, if any. */
  release(holder: object): Slot | undefined {
    const slot = this.#held.get(holder)
    if (!slot) return undefined
    this.#held.delete(holder)
    if (slot.owner === undefined) return slot
    const left = this.countOf(slot.owner) - 1
    if (left > 0) this.#countByOwner.set(slot.owner, left)
    else this.#countByOwner.delete(slot.owner)
    return slot
  }

  /** Starts the time until eviction again. */
  renew(holder: object, now: number): void {
    const slot = this.#held.get(holder)
    if (slot) this.hold(holder, now, slot.owner)
  }

  #evict(now: number): void {
    for (const [holder, { acquiredAt }] of this.#held) {
      if (now - acquiredAt < this.#maxHeldMs) break
      this.release(holder)
    }
  }

  countOf(owner: string): number {
    return this.#countByOwner.get(owner) ?? 0
  }
}
