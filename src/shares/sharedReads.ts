import { canSettleOthers } from '../env.ts'

/** How long a request waits for the read of another one before it reads alone. */
const MAX_WAIT_MS = 2000
/** After so many of them it reads alone. */
const MAX_WAITS = 2
const TOO_LATE = Symbol('too late')

interface Options {
  canJoin?: boolean
  maxWaitMs?: number
}

/** Reads that requests for the same thing at the same time share. */
export class SharedReads<K, V> {
  readonly #running = new Map<K, Promise<V>>()
  readonly #canJoin: boolean
  readonly #maxWaitMs: number

  constructor({ canJoin = canSettleOthers, maxWaitMs = MAX_WAIT_MS }: Options = {}) {
    this.#canJoin = canJoin
    this.#maxWaitMs = maxWaitMs
  }

  /** `keep` keeps the present request until a promise is settled, also after a disconnect. */
  async run(key: K, read: () => Promise<V>, keep: (promise: Promise<unknown>) => void): Promise<V> {
    if (!this.#canJoin) return read()
    for (let waits = 0; waits < MAX_WAITS; waits++) {
      const known = this.#running.get(key)
      if (!known) return this.#start(key, read, keep)
      const joined = await this.#waitFor(known)
      if (joined !== TOO_LATE) return joined
      // Its request may have ended: then nobody settles it. The first who notices reads for the others.
      if (this.#running.get(key) === known) this.#running.delete(key)
    }
    return read()
  }

  #start(key: K, read: () => Promise<V>, keep: (promise: Promise<unknown>) => void): Promise<V> {
    const started = read().finally(() => {
      if (this.#running.get(key) === started) this.#running.delete(key)
    })
    this.#running.set(key, started)
    keep(started.catch(() => {}))
    return started
  }

  /** The runtime ends a request that waits for nothing of its own: it has a timer. */
  async #waitFor(known: Promise<V>): Promise<V | typeof TOO_LATE> {
    const { promise: late, resolve } = Promise.withResolvers<typeof TOO_LATE>()
    const timer = setTimeout(() => resolve(TOO_LATE), this.#maxWaitMs)
    try {
      return await Promise.race([known, late])
    } finally {
      clearTimeout(timer)
    }
  }
}
