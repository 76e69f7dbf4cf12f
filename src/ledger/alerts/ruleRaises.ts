import { deleteRows, insertRow, query, runQuery } from '../../db/objectTable.ts'
import { hasEnded } from '../../domain/account/license.ts'
import type { PendingRaise, RuleRaise } from '../../domain/message/pendingRaise.ts'
import { MAX_MINUTES } from '../../domain/rule/rule.ts'
import { isInCooldown } from '../../domain/rule/ruleCooldown.ts'
import type { Decision } from '../decision.ts'
import { findDevice } from '../devices/devices.ts'
import { ruleCooldowns as cooldowns } from '../tables.ts'
import { findRaised, rememberRaised } from './raised.ts'

/* Alerts that rules raise: their events, and the time between two of them. */

const MINUTE_MS = 60_000

/** The alert nearest in time that was raised: late ones come after newer ones. */
const findNearestTime = (
  sql: SqlStorage,
  { ruleId, zoneId }: RuleRaise,
  deviceId: string,
  time: number,
): number | null => {
  const isSame = query`${cooldowns.ruleId} = ${ruleId} AND ${cooldowns.deviceId} = ${deviceId}
    AND ${cooldowns.zoneId} = ${zoneId ?? ''}`
  const [nearest] = runQuery<{ nearest: number }>(
    sql,
    query`SELECT nearest FROM (
        SELECT max(${cooldowns.time}) AS nearest FROM ${cooldowns}
          WHERE ${isSame} AND ${cooldowns.time} <= ${time}
        UNION ALL SELECT min(${cooldowns.time}) FROM ${cooldowns}
          WHERE ${isSame} AND ${cooldowns.time} > ${time})
      WHERE nearest IS NOT NULL ORDER BY abs(nearest - ${time}) LIMIT 1`,
  )
  return nearest?.nearest ?? null
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
  tx.emit(event, deviceId, { ruleId, ...occasion })
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
    rememberRaised(tx, alert.id, { remembered: true, undelivered: null })
    return false
  }
  const raisedAt = {
    ruleId: rule.ruleId,
    deviceId,
    zoneId: rule.zoneId ?? '',
    time: alert.dateTime,
  }
  if (cooldownMinutes > 0) insertRow(sql, cooldowns, raisedAt, 'ignore')
  return true
}

/** No cooldown is longer than this. */
export const pruneCooldowns = (sql: SqlStorage, now: number): void =>
  deleteRows(sql, cooldowns, query`${cooldowns.time} < ${now - MAX_MINUTES * MINUTE_MS}`)
