import { hasEnded } from '../../domain/account/license.ts'
import type { PendingRaise, RuleRaise } from '../../domain/message/pendingRaise.ts'
import { MAX_MINUTES } from '../../domain/rule/rule.ts'
import { isInCooldown } from '../../domain/rule/ruleCooldown.ts'
import type { Decision } from '../decision.ts'
import { findDevice } from '../devices/devices.ts'
import { findRaised, rememberRaised } from './raised.ts'

/* Alerts that rules raise: their events, and the time between two of them. */

const MINUTE_MS = 60_000

/** The alert nearest in time that was raised: late ones come after newer ones. */
const findNearestTime = (
  sql: SqlStorage,
  { ruleId, zoneId }: RuleRaise,
  deviceId: string,
  time: number,
): number | null =>
  sql
    .exec<{ time: number }>(
      `SELECT time FROM (SELECT max(time) AS time FROM rule_cooldowns
          WHERE rule_id = ?1 AND device_id = ?2 AND zone_id = ?3 AND time <= ?4
        UNION ALL SELECT min(time) FROM rule_cooldowns
          WHERE rule_id = ?1 AND device_id = ?2 AND zone_id = ?3 AND time > ?4)
        WHERE time IS NOT NULL ORDER BY abs(time - ?4) LIMIT 1`,
      ruleId,
      deviceId,
      zoneId ?? '',
      time,
    )
    .toArray()[0]?.time ?? null

const saveTime = (
  sql: SqlStorage,
  { ruleId, zoneId }: RuleRaise,
  deviceId: string,
  time: number,
): void => {
  sql.exec(
    `INSERT INTO rule_cooldowns (rule_id, device_id, zone_id, time) VALUES (?, ?, ?, ?)
      ON CONFLICT DO NOTHING`,
    ruleId,
    deviceId,
    zoneId ?? '',
    time,
  )
}

const emitRuleEvent = (
  tx: Decision,
  { deviceId, alert }: PendingRaise,
  { ruleId, zoneId, event, lastContact }: RuleRaise,
): void => {
  if (!event) return
  const occasion =
    lastContact === undefined
      ? { zoneId, dateTime: new Date(alert.dateTime).toISOString() }
      : { lastContact: new Date(lastContact).toISOString() }
  tx.emit(event, deviceId, {
    ruleId,
    ...occasion,
  })
}

/**
 * Logs what happened, and whether an alert may be raised for it. False when it was decided on
 * before, or is too near to another one of the rule, device and zone.
 */
export const admitRuleRaise = (tx: Decision, raise: PendingRaise, rule: RuleRaise): boolean => {
  const { sql, account } = tx
  const { deviceId, alert } = raise
  const device = findDevice(sql, deviceId)
  // Refused by the decision on the alert itself.
  if (!device || hasEnded(device.ends, account.day)) return true
  if (findRaised(sql, alert.id)) return false
  emitRuleEvent(tx, raise, rule)
  const { cooldownMinutes } = rule
  const isCooling = () => {
    const nearest = findNearestTime(sql, rule, deviceId, alert.dateTime)
    return isInCooldown(alert.dateTime, nearest, cooldownMinutes)
  }
  if (rule.isEventOnly || (cooldownMinutes > 0 && isCooling())) {
    rememberRaised(tx, alert.id, { isRemembered: true, undelivered: null })
    return false
  }
  if (cooldownMinutes > 0) saveTime(sql, rule, deviceId, alert.dateTime)
  return true
}

/** No cooldown is longer than this. */
export const pruneCooldowns = (sql: SqlStorage, now: number): void => {
  sql.exec('DELETE FROM rule_cooldowns WHERE time < ?', now - MAX_MINUTES * MINUTE_MS)
}
