import { logFailure } from '../log.ts'

const MAX_RETRY_MS = 60_000
const MIN_DELAY_MS = 100

interface PollOptions {
  storage: DurableObjectStorage
  poll: () => Promise<void>
  /** When the next poll is due; null while there is nothing to poll for. */
  nextPollAt: (now: number) => number | null
}

/** Polls on request and by alarm: one poll at a time, one alarm at a time. */
export class PollLoop {
  readonly #options: PollOptions
  #running: Promise<void> | null = null
  #isRequested = false
  #failures = 0
  #alarmAt: number | null = null

  constructor(options: PollOptions) {
    this.#options = options
  }

  /** A request during a poll is followed by one more poll. */
  request(): Promise<void> {
    this.#isRequested = true
    this.#running ??= this.#pollUntilIdle().finally(() => {
      this.#running = null
    })
    return this.#running
  }

  /** Never throws: the platform drops an alarm after six failures. */
  async alarm(): Promise<void> {
    this.#alarmAt = null
    await this.request()
  }

  async stop(): Promise<void> {
    this.#isRequested = false
    await this.#running
    await this.#options.storage.deleteAlarm()
    this.#alarmAt = null
  }

  /** Leaves an earlier alarm in place: polling too early is harmless and saves a write. */
  async arm(): Promise<void> {
    const now = Date.now()
    const due =
      this.#failures > 0
        ? now + Math.min(1000 * 2 ** this.#failures, MAX_RETRY_MS)
        : this.#options.nextPollAt(now)
    if (due === null) return
    const at = Math.max(due, now + MIN_DELAY_MS)
    if (this.#alarmAt !== null && this.#alarmAt <= at && this.#alarmAt > now) return
    this.#alarmAt = at
    await this.#options.storage.setAlarm(at)
  }

  async #pollUntilIdle(): Promise<void> {
    while (this.#isRequested) {
      this.#isRequested = false
      try {
        await this.#options.poll()
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
