import { query, selectRows } from '../../db/objectTable.ts'
import type { RoundState } from '../../db/queries/recipients.ts'
import { type MessageKind, onePerAddress, SERIES, type Status } from '../../domain/message/alert.ts'
import type { Decision } from '../decision.ts'
import { findMessage, isMessageOf, recipientsOfAlert } from '../messages/messageQueue.ts'
import { withdrawMessage } from '../messages/messageState.ts'
import { type DeviceRow, type EmergencyRow, messages } from '../tables.ts'
import { countMessages } from './emergencies.ts'
import { recipientsNow, sendAboutAlert, withNewestPlace } from './emergencyMessages.ts'
import type { AlertMatter } from './reopen.ts'

/* What the steps of an alert send and withdraw. */

/**
 * Withdraws messages that wait. One whose attempt is under way, or of unknown outcome, is left:
 * unless it is settled, it is withdrawn when it would be tried again.
 */
export const withdraw = (tx: Decision, alertId: string, kinds: MessageKind[]): void => {
  const isWaiting = query`${isMessageOf(alertId)} AND ${messages.status} = 'queued'
    AND ${messages.unsureSince} IS NULL`
  for (const message of selectRows(tx.sql, messages, isWaiting))
    if (kinds.includes(message.kind)) withdrawMessage(tx, message)
}

/** Each cancellation or reopening of an alert has its own numbers for so many messages. */
const MAX_MESSAGES = 2048

/** Whether it was sent, or may have been: the provider had not answered when it was withdrawn. */
const wasSent = ({ status, unsureSince }: { status: Status; unsureSince?: number | null }) =>
  status === 'suppressed' ? unsureSince != null : status !== 'failed'

interface Step extends AlertMatter {
  /** How often the alert was reopened before. */
  reopened: number
}

/** Notifies everyone who was sent a message. */
export const notifyCancelled = (
  tx: Decision,
  device: DeviceRow,
  { alert, deliveries, origin, reopened }: Step,
) => {
  const { timeZone } = tx.account
  const { name: deviceName, identifier } = device.record
  const { queued: notices, suppressed: noticesSuppressed } = sendAboutAlert(tx, {
    kind: 'notice',
    series: SERIES.cancelled,
    after: reopened * MAX_MESSAGES,
    deviceKey: device.key,
    recipients: onePerAddress([
      ...recipientsOfAlert(tx.sql, alert.id, wasSent),
      ...deliveries
        // The cell may not have yet what was just withdrawn.
        .filter((delivery) => wasSent(findMessage(tx.sql, delivery.id) ?? delivery))
        .map(({ channel, to }) => ({ channel, to, timeZone })),
    ]),
    details: { alert, motion: {}, deviceName, identifier, origin, purpose: { kind: 'cancelled' } },
  })
  return { notices, noticesSuppressed }
}

/** Notifies those who may believe that an emergency is over that it is open again. */
export const notifyReopened = (
  tx: Decision,
  row: EmergencyRow,
  { deliveries, reopened, state }: Step & { state: RoundState | null },
): void => {
  const { timeZone } = tx.account
  const notified = deliveries.map(({ channel, to, userId, contact }) => ({
    channel,
    to,
    timeZone,
    userId,
    contact,
  }))
  const { queued, suppressed } = sendAboutAlert(tx, {
    kind: 'escalation',
    series: SERIES.reopened,
    after: reopened * MAX_MESSAGES,
    deviceKey: row.deviceKey,
    recipients: recipientsNow(tx, row.id, state, notified),
    details: {
      ...withNewestPlace(tx, row, state?.lastLocation ?? null),
      purpose: { kind: 'reopened' },
    },
  })
  countMessages(tx, row, queued + suppressed)
}
