import { findRow, hasRow, insertRow, updateRows } from '../../db/objectTable.ts'
import type { RoundState } from '../../db/queries/recipients.ts'
import {
  type AlertAction,
  type AlertState,
  MAX_NOTES,
  MAX_REOPENED,
  NEW_ALERT_STATE,
  nameOfState,
  OPEN_STATE,
} from '../../domain/message/alert.ts'
import { escalationOf } from '../../domain/message/emergency.ts'
import type { Decision } from '../decision.ts'
import { findDevice } from '../devices/devices.ts'
import { lastPosted } from '../outbox/outbox.ts'
import { alertStates, type DeviceRow, type EmergencyRow, emergencies, notes } from '../tables.ts'
import { acknowledgeEmergency, closeEmergency } from './emergencies.ts'
import { type AlertMatter, reopenEmergency } from './reopen.ts'
import { notifyCancelled, notifyReopened, withdraw } from './stepMessages.ts'

/*
 * The steps of an alert: it is acknowledged, resolved or cancelled, reopened, noted about. Each is a
 * decision, so that an emergency's next round is either sent before it or not at all.
 */

/** What the cell has of an alert: more than the ledger, which forgets, but maybe not the latest. */
export interface KnownState extends AlertState {
  /** The number of the last effect that changed it. */
  seq: number
}

interface Step {
  alertId: string
  deviceId: string
  /** The user, key or source whose step it is; null when the service takes it by itself. */
  by: string | null
  note?: string | null
  known: KnownState
}

export type AlertStep = Step &
  (
    | { action: 'acknowledge' | 'resolve' }
    /** A tracker's note says that it sent a cancellation. With an id it is added once. */
    | { action: 'note'; isOfTracker?: boolean; noteId?: string }
    | ({ action: 'cancel' } & AlertMatter)
    | ({ action: 'reopen'; state: RoundState | null } & AlertMatter)
  )
export type AlertToCancel = StepOf<'cancel'>
type StepOf<Action extends AlertStep['action']> = Extract<AlertStep, { action: Action }>

export type StepOutcome =
  /** `seq` is that of the last effect about it: the cell may not have it yet. */
  | { ok: true; state: AlertState; seq: number }
  | {
      ok: false
      refusal: 'account-not-found' | 'alert-not-found' | 'wrong-alert-state' | 'alert-log-full'
      detail?: string
    }

/** The latest state: after a restore the cell may be ahead, after a failure behind. */
export const readState = (tx: Decision, alertId: string, known?: KnownState): KnownState | null => {
  const row = findRow(tx.sql, alertStates, { alertId })
  const newest = !row || (known && known.seq > row.seq) ? known : row
  if (!newest) return null
  const { acknowledgedAt, acknowledgedBy, resolvedAt, resolvedBy } = newest
  const { cancelledAt, cancelledBy, reopened, notes: count, seq } = newest
  const ended = { resolvedAt, resolvedBy, cancelledAt, cancelledBy }
  return { acknowledgedAt, acknowledgedBy, ...ended, reopened, notes: count, seq }
}

interface Taken {
  tx: Decision
  step: AlertStep
  device: DeviceRow
  before: KnownState
}

const accept = ({ seq, ...state }: KnownState): StepOutcome => ({ ok: true, state, seq })

const refuse = (before: AlertState, what: string): StepOutcome => ({
  ok: false,
  refusal: 'wrong-alert-state',
  detail: `The alert is ${nameOfState(before)}, so it cannot be ${what}.`,
})

const DRILL_STAYS_OVER = 'A drill cannot be reopened: run another one.'

/** Writes the state and its line in the log. */
const write = (
  { tx, step, before }: Taken,
  action: AlertAction,
  change: Partial<AlertState>,
): KnownState => {
  const { alertId, by, note = null } = step
  const text = action === 'acknowledged' ? null : note
  const { seq: _, ...state } = { ...before, ...change }
  tx.post({ kind: 'alert-state', id: alertId, state, log: { at: tx.now, action, by, text } })
  const written = { ...state, seq: lastPosted(tx.sql) }
  const row = { ...written, changed: tx.now }
  insertRow(tx.sql, alertStates, { alertId, ...row }, row)
  tx.audit(`alert.${action}`, { type: 'alert', id: alertId })
  return written
}

const emit = ({ tx, step }: Taken, action: AlertAction, data: Record<string, unknown> = {}) => {
  const { alertId, deviceId, by, note: text = null } = step
  const isNoted = action !== 'acknowledged'
  const about = { alertId, [`${action}By`]: by, ...(isNoted && { text }) }
  tx.emit(`alert.${action}`, deviceId, { ...about, ...data })
}

/** What ends an alert also acknowledges it. Its own messages still go out: people should know. */
const acknowledge = (taken: Taken): KnownState => {
  const { tx, step, before } = taken
  if (before.acknowledgedAt !== null) return before
  acknowledgeEmergency(tx, step.alertId)
  withdraw(tx, step.alertId, ['escalation', 'notice'])
  const change = { acknowledgedAt: tx.now, acknowledgedBy: step.by }
  const after = write(taken, 'acknowledged', change)
  emit(taken, 'acknowledged')
  return after
}

const resolve = (taken: Taken): StepOutcome => {
  const { tx, step, before } = taken
  if (before.cancelledAt !== null) return refuse(before, 'resolved')
  if (before.resolvedAt !== null) return accept(before)
  const change = { resolvedAt: tx.now, resolvedBy: step.by }
  const after = write({ ...taken, before: acknowledge(taken) }, 'resolved', change)
  closeEmergency(tx, step.alertId)
  emit(taken, 'resolved')
  return accept(after)
}

const addNote = (taken: Taken, { isOfTracker, noteId }: StepOf<'note'>): StepOutcome => {
  const { tx, step, before } = taken
  if (noteId !== undefined && hasRow(tx.sql, notes, { id: noteId })) return accept(before)
  // A tracker takes none of the people's notes, and is no sign that someone handles the emergency.
  const count = before.notes + (isOfTracker ? 0 : 1)
  if (count > MAX_NOTES && !isOfTracker) return { ok: false, refusal: 'alert-log-full' }
  const after = write(taken, 'noted', { notes: count })
  if (noteId !== undefined) insertRow(tx.sql, notes, { id: noteId, at: tx.now })
  emit(taken, 'noted')
  if (!isOfTracker && nameOfState(before) === 'acknowledged') acknowledgeEmergency(tx, step.alertId)
  return accept(after)
}

/** Notifies everyone who was sent a message. */
const cancel = (taken: Taken, given: StepOf<'cancel'>): StepOutcome => {
  const { tx, device, before } = taken
  const { alertId } = given
  if (before.cancelledAt !== null) return accept(before)
  if (before.resolvedAt !== null) return refuse(before, 'cancelled')
  const change = { cancelledAt: tx.now, cancelledBy: given.by }
  const after = write({ ...taken, before: acknowledge(taken) }, 'cancelled', change)
  closeEmergency(tx, alertId)
  withdraw(tx, alertId, ['alert', 'escalation', 'notice'])
  const notified = notifyCancelled(tx, device, { ...given, reopened: before.reopened })
  emit(taken, 'cancelled', notified)
  return accept(after)
}

/** Who was notified that it is over is notified again; an acknowledgement is undone silently. */
const reopen = (taken: Taken, given: StepOf<'reopen'>): StepOutcome => {
  const { tx, device, before } = taken
  const { alert, state, by } = given
  // Nothing counts the messages of a drill, and each cancellation and reopening sends some.
  if (alert.test) return { ok: false, refusal: 'wrong-alert-state', detail: DRILL_STAYS_OVER }
  if (before.acknowledgedAt === null && before.reopened > 0) return accept(before)
  if (before.acknowledgedAt === null) return refuse(before, 'reopened')
  // The service itself only ends acknowledgements, whose rounds the budget limits.
  const reopened = before.reopened + (by === null ? 0 : 1)
  if (reopened > MAX_REOPENED) return { ok: false, refusal: 'alert-log-full' }
  const after = write(taken, 'reopened', { ...OPEN_STATE, reopened })
  if (alert.emergency) {
    const administrators = state?.administrators ?? []
    const row = reopenEmergency(tx, device, { ...given, administrators })
    const isNotifiedOfEnd = nameOfState(before) !== 'acknowledged'
    // What still waits says that it was a false alarm.
    withdraw(tx, alert.id, ['notice'])
    if (isNotifiedOfEnd) notifyReopened(tx, row, { ...given, reopened: before.reopened })
  }
  emit(taken, 'reopened')
  return accept(after)
}

const take = (taken: Taken): StepOutcome => {
  const { step } = taken
  switch (step.action) {
    case 'acknowledge':
      return accept(acknowledge(taken))
    case 'resolve':
      return resolve(taken)
    case 'note':
      return addNote(taken, step)
    case 'cancel':
      return cancel(taken, step)
    case 'reopen':
      return reopen(taken, step)
  }
}

/** Of equal steps only the first counts. */
export const takeStep = (tx: Decision, step: AlertStep): StepOutcome => {
  const { alertId, deviceId, known } = step
  const device = findDevice(tx.sql, deviceId)
  const before = readState(tx, alertId, known)
  if (!device || !before) return { ok: false, refusal: 'alert-not-found' }
  const outcome = take({ tx, step, device, before })
  // A restored cell may have lost it.
  if (outcome.ok && outcome.seq === before.seq && known.seq < before.seq)
    tx.post({ kind: 'alert-state', id: alertId, state: outcome.state })
  return outcome
}

/** Reopens an acknowledged emergency in which nothing has happened; its first round is due now. */
export const startAgain = (tx: Decision, row: EmergencyRow): void => {
  const { id: alertId, details, updates, messages: count } = row
  const { alert, deviceId, origin } = details
  updateRows(tx.sql, emergencies, { againAt: null }, { id: alertId })
  if (escalationOf(tx.account)?.againAfterMinutes == null) return
  const known = { ...NEW_ALERT_STATE, seq: 0 }
  const matter = { alert, updates, messages: count, deliveries: [], origin, state: null }
  const step = { action: 'reopen', alertId, deviceId, by: null, known, ...matter } as const
  if (takeStep(tx, step).ok)
    updateRows(tx.sql, emergencies, { nextRound: tx.now }, { id: alertId, state: 'open' })
}
