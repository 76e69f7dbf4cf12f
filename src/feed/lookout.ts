const SLOWEST_RETRY = 60_000
const SOONEST = 100

/** Looks when asked and when something is due: one look at a time, and one alarm. */
export class Lookout {
  readonly #storage: DurableObjectStorage
  readonly #look: () => Promise<void>
  readonly #due: (now: number) => number | null
  #looking: Promise<void> | null = null
  #asked = false
  #failures = 0
  #alarmAt: number | null = null

  /** `due`: when there is something to look at next; null while there is nothing. */
  constructor(storage: DurableObjectStorage, look: () => Promise<void>, due: (now: number) => number | null) {
    this.#storage = storage
    this.#look = look
    this.#due = due
  }

  /** Asked during a look, another follows. */
  ask(): Promise<void> {
    this.#asked = true
    this.#looking ??= this.#lookUntilStill().finally(() => {
      this.#looking = null
    })
    return this.#looking
  }

  /** The platform gives an alarm up after six throws, so this one never does. */
  async alarm(): Promise<void> {
    this.#alarmAt = null
    await this.ask()
  }

  async stop(): Promise<void> {
    this.#asked = false
    await this.#looking
    await this.#storage.deleteAlarm()
    this.#alarmAt = null
  }

  /** An alarm that comes too early does no harm, so a later need does not move it. */
  async arm(): Promise<void> {
    const now = Date.now()
    const due = this.#failures > 0 ? now + Math.min(1000 * 2 ** this.#failures, SLOWEST_RETRY) : this.#due(now)
    if (due === null) return
    const at = Math.max(due, now + SOONEST)
    if (this.#alarmAt !== null && this.#alarmAt <= at && this.#alarmAt > now) return
    this.#alarmAt = at
    await this.#storage.setAlarm(at)
  }

  async #lookUntilStill(): Promise<void> {
    while (this.#asked) {
      this.#asked = false
      try {
        await this.#look()
        this.#failures = 0
      } catch (error) {
        this.#failures++
        console.error(JSON.stringify({ level: 'error', event: 'look-failed', error: (error as Error).name }))
        break
      }
    }
    await this.arm()
  }
}
