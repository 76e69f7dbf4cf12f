import { isMoving, resolveCell } from '../../db/movedCell.ts'
import { query, runQuery } from '../../db/objectTable.ts'
import { openCell, openDirectory } from '../../db/open.ts'
import { BacklogReport } from '../../db/queries/backlogs.ts'
import type { Env } from '../../env.ts'
import { pokeFeed } from '../../feed/stub.ts'
import { account } from '../tables.ts'
import { goesToDirectory, isEmpty, oldestPosted, readPending, removeCarriedOut } from './outbox.ts'
import { applyEffects } from './projection/applyEffects.ts'

const FIRST_RETRY_MS = 2_000
const MAX_RETRY_MS = 60_000
/** After a failure a request waits only this long: a recovered cell answers within it. */
const DRAIN_WAIT_MS = 250
const BEHIND_AFTER_MS = 60_000

interface DrainOptions {
  sql: SqlStorage
  env: () => Env
  /** Called before effects are carried out, so that the alarm resumes after a crash. */
  armAlarm: () => void
  onFailure: (error: unknown) => void
  /** The account was found in another cell. */
  onMoved: (cell: number) => void
}

/** Carries effects out to the account's cell and the directory: one drain at a time, in order. */
export class OutboxDrain {
  readonly #options: DrainOptions
  #last: Promise<void> = Promise.resolve()
  /** The drain that begins when the current one ends. */
  #waiting: Promise<void> | null = null
  #failures = 0
  readonly #backlog = new BacklogReport()

  constructor(options: DrainOptions) {
    this.#options = options
  }

  /** When the outbox is to be drained again; null if it is empty. */
  nextTime(now: number): number | null {
    return isEmpty(this.#options.sql)
      ? null
      : now + Math.min(FIRST_RETRY_MS * 2 ** this.#failures, MAX_RETRY_MS)
  }

  /** Drains, but waits only briefly for a cell that has failed: the alarm tries again. */
  async drain(): Promise<void> {
    const drained = this.run()
    await (this.#failures === 0 ? drained : Promise.race([drained, scheduler.wait(DRAIN_WAIT_MS)]))
  }

  /** Callers share the waiting drain. It is skipped if the one before it fails. */
  run(): Promise<void> {
    if (isEmpty(this.#options.sql)) return Promise.resolve()
    this.#options.armAlarm()
    const failures = this.#failures
    this.#waiting ??= this.#last = this.#last.then(async () => {
      this.#waiting = null
      if (this.#failures <= failures) await this.#carryOutPending()
    })
    return this.#waiting
  }

  async #carryOutPending(): Promise<void> {
    const { sql, armAlarm, onFailure } = this.#options
    try {
      for (let effects = readPending(sql); effects[0]; effects = readPending(sql)) {
        const { id, cell } = this.#readOwner()
        const env = this.#options.env()
        const db = goesToDirectory(effects[0]) ? openDirectory(env) : openCell(env, cell)
        const { lastEvent, hasSubscribers } = await applyEffects(db, id, effects, Date.now())
        removeCarriedOut(sql, effects.at(-1)?.seq ?? 0, lastEvent)
        if (hasSubscribers) void pokeFeed(env, { accountId: id, cell })
      }
      this.#failures = 0
    } catch (error) {
      this.#failures++
      if (isMoving(error)) await this.#follow().catch(onFailure)
      else onFailure(error)
      armAlarm()
    }
    void this.#reportBacklog().catch(() => {})
  }

  #readOwner(): { id: string; cell: number } {
    const owner = query`SELECT ${account.id}, ${account.cell} FROM ${account}`
    return runQuery<{ id: string; cell: number }>(this.#options.sql, owner).one()
  }

  /** The operator sees an outbox that has been behind for a minute. */
  async #reportBacklog(): Promise<void> {
    const now = Date.now()
    const since = oldestPosted(this.#options.sql)
    const isBehind = since !== null && now - since >= BEHIND_AFTER_MS
    const behind = isBehind ? [{ id: '', since }] : []
    const { id: accountId, cell } = this.#readOwner()
    const db = openCell(this.#options.env(), cell)
    await this.#backlog.report(db, { accountId, kind: 'outbox', behind, now })
  }

  /** The cell refuses writes: the account is frozen for seconds, or in another cell. */
  async #follow(): Promise<void> {
    const { env, onMoved } = this.#options
    const { id, cell } = this.#readOwner()
    const next = await resolveCell(env(), id, cell)
    if (next === cell) return
    onMoved(next)
    this.#failures = 0
  }
}
