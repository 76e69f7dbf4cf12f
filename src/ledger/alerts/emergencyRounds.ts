import { onePerAddress } from '../../domain/message/alert.ts'
import { contactRecipients, MINUTE_MS } from '../../domain/message/emergency.ts'
import type { Env } from '../../env.ts'
import { logFailure } from '../../log.ts'
import { beginDecision, type Decision } from '../decision.ts'
import { recipientsOfAlert } from '../messages/messageQueue.ts'
import {
  closeEmergency,
  countMessages,
  detailsOf,
  type EmergencyRow,
  findEmergency,
} from './emergencies.ts'
import { countQueued, reportUndelivered, sendAboutAlert } from './emergencyMessages.ts'
import { type RoundContext, readRoundContext } from './roundContext.ts'

/* What an open emergency is due for: the check of its messages, and the rounds of its escalation. */

const WHEN = 'min(ifnull(check_at, next_round), ifnull(next_round, check_at))'

/** When the next check or round is due. */
export const nextEmergencyTime = (sql: SqlStorage): number | null =>
  sql
    .exec<{ at: number | null }>(
      `SELECT min(at) AS at FROM (
         SELECT min(check_at) AS at FROM emergencies WHERE check_at IS NOT NULL
         UNION ALL SELECT min(next_round) FROM emergencies WHERE next_round IS NOT NULL)`,
    )
    .one().at

/** The emergency that has been due for longest. */
const findDueEmergency = (sql: SqlStorage, now: number): EmergencyRow | undefined =>
  sql
    .exec<EmergencyRow>(
      `SELECT * FROM emergencies WHERE (check_at IS NOT NULL AND check_at <= ?)
         OR (next_round IS NOT NULL AND next_round <= ?) ORDER BY ${WHEN} LIMIT 1`,
      now,
      now,
    )
    .toArray()[0]

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
    sql.exec('UPDATE emergencies SET next_round = NULL WHERE id = ?', row.id)
    return
  }
  const { administrators, deviceId, isOfExpiredDevice, ...details } = detailsOf(row)
  const messages = sendAboutAlert(tx, {
    kind: 'escalation',
    series: round,
    deviceKey: row.device_key,
    recipients: onePerAddress([
      ...recipientsOfAlert(sql, row.id).filter(
        ({ userId }) => userId === undefined || !context || context.userIds.has(userId),
      ),
      ...contactRecipients(account, account.timeZone),
    ]),
    details: { ...details, purpose: { kind: 'escalation', round } },
  })
  countMessages(tx, row, messages.length)
  // Counted from now: after an outage the rounds that were missed are not all sent at once.
  const next = round < escalation.rounds ? now + escalation.afterMinutes * MINUTE_MS : null
  sql.exec('UPDATE emergencies SET round = ?, next_round = ? WHERE id = ?', round, next, row.id)
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
  if (row.check_at !== null && row.check_at <= tx.now) reportUndelivered(tx, row, 'not-accepted')
  if (row.next_round !== null && row.next_round <= tx.now) sendRound(tx, row, context)
}

const POSTPONE_MS = 60_000

/** Postpones an emergency, because an error must not hold up the others. */
const postponeEmergency = (sql: SqlStorage, id: string, now: number): void => {
  const next = now + POSTPONE_MS
  sql.exec(
    `UPDATE emergencies SET check_at = CASE WHEN check_at <= ? THEN ? ELSE check_at END,
       next_round = CASE WHEN next_round <= ? THEN ? ELSE next_round END WHERE id = ?`,
    now,
    next,
    now,
    next,
    id,
  )
}

/** Does all that is due. Each emergency is one decision: an error in one holds up no other. */
export const runDueEmergencies = async (storage: DurableObjectStorage, env: Env): Promise<void> => {
  const { sql } = storage
  for (let due = findDueEmergency(sql, Date.now()); due; due = findDueEmergency(sql, Date.now())) {
    const { id, next_round: nextRound } = due
    const isRoundDue = nextRound !== null && nextRound <= Date.now()
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
