import { logFailure } from '../log.ts'

const MAX_RETRY_MS = 60_000
const SOONEST = 100

/** Looks when asked and when something is due: one look at a time, and one alarm. */
export class PollLoop {
  readonly #storage: DurableObjectStorage
  readonly #poll: () => Promise<void>
  readonly #due: (now: number) => number | null
  #running: Promise<void> | null = null
  #requested = false
  #failures = 0
  #alarmAt: number | null = null

  /** `due`: when there is something to look at next; null while there is nothing. */
  constructor(
    storage: DurableObjectStorage,
    poll: () => Promise<void>,
    due: (now: number) => number | null,
  ) {
    this.#storage = storage
    this.#poll = poll
    this.#due = due
  }

  /** Asked during a look, another follows. */
  request(): Promise<void> {
    this.#requested = true
    this.#running ??= this.#pollUntilIdle().finally(() => {
      this.#running = null
    })
    return this.#running
  }

  /** The platform gives an alarm up after six throws, so this one never does. */
  async alarm(): Promise<void> {
    this.#alarmAt = null
    await this.request()
  }

  async stop(): Promise<void> {
    this.#requested = false
    await this.#running
    await this.#storage.deleteAlarm()
    this.#alarmAt = null
  }

  /** An alarm that comes too early does no harm, so a later need does not move it. */
  async arm(): Promise<void> {
    const now = Date.now()
    const due =
      this.#failures > 0 ? now + Math.min(1000 * 2 ** this.#failures, MAX_RETRY_MS) : this.#due(now)
    if (due === null) return
    const at = Math.max(due, now + SOONEST)
    if (this.#alarmAt !== null && this.#alarmAt <= at && this.#alarmAt > now) return
    this.#alarmAt = at
    await this.#storage.setAlarm(at)
  }

  async #pollUntilIdle(): Promise<void> {
    while (this.#requested) {
      this.#requested = false
      try {
        await this.#poll()
        this.#failures = 0
      } catch (error) {
        this.#failures++
        logFailure('poll-failed', error)
        break
      }
    }
    await this.arm()
  }
}
