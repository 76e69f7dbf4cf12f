import { findRow, query, runQuery, updateRows } from '../../db/objectTable.ts'
import { onePerAddress } from '../../domain/message/alert.ts'
import { contactRecipients, MINUTE_MS } from '../../domain/message/emergency.ts'
import type { Env } from '../../env.ts'
import { logFailure } from '../../log.ts'
import { beginDecision, type Decision } from '../decision.ts'
import { recipientsOfAlert } from '../messages/messageQueue.ts'
import { type EmergencyRow, emergencies } from '../tables.ts'
import { closeEmergency, countMessages, findEmergency } from './emergencies.ts'
import { countQueued, reportUndelivered, sendAboutAlert } from './emergencyMessages.ts'
import { type RoundContext, readRoundContext } from './roundContext.ts'

/* What an open emergency is due for: the check of its messages, and the rounds of its escalation. */

const { checkAt, nextRound } = emergencies

/** When the next check or round is due. */
export const nextEmergencyTime = (sql: SqlStorage): number | null =>
  runQuery<{ at: number | null }>(
    sql,
    query`SELECT min(at) AS at FROM (
      SELECT min(${checkAt}) AS at FROM ${emergencies} WHERE ${checkAt} IS NOT NULL
      UNION ALL SELECT min(${nextRound}) FROM ${emergencies} WHERE ${nextRound} IS NOT NULL)`,
  ).one().at

/** The emergency that has been due for longest. */
const findDueEmergency = (sql: SqlStorage, now: number): EmergencyRow | undefined =>
  findRow(
    sql,
    emergencies,
    query`(${checkAt} IS NOT NULL AND ${checkAt} <= ${now})
      OR (${nextRound} IS NOT NULL AND ${nextRound} <= ${now})
      ORDER BY min(ifnull(${checkAt}, ${nextRound}), ifnull(${nextRound}, ${checkAt})) LIMIT 1`,
  )

/** Sends the emergency again to everyone sent a message, and to the emergency contacts. */
const sendRound = (tx: Decision, row: EmergencyRow, context: RoundContext | null): void => {
  const { sql, account, now } = tx
  if (context?.isAcknowledged) {
    closeEmergency(sql, row.id)
    return
  }
  const { escalation } = account
  const round = row.round + 1
  if (!escalation || round > escalation.rounds) {
    updateRows(sql, emergencies, { nextRound: null }, { id: row.id })
    return
  }
  const { administrators, deviceId, isOfExpiredDevice, ...details } = row.details
  const messages = sendAboutAlert(tx, {
    kind: 'escalation',
    series: round,
    deviceKey: row.deviceKey,
    recipients: onePerAddress([
      ...recipientsOfAlert(sql, row.id).filter(
        ({ userId }) => userId == null || !context || context.userIds.has(userId),
      ),
      ...contactRecipients(account, account.timeZone),
    ]),
    details: { ...details, purpose: { kind: 'escalation', round } },
  })
  countMessages(tx, row, messages.length)
  // Counted from now: after an outage the rounds that were missed are not all sent at once.
  const next = round < escalation.rounds ? now + escalation.afterMinutes * MINUTE_MS : null
  updateRows(sql, emergencies, { round, nextRound: next }, { id: row.id })
  tx.emit('alert.escalated', deviceId, {
    alertId: row.id,
    alertName: row.name,
    round,
    messages: countQueued(messages),
    messagesSuppressed: messages.length - countQueued(messages),
  })
}

/** Does what an emergency is due for, unless it was acknowledged meanwhile. */
const runDueEmergency = (tx: Decision, id: string, context: RoundContext | null): void => {
  const row = findEmergency(tx.sql, id)
  if (!row) return
  if (row.checkAt !== null && row.checkAt <= tx.now) reportUndelivered(tx, row, 'not-accepted')
  if (row.nextRound !== null && row.nextRound <= tx.now) sendRound(tx, row, context)
}

const POSTPONE_MS = 60_000

/** Postpones an emergency, because an error must not hold up the others. */
const postponeEmergency = (sql: SqlStorage, id: string, now: number): void => {
  const postponed = (column: typeof checkAt | typeof nextRound) =>
    query`iif(${column} <= ${now}, ${now + POSTPONE_MS}, ${column})`
  const changes = { checkAt: postponed(checkAt), nextRound: postponed(nextRound) }
  updateRows(sql, emergencies, changes, { id })
}

/** Does all that is due. Each emergency is one decision: an error in one holds up no other. */
export const runDueEmergencies = async (storage: DurableObjectStorage, env: Env): Promise<void> => {
  const { sql } = storage
  for (let due = findDueEmergency(sql, Date.now()); due; due = findDueEmergency(sql, Date.now())) {
    const { id } = due
    const isRoundDue = due.nextRound !== null && due.nextRound <= Date.now()
    const context = isRoundDue ? await readRoundContext(sql, env, due) : null
    try {
      storage.transactionSync(() => {
        const tx = beginDecision(sql, Date.now())
        if (!tx) throw new Error('the account of an open emergency is missing')
        runDueEmergency(tx, id, context)
      })
    } catch (error) {
      logFailure('emergency-failed', error, { alert: id })
      postponeEmergency(sql, id, Date.now())
    }
  }
}
