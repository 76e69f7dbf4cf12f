import type { Account } from '../domain/account/account.ts'
import { base32, base32Time } from '../domain/text/base32.ts'
import { advanceToToday, readAccount } from './accounts/accountRow.ts'
import { appendLogLine, type LogEntry } from './accounts/licenseLog.ts'
import { type Effect, post } from './outbox/outbox.ts'

/**
 * What one decision works with. A decision is synchronous and runs in one transaction: an `await`
 * between its check and its write would let another call in.
 */
export class Decision {
  readonly sql: SqlStorage
  /** The account on the day of `now`. Decisions change it in place and then call `saveAccount`. */
  readonly account: Account
  readonly now: number

  constructor(sql: SqlStorage, account: Account, now: number) {
    this.sql = sql
    this.account = account
    this.now = now
  }

  /** Adds an effect to the outbox, which is drained after the commit, in order. */
  post(effect: Effect): void {
    post(this.sql, effect)
  }

  /** Adds an event to the account's event log. */
  emit(
    type: string,
    deviceId: string | null,
    data: Record<string, unknown>,
    time = this.now,
  ): void {
    const id = `evt_${base32Time(time)}${base32(crypto.getRandomValues(new Uint8Array(9)), 13)}`
    this.post({ kind: 'event', id, type, time, deviceId, data })
  }

  /** Adds a line to the license log, with the licenses in use at this point of the decision. */
  log(what: LogEntry, deviceId: string | null, time = this.now): void {
    const { used, total } = this.account
    appendLogLine(this.sql, { time, deviceId, what, used, total })
  }
}

/** Null if this ledger was never opened or has been erased. */
export const beginDecision = (sql: SqlStorage, now: number): Decision | null => {
  const account = readAccount(sql)
  if (!account) return null
  const tx = new Decision(sql, account, now)
  advanceToToday(tx)
  return tx
}
