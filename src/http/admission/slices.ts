import { delay } from './admission.ts'
import { reserveFurther } from './pacing.ts'

/*
 * Long computations give other requests of the isolate their turn. The clock of a Worker stands still
 * while it computes, so the work is counted in units of about a microsecond instead.
 */

/** About five milliseconds. */
export const SLICE_UNITS = 5000
const SLICE_MS = SLICE_UNITS / 1000
/** After a wait of 0 ms the runtime goes on without taking in new requests. */
const MIN_PAUSE_MS = 1

/** Gives requests that have arrived their turn. */
export const letRequestsIn = (): Promise<void> => delay(MIN_PAUSE_MS)

/**
 * One for each request. After a part of the work: `await slices.spend(units)`, or, where awaiting
 * nothing would cost too much, `const turn = slices.spend(units); if (turn) await turn`.
 */
export class Slices {
  #left = SLICE_UNITS
  readonly #owner: string | undefined
  /** All units that were spent. */
  spent = 0

  /**
   * Beside others, the slices of an owner, such as an account, take their share of the time. The
   * work must have the owner's turn.
   */
  constructor(owner?: string) {
    this.#owner = owner
  }

  /** Counts work that was done. A promise only when the slice is used up. */
  spend(units: number): Promise<void> | undefined {
    this.spent += units
    this.#left -= units
    if (this.#left > 0) return undefined
    this.#left = SLICE_UNITS
    const pauseMs = this.#owner ? reserveFurther(this.#owner, SLICE_MS, Date.now()) : 0
    return delay(Math.max(MIN_PAUSE_MS, pauseMs))
  }

  /** Does work that yields the units of each of its steps. */
  async run<Result>(work: Generator<number, Result>): Promise<Result> {
    for (;;) {
      const step = work.next()
      if (step.done) return step.value
      const turn = this.spend(step.value)
      if (turn) await turn
    }
  }
}
