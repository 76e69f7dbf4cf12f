/** An object has six connections and needs two of them for D1. */
const MAX_CALLS = 4
/** Calls that are likely to hang leave one slot to the others. */
const MAX_RISKY_CALLS = MAX_CALLS - 1

interface Waiting {
  isRisky: boolean
  start: () => void
}

/** Limits how many receivers the feed calls at a time. Further calls wait in order. */
export class ReceiverSlots {
  #calls = 0
  #riskyCalls = 0
  readonly #waiting: Waiting[] = []

  /** `isRisky` is true for a receiver whose last call failed. */
  async run<T>(isRisky: boolean, call: () => Promise<T>): Promise<T> {
    if (!this.#tryAcquire(isRisky))
      await new Promise<void>((start) => this.#waiting.push({ isRisky, start }))
    return this.#finish(isRisky, call)
  }

  /** A risky call. Null when it had no slot within `maxWaitMs`. */
  async runWithin<T>(maxWaitMs: number, call: () => Promise<T>): Promise<T | null> {
    const hasSlot = this.#tryAcquire(true) || (await this.#waitFor(maxWaitMs))
    return hasSlot ? this.#finish(true, call) : null
  }

  #waitFor(maxWaitMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const start = () => {
        clearTimeout(timer)
        resolve(true)
      }
      const waiting = { isRisky: true, start }
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
        resolve(false)
      }, maxWaitMs)
      this.#waiting.push(waiting)
    })
  }

  async #finish<T>(isRisky: boolean, call: () => Promise<T>): Promise<T> {
    try {
      return await call()
    } finally {
      this.#calls--
      if (isRisky) this.#riskyCalls--
      this.#startNext()
    }
  }

  #tryAcquire(isRisky: boolean): boolean {
    if (this.#calls >= MAX_CALLS) return false
    if (isRisky && this.#riskyCalls >= MAX_RISKY_CALLS) return false
    this.#calls++
    if (isRisky) this.#riskyCalls++
    return true
  }

  #startNext(): void {
    const next = this.#waiting.find(({ isRisky }) => this.#tryAcquire(isRisky))
    if (!next) return
    this.#waiting.splice(this.#waiting.indexOf(next), 1)
    next.start()
  }
}
