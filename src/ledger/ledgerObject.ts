import { DurableObject } from 'cloudflare:workers'
import { updateRows } from '../db/objectTable.ts'
import type { Writer } from '../domain/admin/audit.ts'
import type { Env } from '../env.ts'
import { logFailure } from '../log.ts'
import { readAccount } from './accounts/accountRow.ts'
import { moveAccount } from './accounts/ending.ts'
import { nextEmergencyTime, runDueEmergencies } from './alerts/emergencyRounds.ts'
import { beginDecision, type Decision } from './decision.ts'
import { MessageSender } from './messages/messageSender.ts'
import { migrateTables } from './migrations.ts'
import { OutboxDrain } from './outbox/outboxDrain.ts'
import { nextPruneTime, prune } from './restore/prune.ts'
import { account } from './tables.ts'

/** The alarm ends after this long even if a provider still hangs: other work may be due. */
const ALARM_WAIT_MS = 1_000
export const NOT_FOUND = { ok: false, refusal: 'account-not-found' } as const

/** How a ledger decides, and what its alarm does. `AccountLedger` has what others can ask of it. */
export class LedgerObject extends DurableObject<Env> {
  protected readonly sql: SqlStorage
  readonly #messageSender: MessageSender
  protected readonly outboxDrain: OutboxDrain
  /** When the alarm is set to go off, if this object set it. */
  #alarmAt: number | null = null
  protected readonly instance = crypto.randomUUID()

  constructor(state: DurableObjectState, env: Env) {
    super(state, env)
    this.sql = state.storage.sql
    migrateTables(state.storage)
    this.outboxDrain = new OutboxDrain({
      sql: this.sql,
      env: () => this.env,
      armAlarm: () => this.armAlarm(),
      onFailure: (error) => this.#logFailure('projection-failed', error),
      onMoved: (cell) => this.follow(cell),
    })
    const onRecorded = () => void this.outboxDrain.drain()
    this.#messageSender = new MessageSender({ storage: state.storage, env, onRecorded })
  }

  /** Never throws: the platform gives an alarm up after six failures. */
  override async alarm(): Promise<void> {
    this.#alarmAt = null
    try {
      // What is queued does not wait for the cell, which emergencies are read from.
      const sending = Promise.allSettled([this.#send()])
      if (!this.#isDeleted()) await runDueEmergencies(this.ctx.storage, this.env)
      prune(this.sql, Date.now())
      const further = [this.outboxDrain.run(), this.#send()]
      const work = Promise.allSettled([sending, ...further])
      await Promise.race([work, scheduler.wait(ALARM_WAIT_MS)])
    } catch (error) {
      this.#logFailure('alarm-failed', error)
    }
    this.armAlarm()
  }

  /** A deleted account sends nothing. What waits is sent if it is brought back in time. */
  #isDeleted(): boolean {
    return readAccount(this.sql)?.deletedAt != null
  }

  async #send(): Promise<void> {
    if (!this.#isDeleted()) await this.#messageSender.run()
  }

  protected transact<T>(work: () => T): T {
    return this.ctx.storage.transactionSync(work)
  }

  /** Decides in one synchronous transaction, then drains the outbox. Not for a deleted account. */
  protected decide<T>(decide: (tx: Decision) => T, writer?: Writer): Promise<T | typeof NOT_FOUND> {
    const ofExisting = (tx: Decision) => (tx.account.deletedAt === null ? decide(tx) : NOT_FOUND)
    return this.decideOfAny(ofExisting, writer)
  }

  /** The same for an account that the operator has deleted, too. */
  protected async decideOfAny<T>(
    decide: (tx: Decision) => T,
    writer?: Writer,
  ): Promise<T | typeof NOT_FOUND> {
    const outcome = this.transact(() => {
      const tx = beginDecision(this.sql, this.env, Date.now(), writer)
      return tx ? decide(tx) : NOT_FOUND
    })
    await this.outboxDrain.drain()
    return outcome
  }

  /** Effects go to this cell from now on. An erased account still has those that erase its rows. */
  protected follow(cell: number, writer?: Writer): void {
    this.transact(() => {
      const tx = beginDecision(this.sql, this.env, Date.now(), writer)
      if (tx) moveAccount(tx, cell)
      else updateRows(this.sql, account, { cell })
    })
  }

  #logFailure(event: string, error: unknown): void {
    logFailure(event, error, { ledger: this.ctx.id.toString() })
  }

  /** Sets the alarm for whatever is due first. */
  protected armAlarm(): void {
    const now = Date.now()
    const times = [
      this.outboxDrain.nextTime(now),
      nextPruneTime(this.sql),
      ...(this.#isDeleted() ? [] : [this.#messageSender.nextTime(), nextEmergencyTime(this.sql)]),
    ].filter((time) => time !== null)
    if (times.length === 0) return
    const next = Math.max(now, Math.min(...times))
    if (this.#alarmAt !== null && this.#alarmAt <= next) return
    this.#alarmAt = next
    void this.ctx.storage.setAlarm(next)
  }
}
