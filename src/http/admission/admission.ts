/** How many slots may be held at a time: in all, and with the same key. */
export interface SlotLimits {
  max: number
  maxPerKey?: number
}

interface AdmissionOptions {
  limits: SlotLimits
  /** Slots held for longer are evicted: after a disconnect `finally` may never run. */
  maxHeldMs?: number
  /** How many may wait for a slot. Without it nobody waits. */
  maxWaiting?: SlotLimits
  maxWaitMs?: number
  /**
   * How often those that wait try again. Needed where requests share the slots: one that waits may be
   * gone after a disconnect. Without it, a slot that becomes free goes to the first in the queue that
   * may have it.
   */
  pollMs?: number
  /** Whether a slot that becomes free makes the first of those that poll try at once. */
  wakes?: boolean
}

interface Slot {
  key: string | undefined
  acquiredAt: number
}

interface Waiting {
  holder: object
  key: string | undefined
  start: () => void
}

interface Polling extends Omit<Waiting, 'start'> {
  pollMs: number
  until: number
}

/** Longer than polling takes: evicts only holders whose request is gone. */
const MAX_POLLING_MS = 60_000

export const delay = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms))

/**
 * A bounded number of slots, of which each key has its share. A slot is held by an object, such as
 * a request; its key is whom the share belongs to, such as an account.
 */
export class Admission {
  limits: SlotLimits
  readonly #options: AdmissionOptions
  /** Oldest first. */
  readonly #held = new Map<object, Slot>()
  readonly #countByKey = new Map<string, number>()
  /** The places of those that wait. */
  readonly #places: Admission | undefined
  /** Those that wait, in order, unless they only poll. */
  readonly #queue: Waiting[] = []

  constructor(options: AdmissionOptions) {
    this.limits = options.limits
    this.#options = options
    if (options.maxWaiting)
      this.#places = new Admission({ limits: options.maxWaiting, maxHeldMs: MAX_POLLING_MS })
  }

  /** How many slots are held. */
  get size(): number {
    return this.#held.size
  }

  /** How many slots with this key are held. */
  countOf(key = ''): number {
    return this.#countByKey.get(key) ?? 0
  }

  /** False while no slot is free, in all or for this key. */
  tryAcquire(holder: object, key?: string, limits = this.limits): boolean {
    this.#evictExpired()
    if (!this.#isFree(key, limits)) return false
    this.#hold(holder, key)
    return true
  }

  /** Waits for a slot. False when too many wait already, or after `maxWaitMs`. */
  async acquire(
    holder: object,
    key?: string,
    maxWaitMs = this.#options.maxWaitMs ?? Number.POSITIVE_INFINITY,
  ): Promise<boolean> {
    if (this.tryAcquire(holder, key)) return true
    if (!this.#places?.tryAcquire(holder, key)) return false
    const { pollMs } = this.#options
    const isAcquired = await (pollMs
      ? this.#poll({ holder, key, pollMs, until: Date.now() + maxWaitMs })
      : this.#waitInQueue(holder, key, maxWaitMs))
    this.#places.releaseSlot(holder)
    return isAcquired
  }

  /** Runs `work` in a slot of its own. Null when it had none within `maxWaitMs`. */
  async run<T>(work: () => Promise<T>, key?: string, maxWaitMs?: number): Promise<T | null> {
    const holder = {}
    if (!(await this.acquire(holder, key, maxWaitMs))) return null
    try {
      return await work()
    } finally {
      this.releaseSlot(holder)
    }
  }

  /** Gives up the holder's slot during `work`, and then takes it back, even if none is free. */
  async runWithoutSlot<T>(holder: object, work: () => Promise<T>): Promise<T> {
    const slot = this.releaseSlot(holder)
    if (!slot) return work()
    try {
      return await work()
    } finally {
      this.#hold(holder, slot.key)
    }
  }

  /** Also gives up the holder's place among those that wait. Returns the slot, if it had one. */
  releaseSlot(holder: object): Slot | undefined {
    this.#places?.releaseSlot(holder)
    const slot = this.#remove(holder)
    if (slot) this.#startNext()
    return slot
  }

  /** Starts the time until eviction again. False when the holder has no slot. */
  renewSlot(holder: object): boolean {
    const slot = this.#held.get(holder)
    if (slot) this.#hold(holder, slot.key)
    return slot !== undefined
  }

  #isFree(key: string | undefined, { max, maxPerKey = max }: SlotLimits): boolean {
    return this.#held.size < max && (key === undefined || this.countOf(key) < maxPerKey)
  }

  #hold(holder: object, key: string | undefined): void {
    this.#remove(holder)
    this.#held.set(holder, { key, acquiredAt: Date.now() })
    if (key !== undefined) this.#countByKey.set(key, this.countOf(key) + 1)
  }

  #remove(holder: object): Slot | undefined {
    const slot = this.#held.get(holder)
    this.#held.delete(holder)
    if (slot?.key === undefined) return slot
    const left = this.countOf(slot.key) - 1
    if (left > 0) this.#countByKey.set(slot.key, left)
    else this.#countByKey.delete(slot.key)
    return slot
  }

  #evictExpired(): void {
    const { maxHeldMs = Number.POSITIVE_INFINITY } = this.#options
    const now = Date.now()
    for (const [holder, { acquiredAt }] of this.#held) {
      if (now - acquiredAt < maxHeldMs) break
      this.#remove(holder)
    }
  }

  /** Tries less often while more of the key wait: hundreds of short timers take time from work. */
  async #poll({ holder, key, pollMs, until }: Polling): Promise<boolean> {
    while (Date.now() < until) {
      await this.#pause(holder, key, pollMs * (1 + (this.#places?.countOf(key) ?? 0) / 8))
      if (this.tryAcquire(holder, key)) return true
    }
    return false
  }

  async #pause(holder: object, key: string | undefined, ms: number): Promise<void> {
    if (!this.#options.wakes) return delay(ms)
    const { promise, resolve: start } = Promise.withResolvers<void>()
    const waiting = { holder, key, start }
    this.#queue.push(waiting)
    const timer = setTimeout(start, ms)
    await promise
    clearTimeout(timer)
    const at = this.#queue.indexOf(waiting)
    if (at !== -1) this.#queue.splice(at, 1)
  }

  #waitInQueue(holder: object, key: string | undefined, maxWaitMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const waiting = { holder, key, start: () => resolve(true) }
      this.#queue.push(waiting)
      if (maxWaitMs === Number.POSITIVE_INFINITY) return
      const timer = setTimeout(() => {
        this.#queue.splice(this.#queue.indexOf(waiting), 1)
        resolve(false)
      }, maxWaitMs)
      waiting.start = () => {
        clearTimeout(timer)
        resolve(true)
      }
    })
  }

  #startNext(): void {
    const { wakes } = this.#options
    const next = this.#queue.findIndex(({ holder, key }) =>
      wakes ? this.#isFree(key, this.limits) : this.tryAcquire(holder, key),
    )
    if (next !== -1) this.#queue.splice(next, 1)[0]?.start()
  }
}
