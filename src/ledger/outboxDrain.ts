import { openCell, openDirectory } from '../db/open.ts'
import type { Env } from '../env.ts'
import { pokeFeed } from '../feed/stub.ts'
import { goesToDirectory, isEmpty, pending, settle } from './outbox.ts'
import { applyEffects } from './projection.ts'

const FIRST_RETRY_MS = 2_000
const MAX_RETRY_MS = 60_000
/** A cell that answers again does so within this, and then a client reads what it wrote. */
const DRAIN_WAIT_MS = 250

/** Carries the outbox out to the account's cell and the directory: one turn at a time, in order. */
export class OutboxDrain {
  readonly #sql: SqlStorage
  readonly #env: () => Env
  readonly #arm: () => void
  readonly #failed: (error: unknown) => void
  #last: Promise<void> = Promise.resolve()
  /** The turn that begins when the one under way is over. */
  #waiting: Promise<void> | null = null
  #failures = 0

  /** `arm` is called before anything is carried out, so that a crash in between leaves something that comes back to it. */
  constructor(sql: SqlStorage, env: () => Env, arm: () => void, failed: (error: unknown) => void) {
    this.#sql = sql
    this.#env = env
    this.#arm = arm
    this.#failed = failed
  }

  /** When what is in the outbox is to be tried again; null where there is nothing. */
  nextTime(now: number): number | null {
    return isEmpty(this.#sql)
      ? null
      : now + Math.min(FIRST_RETRY_MS * 2 ** this.#failures, MAX_RETRY_MS)
  }

  /** Nobody waits long for a cell that has failed: the decision stands, and the next request or the alarm tries again. */
  async drain(): Promise<void> {
    const turn = this.run()
    await (this.#failures === 0 ? turn : Promise.race([turn, scheduler.wait(DRAIN_WAIT_MS)]))
  }

  /** Who comes while a turn waits shares it, and where the turn before fails it is not taken. */
  run(): Promise<void> {
    if (isEmpty(this.#sql)) return Promise.resolve()
    this.#arm()
    const failures = this.#failures
    this.#waiting ??= this.#last = this.#last.then(async () => {
      this.#waiting = null
      if (this.#failures <= failures) await this.#carryOutPending()
    })
    return this.#waiting
  }

  async #carryOutPending(): Promise<void> {
    try {
      for (let effects = pending(this.#sql); effects[0]; effects = pending(this.#sql)) {
        const { id, cell } = this.#sql
          .exec<{ id: string; cell: number }>('SELECT id, cell FROM account')
          .one()
        const env = this.#env()
        const database = goesToDirectory(effects[0]) ? openDirectory(env) : openCell(env, cell)
        const { lastEvent, hasSubscribers } = await applyEffects(database, id, effects, Date.now())
        settle(this.#sql, effects.at(-1)?.seq ?? 0, lastEvent)
        if (hasSubscribers) void pokeFeed(env, { accountId: id, cell })
      }
      this.#failures = 0
    } catch (error) {
      this.#failures++
      this.#failed(error)
      this.#arm()
    }
  }
}
