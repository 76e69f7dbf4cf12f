import { onePerAddress } from '../domain/alert.ts'
import { contactRecipients, MINUTE_MS } from '../domain/emergency.ts'
import type { Decision } from './decision.ts'
import { countMessages, detailsOf, type EmergencyRow } from './emergencies.ts'
import { countQueued, reportUndelivered, sendAboutAlert } from './emergencyMessages.ts'
import { recipientsOfAlert } from './messageQueue.ts'

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
export const findDueEmergency = (sql: SqlStorage, now: number): EmergencyRow | undefined =>
  sql
    .exec<EmergencyRow>(
      `SELECT * FROM emergencies WHERE (check_at IS NOT NULL AND check_at <= ?)
         OR (next_round IS NOT NULL AND next_round <= ?) ORDER BY ${WHEN} LIMIT 1`,
      now,
      now,
    )
    .toArray()[0]

/** Sends the emergency again to everyone sent a message, and to the emergency contacts. */
const sendRound = (tx: Decision, row: EmergencyRow): void => {
  const { sql, account, now } = tx
  const { escalation } = account
  const round = row.round + 1
  if (!escalation || round > escalation.rounds) {
    sql.exec('UPDATE emergencies SET next_round = NULL WHERE id = ?', row.id)
    return
  }
  const { administrators, deviceId, ...details } = detailsOf(row)
  const messages = sendAboutAlert(tx, {
    kind: 'escalation',
    series: round,
    deviceKey: row.device_key,
    recipients: onePerAddress([
      ...recipientsOfAlert(sql, row.id),
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

/** Does what the emergency that is due first is due for. False when none is. */
export const runDueEmergency = (tx: Decision): boolean => {
  const row = findDueEmergency(tx.sql, tx.now)
  if (!row) return false
  if (row.check_at !== null && row.check_at <= tx.now) reportUndelivered(tx, row, 'not-accepted')
  if (row.next_round !== null && row.next_round <= tx.now) sendRound(tx, row)
  return true
}

const POSTPONE_MS = 60_000

/** Postpones the emergency that is due first, because an error must not hold up the others. */
export const postponeDueEmergency = (sql: SqlStorage, now: number): void => {
  const row = findDueEmergency(sql, now)
  if (!row) return
  const next = now + POSTPONE_MS
  sql.exec(
    `UPDATE emergencies SET check_at = CASE WHEN check_at <= ? THEN ? ELSE check_at END,
       next_round = CASE WHEN next_round <= ? THEN ? ELSE next_round END WHERE id = ?`,
    now,
    next,
    now,
    next,
    row.id,
  )
}
