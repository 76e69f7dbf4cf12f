import { DurableObject } from 'cloudflare:workers'
import type { DayReport, DeviceRecord } from '../domain/account/device.ts'
import type { Env } from '../env.ts'
import { logFailure } from '../log.ts'
import type { Receipt } from '../notify/provider.ts'
import * as accounts from './accounts/account.ts'
import { readAccount } from './accounts/accountRow.ts'
import { recordExpirations } from './accounts/expirations.ts'
import { type LogPage, readLog } from './accounts/licenseLog.ts'
import type { AlertToRaise, RaiseOutcome } from './alerts/alerts.ts'
import { nextEmergencyTime, runDueEmergencies } from './alerts/emergencyRounds.ts'
import * as pending from './alerts/pendingRaises.ts'
import { type AlertStep, type StepOutcome, takeStep } from './alerts/steps.ts'
import * as trackers from './alerts/trackerCancels.ts'
import { beginDecision, type Decision } from './decision.ts'
import * as devices from './devices/devices.ts'
import { usageBetween } from './devices/usage.ts'
import * as commandSms from './messages/commandSms.ts'
import { MessageSender } from './messages/messageSender.ts'
import { type AccountNotice, type NoticeOutcome, sendNotice } from './messages/notices.ts'
import { type ResendOutcome, resendMessage, type StoredMessage } from './messages/resendMessage.ts'
import { applyReceipt } from './messages/sendOutcome.ts'
import { migrateTables } from './migrations.ts'
import { isEmpty } from './outbox/outbox.ts'
import { OutboxDrain } from './outbox/outboxDrain.ts'
import { nextPruneTime, prune } from './restore/prune.ts'
import { type ReconcileOutcome, reconcilePage } from './restore/reconcile.ts'
import * as restoring from './restore/restore.ts'
import * as sources from './sources.ts'

const MAX_SWEPT = 200
/** The alarm ends after this long even if a provider still hangs: other work may be due. */
const ALARM_WAIT_MS = 1_000
type Versions = number[] | null
type AccountOutcome = accounts.AccountOutcome
type Creator = devices.Creator
type DeviceOutcome = devices.DeviceOutcome
const NOT_FOUND = { ok: false, refusal: 'account-not-found' } as const

/**
 * One object per account, which makes all decisions about it, one call at a time. Each decision and
 * all that must follow from it are written in one synchronous transaction, then carried out.
 */
export class AccountLedger extends DurableObject<Env> {
  readonly #sql: SqlStorage
  readonly #messageSender: MessageSender
  readonly #outboxDrain: OutboxDrain
  /** When the alarm is set to go off, if this object set it. */
  #alarmAt: number | null = null
  readonly #instance = crypto.randomUUID()

  constructor(state: DurableObjectState, env: Env) {
    super(state, env)
    this.#sql = state.storage.sql
    migrateTables(state.storage)
    this.#outboxDrain = new OutboxDrain({
      sql: this.#sql,
      env: () => this.env,
      armAlarm: () => this.#armAlarm(),
      onFailure: (error) => this.#logFailure('projection-failed', error),
    })
    const onRecorded = () => void this.#outboxDrain.drain()
    this.#messageSender = new MessageSender({ storage: state.storage, env, onRecorded })
  }

  async openAccount(opening: accounts.Opening): Promise<AccountOutcome> {
    this.#transact(() => {
      if (!readAccount(this.#sql)) accounts.openAccount(this.#sql, opening, Date.now())
    })
    await this.#outboxDrain.drain()
    return this.readAccount()
  }

  async readAccount(): Promise<AccountOutcome> {
    return this.#decide(accounts.acceptAccount)
  }

  async editAccount(change: accounts.AccountChange, versions: Versions): Promise<AccountOutcome> {
    return this.#decide((tx) => accounts.editAccount(tx, change, versions))
  }

  async eraseAccount(versions: number[] | null): Promise<{ ok: true } | accounts.AccountRefusal> {
    return this.#decide((tx) => accounts.eraseAccount(tx, versions))
  }

  /** The last step of an erasure. Once the outbox is empty, only the account's id is kept. */
  async deleteStorage(): Promise<boolean> {
    if (readAccount(this.#sql)) return false
    await this.#outboxDrain.run()
    if (!isEmpty(this.#sql)) return false
    await accounts.eraseStorage(this.ctx.storage)
    return true
  }

  async readDevice(id: string): Promise<DeviceOutcome> {
    return this.#decide((tx) => devices.readDevice(tx, id))
  }

  async createDevice(id: string, record: DeviceRecord, creator: Creator): Promise<DeviceOutcome> {
    return this.#decide((tx) => devices.createDevice(tx, id, record, creator))
  }

  async editDevice(id: string, record: DeviceRecord, versions: Versions): Promise<DeviceOutcome> {
    return this.#decide((tx) => devices.editDevice(tx, id, record, versions))
  }

  async reactivateDevice(id: string, expirationDate: string | null): Promise<DeviceOutcome> {
    return this.#decide((tx) => devices.reactivateDevice(tx, id, expirationDate))
  }

  async deleteDevice(id: string, versions: Versions): Promise<{ ok: true } | devices.Refusal> {
    return this.#decide((tx) => devices.deleteDevice(tx, id, versions))
  }

  async deleteCreator(userId: string): Promise<void> {
    this.#transact(() => devices.deleteCreator(this.#sql, userId))
  }

  async raiseAlert(deviceId: string, alert: AlertToRaise): Promise<RaiseOutcome> {
    return this.#decide((tx) => pending.raiseAtOnce(tx, deviceId, alert))
  }

  async raisePendingAlerts(raises: pending.PendingRaise[]): Promise<pending.PendingOutcome> {
    const contexts = await pending.readContexts(this.#sql, this.env, raises)
    return this.#decide((tx) => pending.raisePendingAlerts(tx, raises, contexts))
  }

  async takeAlertStep(step: AlertStep): Promise<StepOutcome> {
    return this.#decide((tx) => takeStep(tx, step))
  }

  async cancelByTracker(given: trackers.Cancellation): Promise<trackers.CancelOutcome> {
    return this.#decide((tx) => trackers.cancelByTracker(tx, given))
  }

  async sendNotice(notice: AccountNotice): Promise<NoticeOutcome | typeof NOT_FOUND> {
    return this.#decide((tx) => sendNotice(tx, notice))
  }

  async resendMessage(message: StoredMessage, round: string): Promise<ResendOutcome> {
    return this.#decide((tx) => resendMessage(tx, message, round))
  }

  async applyReceipt(receipt: Receipt): Promise<void> {
    await this.#decide((tx) => applyReceipt(tx, receipt))
  }

  async editSourceSecrets(id: string, change: sources.SecretsChange): Promise<sources.Secrets> {
    return this.#transact(() => sources.changeSecrets(this.#sql, id, change))
  }

  async createDeviceForSource(
    device: sources.DeviceOfSource,
  ): Promise<sources.SourceDeviceOutcome> {
    return this.#decide((tx) => sources.createDeviceForSource(tx, device))
  }

  async sendCommandSms(command: commandSms.CommandSms): Promise<commandSms.CommandSmsOutcome> {
    return this.#decide((tx) => commandSms.sendCommandSms(tx, command))
  }

  async readUsage(key: number, from: string, to: string): Promise<DayReport[]> {
    return usageBetween(this.#sql, key, from, to)
  }

  async readLicenseLog(before: number | null, limit: number): Promise<LogPage> {
    return readLog(this.#sql, before, limit)
  }

  /** Compares one page of the cell with the ledger and writes what differs as the ledger has it. */
  async reconcilePage(after: number, isRestored: boolean): Promise<ReconcileOutcome> {
    await this.#outboxDrain.run()
    const outcome = await reconcilePage(this.ctx.storage, this.env, after, isRestored)
    await this.#outboxDrain.run()
    return outcome
  }

  /** Schedules a restore, which takes effect when the object restarts. */
  async scheduleRestore(to: number | string): Promise<restoring.RestoreOutcome> {
    return restoring.scheduleRestore(this.ctx.storage, this.#instance, to)
  }

  /** Restarts the object: this call fails, and a call to its replacement returns true. */
  async restart(handover: restoring.Handover): Promise<boolean> {
    if (handover.instance === this.#instance) this.ctx.abort('restarted for a restore')
    restoring.skipUsedDevices(this.#sql, handover)
    return true
  }

  /** Records due expiries for the sweep, and drains an outbox that was interrupted. */
  async recordExpirations(): Promise<{ recorded: number; more: boolean }> {
    const outcome = await this.#decide((tx) => ({
      ok: true as const,
      ...recordExpirations(tx, MAX_SWEPT),
    }))
    return outcome.ok ? outcome : { recorded: 0, more: false }
  }

  /** Never throws: the platform gives an alarm up after six failures. */
  override async alarm(): Promise<void> {
    this.#alarmAt = null
    try {
      // What is queued does not wait for the cell, which emergencies are read from.
      const sending = Promise.allSettled([this.#messageSender.run()])
      await runDueEmergencies(this.ctx.storage, this.env)
      prune(this.#sql, Date.now())
      const further = [this.#outboxDrain.run(), this.#messageSender.run()]
      const work = Promise.allSettled([sending, ...further])
      await Promise.race([work, scheduler.wait(ALARM_WAIT_MS)])
    } catch (error) {
      this.#logFailure('alarm-failed', error)
    }
    this.#armAlarm()
  }

  #transact<T>(work: () => T): T {
    return this.ctx.storage.transactionSync(work)
  }

  /** Decides in one synchronous transaction, then drains the outbox. */
  async #decide<T>(decide: (tx: Decision) => T): Promise<T | typeof NOT_FOUND> {
    const outcome = this.#transact(() => {
      const tx = beginDecision(this.#sql, this.env, Date.now())
      return tx ? decide(tx) : NOT_FOUND
    })
    await this.#outboxDrain.drain()
    return outcome
  }

  #logFailure(event: string, error: unknown): void {
    logFailure(event, error, { ledger: this.ctx.id.toString() })
  }

  /** Sets the alarm for whatever is due first. */
  #armAlarm(): void {
    const now = Date.now()
    const times = [
      this.#outboxDrain.nextTime(now),
      this.#messageSender.nextTime(),
      nextPruneTime(this.#sql),
      nextEmergencyTime(this.#sql),
    ].filter((time) => time !== null)
    if (times.length === 0) return
    const next = Math.max(now, Math.min(...times))
    if (this.#alarmAt !== null && this.#alarmAt <= next) return
    this.#alarmAt = next
    void this.ctx.storage.setAlarm(next)
  }
}
