import { DurableObject } from 'cloudflare:workers'
import type { Account } from '../domain/account.ts'
import type { DayReport, DeviceRecord } from '../domain/device.ts'
import type { Env } from '../env.ts'
import { logFailure } from '../log.ts'
import type { Receipt } from '../notify/provider.ts'
import {
  type AccountChange,
  type AccountOutcome,
  type AccountRefusal,
  changeAccount,
  eraseAccount,
  markErased,
  type Opening,
  openAccount,
} from './account.ts'
import { type AlertToRaise, type RaiseOutcome, raiseAlert } from './alerts.ts'
import { advanceToToday, readAccount } from './books.ts'
import {
  createDevice,
  type DeviceOutcome,
  deleteDevice,
  forgetMaker,
  type Maker,
  type Refusal,
  reactivateDevice,
  readDevice,
  replaceDevice,
} from './devices.ts'
import { recordExpirations } from './expirations.ts'
import { type LogPage, readLog } from './licenseLog.ts'
import { MessageSender } from './messageSender.ts'
import { nextPrune, prune } from './messages.ts'
import { isEmpty } from './outbox.ts'
import { OutboxDrain } from './outboxDrain.ts'
import { applyReceipt, type ReceiptOutcome } from './receipts.ts'
import { type ReconcileOutcome, reconcilePage } from './reconcile.ts'
import { type ResendOutcome, resendMessage, type StoredMessage } from './resendMessage.ts'
import { makeTables } from './tables.ts'
import { usageBetween } from './usage.ts'

const SWEEP_PAGE = 200
/** The alarm ends after this long whatever is still on its way: nothing that came due meanwhile waits for it. */
const ALARM_WAIT_MS = 1_000

/** What an object that is set back leaves to the one that comes after it. */
export interface Handover {
  instance: string
  nextDevice: number
}

export type SetBack =
  | { ok: true; undo: string; left: Handover }
  | { ok: false; refusal: 'not-found' | 'history-unavailable' }

/**
 * One object per account: what is decided on is decided here, one call at a time. Each method makes its decision in one
 * synchronous transaction, together with everything that must follow from it, and only then carries that out.
 */
export class AccountLedger extends DurableObject<Env> {
  readonly #sql: SqlStorage
  readonly #messageSender: MessageSender
  readonly #outboxDrain: OutboxDrain
  /** When the alarm is known to come. */
  #alarmAt: number | null = null
  readonly #instance = crypto.randomUUID()

  constructor(state: DurableObjectState, env: Env) {
    super(state, env)
    this.#sql = state.storage.sql
    makeTables(state.storage)
    this.#outboxDrain = new OutboxDrain(
      this.#sql,
      () => this.env,
      () => this.#arm(),
      (error) => this.#logFailure('projection-failed', error),
    )
    this.#messageSender = new MessageSender(
      state.storage,
      env,
      () => void this.#outboxDrain.drain(),
    )
  }

  async open(opening: Opening): Promise<AccountOutcome> {
    this.#transact(() => {
      if (!readAccount(this.#sql)) openAccount(this.#sql, opening, Date.now())
    })
    await this.#outboxDrain.drain()
    return this.account()
  }

  async account(): Promise<AccountOutcome> {
    return this.#decide((account) => ({ ok: true, account }))
  }

  async change(change: AccountChange, versions: number[] | null): Promise<AccountOutcome> {
    return this.#decide((account, now) => changeAccount(this.#sql, account, change, versions, now))
  }

  async erase(versions: number[] | null): Promise<{ ok: true } | AccountRefusal> {
    return this.#decide((account, now) => eraseAccount(this.#sql, account, versions, now))
  }

  /** The last step of an erasure: once nothing is left to carry out, all that stays is that there was one. */
  async forget(): Promise<boolean> {
    if (readAccount(this.#sql)) return false
    await this.#outboxDrain.run()
    if (!isEmpty(this.#sql)) return false
    const [{ id } = { id: '' }] = this.#sql.exec<{ id: string }>('SELECT id FROM account').toArray()
    await this.ctx.storage.deleteAlarm()
    await this.ctx.storage.deleteAll()
    makeTables(this.ctx.storage)
    if (id) markErased(this.#sql, id)
    return true
  }

  async device(id: string): Promise<DeviceOutcome> {
    return this.#decide((account) => readDevice(this.#sql, account, id))
  }

  async create(id: string, record: DeviceRecord, maker: Maker): Promise<DeviceOutcome> {
    return this.#decide((account, now) => createDevice(this.#sql, account, id, record, maker, now))
  }

  async replace(
    id: string,
    record: DeviceRecord,
    versions: number[] | null,
  ): Promise<DeviceOutcome> {
    return this.#decide((account, now) =>
      replaceDevice(this.#sql, account, id, record, versions, now),
    )
  }

  async reactivate(id: string, expirationDate: string | null): Promise<DeviceOutcome> {
    return this.#decide((account, now) =>
      reactivateDevice(this.#sql, account, id, expirationDate, now),
    )
  }

  async remove(id: string, versions: number[] | null): Promise<{ ok: true } | Refusal> {
    return this.#decide((account, now) => deleteDevice(this.#sql, account, id, versions, now))
  }

  async forgetMaker(userId: string): Promise<void> {
    this.#transact(() => forgetMaker(this.#sql, userId))
  }

  async raise(deviceId: string, raising: AlertToRaise): Promise<RaiseOutcome> {
    return this.#decide((account, now) => raiseAlert(this.#sql, account, deviceId, raising, now))
  }

  async resend(message: StoredMessage, round: string): Promise<ResendOutcome> {
    return this.#decide((account, now) => resendMessage(this.#sql, account, message, round, now))
  }

  async receipt(receipt: Receipt): Promise<ReceiptOutcome> {
    return this.#decide((account, now) => applyReceipt(this.#sql, account, receipt, now))
  }

  async usage(key: number, from: string, to: string): Promise<DayReport[]> {
    return usageBetween(this.#sql, key, from, to)
  }

  async licenseLog(before: number | null, limit: number): Promise<LogPage> {
    return readLog(this.#sql, before, limit)
  }

  /** One page of holding the cell against the ledger: what differs is written again, the ledger's way. */
  async reconcile(after: number, restored: boolean): Promise<ReconcileOutcome> {
    await this.#outboxDrain.run()
    const outcome = await reconcilePage(this.ctx.storage, this.env, after, restored)
    await this.#outboxDrain.run()
    return outcome
  }

  /** Back to a moment, or to a bookmark that an earlier call answered, as soon as the object starts anew. Answers the way back. */
  async setBack(to: number | string): Promise<SetBack> {
    const [row] = this.#sql
      .exec<{ next_device: number }>('SELECT next_device FROM account')
      .toArray()
    if (!row) return { ok: false, refusal: 'not-found' }
    const { storage } = this.ctx
    try {
      const bookmark = typeof to === 'string' ? to : await storage.getBookmarkForTime(to)
      const undo = await storage.onNextSessionRestoreBookmark(bookmark)
      return { ok: true, undo, left: { instance: this.#instance, nextDevice: row.next_device } }
    } catch {
      return { ok: false, refusal: 'history-unavailable' }
    }
  }

  /**
   * Ends the object, which then cannot answer, and answers true once another stands in its place. That one gives out no device key
   * a second time: under it the cell still has the track and the groups of a device that was made since.
   */
  async restart({ instance, nextDevice }: Handover): Promise<boolean> {
    if (instance === this.#instance) this.ctx.abort('set back')
    this.#sql.exec('UPDATE account SET next_device = max(next_device, ?)', nextDevice)
    return true
  }

  /** For the sweep: records what has expired, and gives an interrupted outbox another chance. */
  async sweep(): Promise<{ recorded: number; more: boolean }> {
    const outcome = await this.#decide((account, now) => ({
      ok: true as const,
      ...recordExpirations(this.#sql, account, SWEEP_PAGE, now),
    }))
    return outcome.ok ? outcome : { recorded: 0, more: false }
  }

  /** The platform gives an alarm up after six throws, so this one never does. */
  override async alarm(): Promise<void> {
    this.#alarmAt = null
    try {
      prune(this.#sql, Date.now())
      const work = Promise.allSettled([this.#outboxDrain.run(), this.#messageSender.wake()])
      await Promise.race([work, scheduler.wait(ALARM_WAIT_MS)])
    } catch (error) {
      this.#logFailure('alarm-failed', error)
    }
    this.#arm()
  }

  /** Synchronous on purpose: an `await` between the check and the write would let a rival in. */
  #transact<T>(decision: () => T): T {
    return this.ctx.storage.transactionSync(decision)
  }

  async #decide<T>(
    decision: (account: Account, now: number) => T,
  ): Promise<T | { ok: false; refusal: 'not-found' }> {
    const outcome = this.#transact(() => {
      const account = readAccount(this.#sql)
      if (!account) return { ok: false, refusal: 'not-found' } as const
      const now = Date.now()
      advanceToToday(this.#sql, account, now)
      return decision(account, now)
    })
    await this.#outboxDrain.drain()
    return outcome
  }

  #logFailure(event: string, error: unknown): void {
    logFailure(event, error, { ledger: this.ctx.id.toString() })
  }

  /** Sets the alarm for whatever comes first. */
  #arm(): void {
    const now = Date.now()
    const times = [
      this.#outboxDrain.nextTime(now),
      this.#messageSender.nextTime(),
      nextPrune(this.#sql),
    ].filter((time) => time !== null)
    if (times.length === 0) return
    const next = Math.max(now, Math.min(...times))
    if (this.#alarmAt !== null && this.#alarmAt <= next) return
    this.#alarmAt = next
    void this.ctx.storage.setAlarm(next)
  }
}
