import { findRow, insertRow } from '../../db/objectTable.ts'
import {
  type Alert,
  type AlertState,
  type MessageSummary,
  onePerAddress,
  SERIES,
  type Status,
} from '../../domain/message/alert.ts'
import type { Decision } from '../decision.ts'
import { findDevice } from '../devices/devices.ts'
import { recipientsOfAlert } from '../messages/messageQueue.ts'
import { acknowledgements } from '../tables.ts'
import { closeEmergency } from './emergencies.ts'
import { sendAboutAlert } from './emergencyMessages.ts'

/*
 * Acknowledging and cancelling an alert. Both are decisions, so that an emergency's next round is
 * either sent before them or not at all.
 */

export interface AlertToAcknowledge {
  alertId: string
  deviceId: string
  /** The user or key that acknowledges. */
  by: string
  /** What the cell has: the ledger deletes acknowledgements with their alerts. */
  known: AlertState
}

export interface AlertToCancel extends AlertToAcknowledge {
  alert: Alert
  /** The alert's messages as the cell has them, which keeps them longer than the ledger does. */
  deliveries: MessageSummary[]
  origin: string
}

export type StateOutcome =
  | { ok: true; state: AlertState }
  | { ok: false; refusal: 'account-not-found' | 'alert-not-found' }

export const readState = (
  { sql }: Decision,
  { alertId, known }: AlertToAcknowledge,
): AlertState => {
  const row = findRow(sql, acknowledgements, { alertId })
  if (!row) return known
  const { alertId: _, ...state } = row
  return state
}

const writeState = (tx: Decision, id: string, state: AlertState): void => {
  const { acknowledgedAt, acknowledgedBy, ...cancelled } = state
  const acknowledged = {
    acknowledgedAt: acknowledgedAt ?? tx.now,
    acknowledgedBy: acknowledgedBy ?? '',
  }
  insertRow(tx.sql, acknowledgements, { alertId: id, ...acknowledged, ...cancelled }, cancelled)
  tx.post({ kind: 'alert-state', id, ...state })
}

/** Only the first acknowledgement counts. */
export const acknowledgeAlert = (tx: Decision, given: AlertToAcknowledge): StateOutcome => {
  const { alertId, deviceId, by, known } = given
  const device = findDevice(tx.sql, deviceId)
  if (!device) return { ok: false, refusal: 'alert-not-found' }
  const before = readState(tx, given)
  if (before.acknowledgedAt !== null) {
    // A restored cell may have lost it.
    if (known.acknowledgedAt === null) tx.post({ kind: 'alert-state', id: alertId, ...before })
    return { ok: true, state: before }
  }
  const state = { ...before, acknowledgedAt: tx.now, acknowledgedBy: by }
  closeEmergency(tx.sql, alertId)
  writeState(tx, alertId, state)
  tx.emit('alert.acknowledged', deviceId, { alertId, acknowledgedBy: by })
  return { ok: true, state }
}

const wasSent = ({ status }: { status: Status }): boolean =>
  status !== 'suppressed' && status !== 'failed'

/** Also acknowledges, and notifies everyone who was sent a message. Only the first one counts. */
export const cancelAlert = (tx: Decision, given: AlertToCancel): StateOutcome => {
  const { alertId, deviceId, by, alert, deliveries, origin } = given
  const device = findDevice(tx.sql, deviceId)
  const acknowledged = acknowledgeAlert(tx, given)
  if (!device || !acknowledged.ok) return acknowledged
  if (acknowledged.state.cancelledAt !== null) return acknowledged
  const state = { ...acknowledged.state, cancelledAt: tx.now, cancelledBy: by }
  writeState(tx, alertId, state)
  const { timeZone } = tx.account
  const { name: deviceName, identifier } = device.record
  const { queued: notices, suppressed: noticesSuppressed } = sendAboutAlert(tx, {
    kind: 'notice',
    series: SERIES.cancelled,
    deviceKey: device.key,
    recipients: onePerAddress([
      ...recipientsOfAlert(tx.sql, alertId, wasSent),
      ...deliveries.filter(wasSent).map(({ channel, to }) => ({ channel, to, timeZone })),
    ]),
    details: { alert, motion: {}, deviceName, identifier, origin, purpose: { kind: 'cancelled' } },
  })
  tx.emit('alert.cancelled', deviceId, { alertId, cancelledBy: by, notices, noticesSuppressed })
  return { ok: true, state }
}
