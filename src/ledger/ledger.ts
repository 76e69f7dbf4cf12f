import type { DayReport, DeviceRecord } from '../domain/account/device.ts'
import type { Writer } from '../domain/admin/audit.ts'
import type { Receipt } from '../notify/provider.ts'
import { LedgerOfAccount } from './accounts/ledgerOfAccount.ts'
import type { AlertToRaise, RaiseOutcome } from './alerts/alerts.ts'
import * as pending from './alerts/pendingRaises.ts'
import { type AlertStep, type StepOutcome, takeStep } from './alerts/steps.ts'
import * as trackers from './alerts/trackerCancels.ts'
import * as deletion from './devices/deletion.ts'
import * as devices from './devices/devices.ts'
import { usageBetween } from './devices/usage.ts'
import type { NOT_FOUND } from './ledgerObject.ts'
import * as commandSms from './messages/commandSms.ts'
import { type AccountNotice, type NoticeOutcome, sendNotice } from './messages/notices.ts'
import { type ResendOutcome, resendMessage, type StoredMessage } from './messages/resendMessage.ts'
import { applyReceipt } from './messages/sendOutcome.ts'
import { type ReconcileOutcome, reconcilePage } from './restore/reconcile.ts'
import * as restoring from './restore/restore.ts'
import * as sources from './sources.ts'

type Versions = number[] | null
type Creator = devices.Creator
type DeviceOutcome = devices.DeviceOutcome

/**
 * One object per account, which makes all decisions about it, one call at a time. Each decision and
 * all that must follow from it are written in one synchronous transaction, then carried out.
 */
export class AccountLedger extends LedgerOfAccount {
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
}
