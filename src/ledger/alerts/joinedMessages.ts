import { selectRows, updateRows } from '../../db/objectTable.ts'
import {
  messageId,
  messageNumber,
  onePerAddress,
  type Recipient,
  SERIES,
} from '../../domain/message/alert.ts'
import {
  escalationOf,
  MAX_JOINED_MESSAGES,
  MINUTE_MS,
  UNDELIVERED_AFTER_MS,
} from '../../domain/message/emergency.ts'
import type { Decision } from '../decision.ts'
import { takeQuota } from '../devices/dailyLimit.ts'
import { postUsage } from '../devices/usage.ts'
import { composeMessages } from '../messages/compose.ts'
import { isMessageOf, queueMessages } from '../messages/messageQueue.ts'
import { type DeviceRow, type EmergencyRow, emergencies, messages, raised } from '../tables.ts'
import type { AlertToRaise } from './alerts.ts'
import { countMessages } from './emergencies.ts'
import { textByTimeZone, withNewestPlace } from './emergencyMessages.ts'
import { findRaised, reasonUnsent } from './raised.ts'

/* An emergency that joins an open one notifies those whom the open one has not. */

const addressOf = ({ channel, to }: Pick<Recipient, 'channel' | 'to'>): string =>
  `${channel} ${to.toLowerCase()}`

/**
 * Those who were sent no message about the alert, or only ones that failed or were withdrawn. An
 * address at which every message fails is tried a few times only.
 */
const findMissing = (sql: SqlStorage, alertId: string, wanted: Recipient[]): Recipient[] => {
  const failures = new Map<string, number>()
  for (const message of selectRows(sql, messages, isMessageOf(alertId))) {
    if (message.status === 'suppressed') continue
    const address = addressOf(message)
    const count = message.status === 'failed' ? 1 : Infinity
    failures.set(address, (failures.get(address) ?? 0) + count)
  }
  const isMissing = (recipient: Recipient) =>
    (failures.get(addressOf(recipient)) ?? 0) < MAX_JOINED_MESSAGES
  return onePerAddress(wanted).filter(isMissing)
}

/**
 * Sends the alert's message to those, within the device's limits, and arms check and rounds for
 * them. What the limits suppress is not stored: every later one that joins would add to it.
 */
export const notifyMissing = (
  tx: Decision,
  device: DeviceRow,
  open: EmergencyRow,
  { recipients, lastKnown }: Pick<AlertToRaise, 'recipients' | 'lastKnown'>,
): void => {
  const { sql, now, account } = tx
  const { id, details } = open
  const missing = findMissing(sql, id, recipients)
  if (missing.length === 0) return
  const composed = composeMessages(tx, missing, {
    kind: 'alert',
    idOf: (index) => messageId(id, messageNumber(SERIES.alert, open.messages + index)),
    textOf: textByTimeZone({
      ...withNewestPlace(tx, open, lastKnown),
      purpose: { kind: 'alert' },
    }),
    emergencyOf: details.alert.emergency ? device.key : null,
    takeQuota: (channel, wanted, allowed) =>
      takeQuota(tx, device, { channel, wanted, allowed, isEmergency: details.alert.emergency }),
  })
  const queued = composed.filter(({ status }) => status === 'queued')
  postUsage(tx, device.key)
  if (queued.length === 0) {
    // Nobody was notified yet, and now for another reason.
    if (findRaised(sql, id)?.undelivered)
      updateRows(sql, raised, { undelivered: reasonUnsent(composed) }, { id })
    return
  }
  queueMessages(tx, device.key, queued, details.alert.emergency)
  countMessages(tx, open, composed.length)
  const escalation = escalationOf(account)
  const isRoundDue = open.nextRound !== null
  updateRows(
    sql,
    emergencies,
    {
      checkAt: open.checkAt ?? now + UNDELIVERED_AFTER_MS,
      reports: 0,
      round: isRoundDue ? open.round : 0,
      nextRound: isRoundDue
        ? open.nextRound
        : escalation && now + escalation.afterMinutes * MINUTE_MS,
    },
    { id },
  )
  updateRows(sql, raised, { undelivered: null }, { id })
}
