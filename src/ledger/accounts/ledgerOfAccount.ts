import { readVersion } from '../../db/objectMigrations.ts'
import { changesBetween, type Writer } from '../../domain/admin/audit.ts'
import type { DaySpan } from '../../domain/usage/licenseDays.ts'
import { ArchivedLedger } from '../archive/archivedLedger.ts'
import { beginDecision } from '../decision.ts'
import { isEmpty } from '../outbox/outbox.ts'
import * as accounts from './account.ts'
import { readAccount } from './accountRow.ts'
import * as ending from './ending.ts'
import { recordExpirations } from './expirations.ts'
import { type LogPage, readLog } from './licenseLog.ts'
import * as sandboxes from './sandboxes.ts'
import { type LedgerUsage, reportUsage } from './usageReport.ts'

const MAX_SWEPT = 200
type Versions = number[] | null
type AccountOutcome = accounts.AccountOutcome

/** What concerns the account itself, and its licenses as a whole. */
export class LedgerOfAccount extends ArchivedLedger {
  async openAccount(opening: accounts.Opening, writer?: Writer): Promise<AccountOutcome> {
    this.transact(() => {
      if (readAccount(this.sql)) return
      const now = Date.now()
      accounts.openAccount(this.sql, opening, now)
      const { id, cell, userName, name, timeZone, total: licenses, sandbox } = opening
      const about = { userName, name, timeZone, licenses, cell, ...(sandbox && { sandbox: true }) }
      const tx = beginDecision(this.sql, this.env, now, writer)
      tx?.audit('account.created', { type: 'account', id }, changesBetween(null, about))
      if (tx && sandbox) sandboxes.createDevices(tx, sandbox.devices)
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
    return this.decideOfAny((tx) => ending.eraseAccount(tx, versions), writer)
  }

  /** Erases the account if it was deleted until then: the caller's copy may be older. */
  async eraseIfDeleted(until: number, writer: Writer): Promise<void> {
    await this.decideOfAny((tx) => ending.eraseIfDeleted(tx, until), writer)
  }

  async keepSandbox(writer?: Writer): Promise<sandboxes.KeepOutcome> {
    return this.decide(sandboxes.keepSandbox, writer)
  }

  async extendSandbox(writer?: Writer): Promise<sandboxes.KeepOutcome> {
    return this.decide(sandboxes.extendSandbox, writer)
  }

  /** Erases a sandbox that was due until then: the caller's copy may be older. */
  async eraseDueSandbox(until: number, writer: Writer): Promise<void> {
    await this.decideOfAny((tx) => sandboxes.eraseIfDue(tx, until), writer)
  }

  async deleteAccount(
    versions: Versions,
    writer?: Writer,
  ): Promise<{ ok: true } | accounts.AccountRefusal> {
    return this.decideOfAny((tx) => ending.deleteAccount(tx, versions), writer)
  }

  async undeleteAccount(writer?: Writer): Promise<ending.UndeleteOutcome> {
    const outcome = await this.decideOfAny((tx) => ending.undeleteAccount(tx), writer)
    this.armAlarm()
    return outcome
  }

  /** The account is in another cell from now on. */
  async moveTo(cell: number, writer?: Writer): Promise<void> {
    this.follow(cell, writer)
    await this.outboxDrain.run()
  }

  /** The last step of an erasure. Once the outbox is empty, only the account's id is kept. */
  async deleteStorage(): Promise<boolean> {
    if (readAccount(this.sql)) return false
    await this.outboxDrain.run()
    if (!isEmpty(this.sql)) return false
    await ending.eraseStorage(this.ctx.storage)
    return true
  }

  /** How many steps its tables have had, for the operator's health check. */
  async readSchemaVersion(): Promise<number> {
    return readVersion(this.sql)
  }

  /** What the account has used on the days of a span; of a deleted or erased one too. */
  async reportUsage(span: DaySpan): Promise<LedgerUsage | null> {
    return reportUsage(this.sql, span, Date.now())
  }

  async readLicenseLog(before: number | null, limit: number): Promise<LogPage> {
    return readLog(this.sql, before, limit)
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
