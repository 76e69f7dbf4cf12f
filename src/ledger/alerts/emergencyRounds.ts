import { findRow, query, readValue, updateRows } from '../../db/objectTable.ts'
import { openCell } from '../../db/open.ts'
import { type RoundState, readRoundState } from '../../db/queries/recipients.ts'
import { escalationOf, MINUTE_MS } from '../../domain/message/emergency.ts'
import type { Env } from '../../env.ts'
import { logFailure } from '../../log.ts'
import { loadDescriber } from '../../places/store.ts'
import { readAccount } from '../accounts/accountRow.ts'
import { beginDecision, type Decision } from '../decision.ts'
import { alertStates, type EmergencyRow, emergencies } from '../tables.ts'
import {
  acknowledgeEmergency,
  countMessages,
  findEmergency,
  mayReport,
  wasAccepted,
} from './emergencies.ts'
import {
  recipientsNow,
  reportUndelivered,
  sendAboutAlert,
  withNewestPlace,
} from './emergencyMessages.ts'
import { findRaised } from './raised.ts'
import { startAgain } from './steps.ts'

/* What an open emergency is due for: the check of its messages, and the rounds of its escalation. */

const { checkAt, nextRound, againAt } = emergencies

/** When the next check or round is due. */
export const nextEmergencyTime = (sql: SqlStorage): number | null =>
  readValue<number | null>(
    sql,
    query`SELECT min(at) FROM (
      SELECT min(${checkAt}) AS at FROM ${emergencies} WHERE ${checkAt} IS NOT NULL
      UNION ALL SELECT min(${nextRound}) FROM ${emergencies} WHERE ${nextRound} IS NOT NULL
      UNION ALL SELECT min(${againAt}) FROM ${emergencies} WHERE ${againAt} IS NOT NULL)`,
  )

const NEVER = Number.MAX_SAFE_INTEGER

/** The emergency that has been due for longest. */
const findDueEmergency = (sql: SqlStorage, now: number): EmergencyRow | undefined =>
  findRow(
    sql,
    emergencies,
    query`(${checkAt} IS NOT NULL AND ${checkAt} <= ${now})
      OR (${nextRound} IS NOT NULL AND ${nextRound} <= ${now})
      OR (${againAt} IS NOT NULL AND ${againAt} <= ${now})
      ORDER BY min(ifnull(${checkAt}, ${NEVER}), ifnull(${nextRound}, ${NEVER}),
        ifnull(${againAt}, ${NEVER})) LIMIT 1`,
  )

/** A cell that does not answer must not hold up an emergency. */
const MAX_WAIT_MS = 2_000

/**
 * What the cell knows of an emergency that is about to be sent again. Null when it cannot be asked:
 * then the round goes to everyone who was sent a message before, with the places of the ledger.
 */
const readRoundContext = async (
  sql: SqlStorage,
  env: Env,
  row: EmergencyRow,
): Promise<RoundState | null> => {
  const account = readAccount(sql)
  if (!account) return null
  const about = { accountId: account.id, deviceId: row.details.deviceId, now: Date.now() }
  const db = openCell(env, account.cell)
  const describing = loadDescriber(env.ASSETS, db, { accountId: account.id, groupId: null })
  try {
    const state = await Promise.race([
      readRoundState(db, about, row.id),
      scheduler.wait(MAX_WAIT_MS).then(() => null),
    ])
    return state && { ...state, lastLocation: (await describing)(state.lastLocation) }
  } catch {
    return null
  }
}
type RoundContext = RoundState | null

/** Sends the emergency again to everyone sent a message, and to the emergency contacts. */
const sendRound = (tx: Decision, row: EmergencyRow, context: RoundContext): void => {
  const { sql, account, now } = tx
  // Unknown to the ledger, which was restored. A cell that lags behind is older than the ledger.
  const { seq = 0 } = findRow(sql, alertStates, { alertId: row.id }) ?? {}
  if (context && context.acknowledgedSeq > seq) {
    acknowledgeEmergency(tx, row.id)
    return
  }
  const escalation = escalationOf(account)
  const round = row.round + 1
  if (!escalation || round > escalation.rounds) {
    updateRows(sql, emergencies, { nextRound: null }, { id: row.id })
    return
  }
  const { queued, suppressed } = sendAboutAlert(tx, {
    kind: 'escalation',
    series: round,
    deviceKey: row.deviceKey,
    after: row.messages,
    recipients: recipientsNow(tx, row.id, context),
    details: {
      ...withNewestPlace(tx, row, context?.lastLocation ?? null),
      purpose: { kind: 'escalation', round },
    },
  })
  const log = { at: now, action: 'escalated', by: null, text: String(round) } as const
  countMessages(tx, row, queued + suppressed, log)
  // Counted from now: after an outage the rounds that were missed are not all sent at once.
  const next = round < escalation.rounds ? now + escalation.afterMinutes * MINUTE_MS : null
  updateRows(sql, emergencies, { round, nextRound: next }, { id: row.id })
  tx.emit('alert.escalated', row.details.deviceId, {
    alertId: row.id,
    alertName: row.name,
    round,
    messages: queued,
    messagesSuppressed: suppressed,
  })
}

/** Notifies the account if nobody is reached. */
const checkReached = (tx: Decision, row: EmergencyRow, context: RoundContext): void => {
  const { sql } = tx
  if (!mayReport(sql, row)) {
    updateRows(sql, emergencies, { checkAt: null }, { id: row.id })
    return
  }
  const unsent = findRaised(sql, row.id)?.undelivered
  const reason = unsent ?? (wasAccepted(sql, row.id) ? 'not-delivered' : 'not-accepted')
  reportUndelivered(tx, row, { reason, lastLocation: context?.lastLocation ?? null })
}

/** Does what an emergency is due for, unless it was acknowledged meanwhile. */
const runDueEmergency = (tx: Decision, id: string, context: RoundContext): void => {
  const checked = findEmergency(tx.sql, id)
  if (checked && checked.checkAt !== null && checked.checkAt <= tx.now)
    checkReached(tx, checked, context)
  const row = findEmergency(tx.sql, id)
  if (row && row.againAt !== null && row.againAt <= tx.now) startAgain(tx, row)
  if (row && row.nextRound !== null && row.nextRound <= tx.now) sendRound(tx, row, context)
}

const POSTPONE_MS = 60_000

/** Postpones an emergency, because an error must not hold up the others. */
const postponeEmergency = (sql: SqlStorage, id: string, now: number): void => {
  const postponed = (column: typeof checkAt | typeof nextRound | typeof againAt) =>
    query`iif(${column} <= ${now}, ${now + POSTPONE_MS}, ${column})`
  const changes = { checkAt: postponed(checkAt), nextRound: postponed(nextRound) }
  updateRows(sql, emergencies, { ...changes, againAt: postponed(againAt) }, { id })
}

/**
 * Does all that is due. Each emergency is one decision: an error in one holds up no other. A cell
 * that has not answered once is not asked again: the others would wait as long each.
 */
export const runDueEmergencies = async (storage: DurableObjectStorage, env: Env): Promise<void> => {
  const { sql } = storage
  let canAskCell = true
  for (let due = findDueEmergency(sql, Date.now()); due; due = findDueEmergency(sql, Date.now())) {
    const { id } = due
    const context: RoundContext = canAskCell ? await readRoundContext(sql, env, due) : null
    canAskCell = context !== null
    try {
      storage.transactionSync(() => {
        const tx = beginDecision(sql, env, Date.now())
        if (!tx) throw new Error('the account of an open emergency is missing')
        runDueEmergency(tx, id, context)
      })
    } catch (error) {
      logFailure('emergency-failed', error, { alert: id })
      postponeEmergency(sql, id, Date.now())
    }
  }
}
