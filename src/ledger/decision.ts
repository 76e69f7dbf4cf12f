import { newAuditId } from '../db/queries/audit.ts'
import type { Account } from '../domain/account/account.ts'
import type { Budgets } from '../domain/account/budget.ts'
import type { AuditEntry, Change, Writer } from '../domain/admin/audit.ts'
import {
  DEFAULT_MESSAGES_PER_LICENSE,
  type MessageCounts,
} from '../domain/message/messageBudget.ts'
import { base32, base32Time } from '../domain/text/base32.ts'
import { budgetsPerLicense, type Env, messagesPerLicense } from '../env.ts'
import { advanceToToday, readAccount } from './accounts/accountRow.ts'
import { appendLogLine, type LogEntry } from './accounts/licenseLog.ts'
import { isDrill } from './alerts/drills.ts'
import { type Effect, post } from './outbox/outbox.ts'

/** The operator's default budgets for each license. */
interface PerLicense extends Budgets {
  messagesPerDay: MessageCounts
}

/** Of what the service does by itself. */
export const SYSTEM: Writer = {
  actor: { type: 'system', id: 'ledger', name: null },
  requestId: 'ledger',
  address: null,
}

interface Circumstances {
  now: number
  perLicense: PerLicense
  writer: Writer
}

/**
 * What one decision works with. A decision is synchronous and runs in one transaction: an `await`
 * between its check and its write would let another call in.
 */
export class Decision {
  readonly sql: SqlStorage
  /** The account on the day of `now`. Decisions change it in place and then call `saveAccount`. */
  readonly account: Account
  readonly now: number
  readonly perLicense: PerLicense
  readonly writer: Writer

  constructor(sql: SqlStorage, account: Account, { now, perLicense, writer }: Circumstances) {
    this.sql = sql
    this.account = account
    this.now = now
    this.perLicense = perLicense
    this.writer = writer
  }

  /** Adds an effect to the outbox, which is drained after the commit, in order. */
  post(effect: Effect): void {
    post(this.sql, effect)
  }

  /** Adds an event to the account's event log; those of drills are marked. */
  emit(
    type: string,
    deviceId: string | null,
    data: Record<string, unknown>,
    time = this.now,
  ): void {
    const id = `evt_${base32Time(time)}${base32(crypto.getRandomValues(new Uint8Array(9)), 13)}`
    const isTest = typeof data.alertId === 'string' && isDrill(this.sql, data.alertId)
    const marked = isTest ? { ...data, test: true } : data
    this.post({ kind: 'event', id, type, time, deviceId, data: marked })
  }

  /** Adds an entry of this decision to the audit. */
  audit(
    action: string,
    resource: AuditEntry['resource'],
    changes: Change[] = [],
    writer = this.writer,
  ): void {
    const { now: at } = this
    this.post({
      kind: 'audit',
      entry: { id: newAuditId(at), at, writer, action, resource, changes },
    })
  }

  /** Adds a line to the license log, with the licenses in use at this point of the decision. */
  log(what: LogEntry, deviceId: string | null, time = this.now): void {
    const { used, total } = this.account
    appendLogLine(this.sql, { time, deviceId, what, used, total })
  }
}

/** An emergency must not fail because of a wrong setting: replies that show budgets report it. */
const readOr = <T>(read: () => T, fallback: T): T => {
  try {
    return read()
  } catch {
    return fallback
  }
}

const NO_BUDGETS: Budgets = { locationsPerDay: Infinity, storageBytes: Infinity }

const readPerLicense = (env: Env): PerLicense => ({
  ...readOr(() => budgetsPerLicense(env), NO_BUDGETS),
  messagesPerDay: readOr(() => messagesPerLicense(env), DEFAULT_MESSAGES_PER_LICENSE),
})

/** Null if this ledger was never opened or has been erased. */
export const beginDecision = (
  sql: SqlStorage,
  env: Env,
  now: number,
  writer: Writer = SYSTEM,
): Decision | null => {
  const account = readAccount(sql)
  if (!account) return null
  const tx = new Decision(sql, account, { now, perLicense: readPerLicense(env), writer })
  advanceToToday(tx)
  return tx
}
