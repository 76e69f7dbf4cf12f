import { readVersion } from '../db/objectMigrations.ts'
import type { DayReport, DeviceRecord } from '../domain/account/device.ts'
import { changesBetween, type Writer } from '../domain/admin/audit.ts'
import type { DaySpan } from '../domain/usage/licenseDays.ts'
import type { Receipt } from '../notify/provider.ts'
import * as accounts from './accounts/account.ts'
import { readAccount } from './accounts/accountRow.ts'
import { recordExpirations } from './accounts/expirations.ts'
import { type LogPage, readLog } from './accounts/licenseLog.ts'
import { type LedgerUsage, reportUsage } from './accounts/usageReport.ts'
import type { AlertToRaise, RaiseOutcome } from './alerts/alerts.ts'
import * as pending from './alerts/pendingRaises.ts'
import { type AlertStep, type StepOutcome, takeStep } from './alerts/steps.ts'
import * as trackers from './alerts/trackerCancels.ts'
import { ArchivedLedger } from './archive/archivedLedger.ts'
import { beginDecision } from './decision.ts'
import * as deletion from './devices/deletion.ts'
import * as devices from './devices/devices.ts'
import { usageBetween } from './devices/usage.ts'
import type { NOT_FOUND } from './ledgerObject.ts'
import * as commandSms from './messages/commandSms.ts'
import { type AccountNotice, type NoticeOutcome, sendNotice } from './messages/notices.ts'
import { type ResendOutcome, resendMessage, type StoredMessage } from './messages/resendMessage.ts'
import { applyReceipt } from './messages/sendOutcome.ts'
import { isEmpty } from './outbox/outbox.ts'
import { type ReconcileOutcome, reconcilePage } from './restore/reconcile.ts'
import * as restoring from './restore/restore.ts'
import * as sources from './sources.ts'

const MAX_SWEPT = 200
type Versions = number[] | null
type AccountOutcome = accounts.AccountOutcome
type Creator = devices.Creator
type DeviceOutcome = devices.DeviceOutcome

/**
 * One object per account, which makes all decisions about it, one call at a time. Each decision and
 * all that must follow from it are written in one synchronous transaction, then carried out.
 */
export class AccountLedger extends ArchivedLedger {
  async openAccount(opening: accounts.Opening, writer?: Writer): Promise<AccountOutcome> {
    this.transact(() => {
      if (readAccount(this.sql)) return
      const now = Date.now()
      accounts.openAccount(this.sql, opening, now)
      const { id, cell, userName, name, timeZone, total: licenses } = opening
      const changes = changesBetween(null, { userName, name, timeZone, licenses, cell })
      beginDecision(this.sql, this.env, now, writer)?.audit(
        'account.created',
        { type: 'account', id },
        changes,
      )
    })
    await this.outboxDrain.drain()
    return this.readAccount()
  }

  async readAccount(): Promise<AccountOutcome> {
    return this.decideOfAny(accounts.acceptAccount)
  }

  async editAccount(
    change: accounts.AccountChange,
    versions: Versions,
    writer?: Writer,
  ): Promise<AccountOutcome> {
    return this.decide((tx) => accounts.editAccount(tx, change, versions), writer)
  }

  async eraseAccount(
    versions: Versions,
    writer?: Writer,
  ): Promise<{ ok: true } | accounts.AccountRefusal> {
    return this.decideOfAny((tx) => accounts.eraseAccount(tx, versions), writer)
  }

  /** Erases the account if it was deleted until then: the caller's copy may be older. */
  async eraseIfDeleted(until: number, writer: Writer): Promise<void> {
    await this.decideOfAny((tx) => accounts.eraseIfDeleted(tx, until), writer)
  }

  async deleteAccount(
    versions: Versions,
    writer?: Writer,
  ): Promise<{ ok: true } | accounts.AccountRefusal> {
    return this.decideOfAny((tx) => accounts.deleteAccount(tx, versions), writer)
  }

  async undeleteAccount(writer?: Writer): Promise<accounts.UndeleteOutcome> {
    const outcome = await this.decideOfAny((tx) => accounts.undeleteAccount(tx), writer)
    this.armAlarm()
    return outcome
  }

  /** The account is in another cell from now on. */
  async moveTo(cell: number, writer?: Writer): Promise<void> {
    await this.decideOfAny((tx) => accounts.moveAccount(tx, cell), writer)
    await this.outboxDrain.run()
  }

  /** The last step of an erasure. Once the outbox is empty, only the account's id is kept. */
  async deleteStorage(): Promise<boolean> {
    if (readAccount(this.sql)) return false
    await this.outboxDrain.run()
    if (!isEmpty(this.sql)) return false
    await accounts.eraseStorage(this.ctx.storage)
    return true
  }

  /** How many steps its tables have had, for the operator's health check. */
  async readSchemaVersion(): Promise<number> {
    return readVersion(this.sql)
  }

  async readDevice(id: string): Promise<DeviceOutcome> {
    return this.decide((tx) => devices.readDevice(tx, id))
  }

  async createDevice(
    id: string,
    record: DeviceRecord,
    creator: Creator,
    writer?: Writer,
  ): Promise<DeviceOutcome> {
    return this.decide((tx) => devices.createDevice(tx, id, record, creator), writer)
  }

  async editDevice(
    id: string,
    record: DeviceRecord,
    versions: Versions,
    writer?: Writer,
  ): Promise<DeviceOutcome> {
    return this.decide((tx) => devices.editDevice(tx, id, record, versions), writer)
  }

  async reactivateDevice(
    id: string,
    expirationDate: string | null,
    writer?: Writer,
  ): Promise<DeviceOutcome> {
    return this.decide((tx) => devices.reactivateDevice(tx, id, expirationDate), writer)
  }

  async deleteDevice(
    id: string,
    versions: Versions,
    writer?: Writer,
  ): Promise<{ ok: true } | devices.Refusal> {
    return this.decide((tx) => deletion.deleteDevice(tx, id, versions), writer)
  }

  async restoreDevice(id: string, writer?: Writer): Promise<DeviceOutcome> {
    return this.decide((tx) => deletion.restoreDevice(tx, id), writer)
  }

  async deleteCreator(userId: string): Promise<void> {
    this.transact(() => devices.deleteCreator(this.sql, userId))
  }

  async raiseAlert(deviceId: string, alert: AlertToRaise, writer?: Writer): Promise<RaiseOutcome> {
    return this.decide((tx) => pending.raiseAtOnce(tx, deviceId, alert), writer)
  }

  async raisePendingAlerts(raises: pending.PendingRaise[]): Promise<pending.PendingOutcome> {
    const contexts = await pending.readContexts(this.sql, this.env, raises)
    return this.decide((tx) => pending.raisePendingAlerts(tx, raises, contexts))
  }

  async takeAlertStep(step: AlertStep, writer?: Writer): Promise<StepOutcome> {
    return this.decide((tx) => takeStep(tx, step), writer)
  }

  async cancelByTracker(
    given: trackers.Cancellation,
    writer?: Writer,
  ): Promise<trackers.CancelOutcome> {
    return this.decide((tx) => trackers.cancelByTracker(tx, given), writer)
  }

  async sendNotice(
    notice: AccountNotice,
    writer?: Writer,
  ): Promise<NoticeOutcome | typeof NOT_FOUND> {
    return this.decide((tx) => sendNotice(tx, notice), writer)
  }

  async resendMessage(
    message: StoredMessage,
    round: string,
    writer?: Writer,
  ): Promise<ResendOutcome> {
    return this.decide((tx) => resendMessage(tx, message, round), writer)
  }

  async applyReceipt(receipt: Receipt): Promise<void> {
    await this.decide((tx) => applyReceipt(tx, receipt, this.env))
  }

  async editSourceSecrets(
    id: string,
    change: sources.SecretsChange,
    writer?: Writer,
  ): Promise<sources.Secrets> {
    if (change === null) return sources.readSecrets(this.sql, id)
    const outcome = await this.decideOfAny((tx) => sources.changeSecrets(tx, id, change), writer)
    return 'secrets' in outcome ? outcome.secrets : {}
  }

  async createDeviceForSource(
    device: sources.DeviceOfSource,
    writer?: Writer,
  ): Promise<sources.SourceDeviceOutcome> {
    return this.decide((tx) => sources.createDeviceForSource(tx, device), writer)
  }

  async sendCommandSms(command: commandSms.CommandSms): Promise<commandSms.CommandSmsOutcome> {
    return this.decide((tx) => commandSms.sendCommandSms(tx, command))
  }

  async readUsage(key: number, from: string, to: string): Promise<DayReport[]> {
    return usageBetween(this.sql, key, from, to)
  }

  /** What the account has used on the days of a span; of a deleted or erased one too. */
  async reportUsage(span: DaySpan): Promise<LedgerUsage | null> {
    return reportUsage(this.sql, span, Date.now())
  }

  async readLicenseLog(before: number | null, limit: number): Promise<LogPage> {
    return readLog(this.sql, before, limit)
  }

  /** Compares one page of the cell with the ledger and writes what differs as the ledger has it. */
  async reconcilePage(after: number, isRestored: boolean): Promise<ReconcileOutcome> {
    await this.outboxDrain.run()
    const outcome = await reconcilePage(this.ctx.storage, this.env, after, isRestored)
    await this.outboxDrain.run()
    return outcome
  }

  /** Schedules a restore, which takes effect when the object restarts. */
  async scheduleRestore(to: number | string): Promise<restoring.RestoreOutcome> {
    return restoring.scheduleRestore(this.ctx.storage, this.instance, to)
  }

  /** Restarts the object: this call fails, and a call to its replacement returns true. */
  async restart(handover: restoring.Handover): Promise<boolean> {
    if (handover.instance === this.instance) this.ctx.abort('restarted for a restore')
    restoring.skipUsedDevices(this.sql, handover)
    return true
  }

  /** Records due expiries for the sweep, and drains an outbox that was interrupted. */
  async recordExpirations(): Promise<{ recorded: number; more: boolean }> {
    const outcome = await this.decide((tx) => ({
      ok: true as const,
      ...recordExpirations(tx, MAX_SWEPT),
    }))
    return outcome.ok ? outcome : { recorded: 0, more: false }
  }
}
