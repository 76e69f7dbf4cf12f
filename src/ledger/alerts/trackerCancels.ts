import {
  deleteRows,
  hasRow,
  insertRow,
  query,
  selectRows,
  updateRows,
} from '../../db/objectTable.ts'
import { type AlertStateName, NEW_ALERT_STATE, nameOfState } from '../../domain/message/alert.ts'
import type { Press } from '../../domain/message/pendingRaise.ts'
import type { Decision } from '../decision.ts'
import { findDevice } from '../devices/devices.ts'
import { cancellations, type DeviceRow, emergencies } from '../tables.ts'
import type { AlertToRaise } from './alerts.ts'
import { hasOtherPressed, hasPressed, markNoted } from './presses.ts'
import { type AlertToCancel, readState, takeStep } from './steps.ts'

/*
 * A network says that an emergency was a false alarm. That ends what its source alone has raised
 * and nobody handles yet; else it is a line in the log. One that comes before its emergency waits for it.
 */

export interface Cancellation {
  deviceId: string
  sourceId: string
  name: string
  /** What was raised after this time is not meant. */
  time: number
  receivedAt: number
  isClockWrong: boolean
  /** The same for a repeat of the same cancellation. */
  digest: string
  /** The device's alerts of this name before it, as the cell has them. */
  known: AlertToCancel[]
  origin: string
}

export type CancelOutcome = { ok: true } | { ok: false; refusal: 'account-not-found' }

const REMEMBERED_MS = 3_600_000
const NOTE = 'The tracker sent a cancellation.'

/** Those that the source has raised or joined. The cell may not have the latest yet. */
const findMeant = (
  tx: Decision,
  device: DeviceRow,
  { sourceId, name, time, known, origin }: Cancellation,
): AlertToCancel[] => {
  const { deviceKey, name: emergencyName, time: raisedFor } = emergencies
  const isBefore = query`${deviceKey} = ${device.key} AND ${emergencyName} = ${name}
    AND ${raisedFor} <= ${time}`
  const own = selectRows(tx.sql, emergencies, isBefore).map((row): AlertToCancel => {
    const { id: alertId, details, messages, updates } = row
    const matter = { alert: details.alert, updates, messages, deliveries: [], origin }
    const known = { ...NEW_ALERT_STATE, seq: 0 }
    return { action: 'cancel', alertId, deviceId: device.id, by: sourceId, known, ...matter }
  })
  const byId = new Map([...own, ...known].map((one) => [one.alertId, one]))
  return [...byId.values()].filter((one) => hasPressed(tx.sql, one.alertId, sourceId))
}

/** Where another has pressed too, or the API has raised it, someone may still need help. */
const mayEnd = ({ sql }: Decision, { alertId, alert }: AlertToCancel, source: string): boolean =>
  alert.raisedBy === source && !hasOtherPressed(sql, alertId, source)

const addNote = (tx: Decision, { alertId, deviceId, known }: AlertToCancel, by: string): void => {
  const note = { action: 'note', isOfTracker: true, note: NOTE } as const
  if (markNoted(tx.sql, alertId, by)) takeStep(tx, { ...note, alertId, deviceId, by, known })
}

const stateOf = (tx: Decision, { alertId, known }: AlertToCancel): AlertStateName | null => {
  const state = readState(tx, alertId, known)
  return state && nameOfState(state)
}

/** The open ones, or else the newest that someone handles. */
const selectMeant = (tx: Decision, meant: AlertToCancel[], time: number) => {
  const areIn = (state: AlertStateName) => meant.filter((one) => stateOf(tx, one) === state)
  const open = areIn('open')
  if (open.length > 0) return { chosen: open, isFound: true }
  const chosen = areIn('acknowledged')
    .toSorted((a, b) => b.alert.dateTime - a.alert.dateTime)
    .slice(0, 1)
  // One that is over may be the one that is meant; one of yesterday need not be, whatever its state.
  const isFound = meant.some(({ alert, updates }) =>
    [alert, ...updates].some(({ dateTime }) => dateTime >= time - REMEMBERED_MS),
  )
  return { chosen, isFound }
}

export const cancelByTracker = (tx: Decision, given: Cancellation): CancelOutcome => {
  const { sql, now } = tx
  const { deviceId, sourceId: source, name, time, receivedAt: at, digest } = given
  const device = findDevice(sql, deviceId)
  if (!device) return { ok: true }
  deleteRows(sql, cancellations, query`${cancellations.at} < ${now - REMEMBERED_MS}`)
  const key = { deviceKey: device.key, source, name, digest }
  if (hasRow(sql, cancellations, key)) return { ok: true }
  const { chosen, isFound } = selectMeant(tx, findMeant(tx, device, given), time)
  for (const one of chosen)
    if (stateOf(tx, one) === 'open' && mayEnd(tx, one, source)) takeStep(tx, one)
    else addNote(tx, one, source)
  // A clock that is wrong does not tell what came before it.
  const waits = !isFound && !given.isClockWrong
  // Of a clock that is ahead, the time would be after presses that are still to come.
  insertRow(sql, cancellations, { ...key, time: Math.min(time, at), at, waits })
  return { ok: true }
}

/** A press that its source may have cancelled before it came. */
export interface CancelledPress {
  deviceId: string
  alert: Pick<AlertToRaise['alert'], 'name' | 'dateTime'>
  press: Pick<Press, 'sourceId' | 'isClockWrong'>
}

/** The cancellations that wait for it. Of one of long before, the clock may have gone back. */
const isMeant = ({ sql, now }: Decision, { deviceId, alert, press }: CancelledPress) => {
  const device = findDevice(sql, deviceId)
  if (!device || press.sourceId === null || press.isClockWrong) return null
  const { deviceKey, source, name, time, at, waits } = cancellations
  const { dateTime } = alert
  return query`${deviceKey} = ${device.key} AND ${source} = ${press.sourceId}
    AND ${name} = ${alert.name} AND ${time} BETWEEN ${dateTime} AND ${dateTime + REMEMBERED_MS}
    AND ${at} >= ${now - REMEMBERED_MS} AND ${waits}`
}

/** Whether a cancellation of its source came before it. One that has ended another does not count. */
export const isCancelledBefore = (tx: Decision, press: CancelledPress): boolean => {
  const condition = isMeant(tx, press)
  return condition !== null && hasRow(tx.sql, cancellations, condition)
}

/** After all presses of one push: a cancellation may be of several, but of no later push. */
export const endWaiting = (tx: Decision, cancelled: CancelledPress[]): void => {
  for (const press of cancelled) {
    const condition = isMeant(tx, press)
    if (condition) updateRows(tx.sql, cancellations, { waits: false }, condition)
  }
}
