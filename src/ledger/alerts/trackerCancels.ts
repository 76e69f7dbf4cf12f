import { deleteRows, hasRow, insertRow, query, selectRows } from '../../db/objectTable.ts'
import { type AlertStateName, NEW_ALERT_STATE, nameOfState } from '../../domain/message/alert.ts'
import type { Press } from '../../domain/message/pendingRaise.ts'
import type { Decision } from '../decision.ts'
import { findDevice } from '../devices/devices.ts'
import { cancellations, type DeviceRow, emergencies } from '../tables.ts'
import type { AlertToRaise } from './alerts.ts'
import { hasPressed } from './presses.ts'
import { type AlertToCancel, readState, takeStep } from './steps.ts'

/*
 * A network says that an emergency was a false alarm. That ends what the same source has raised or
 * joined and nobody handles yet. One that comes before its emergency waits for it.
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

/** Those of the source that are not over. The cell may not have the latest yet. */
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
    const step = { action: 'cancel', isOfTracker: true } as const
    return { ...step, alertId, deviceId: device.id, by: sourceId, known, ...matter }
  })
  const byId = new Map([...own, ...known].map((one) => [one.alertId, one]))
  return [...byId.values()].filter((one) => hasPressed(tx.sql, one.alertId, sourceId))
}

/** The open ones; without any, the newest that someone handles, which gets a note. */
const selectMeant = (tx: Decision, meant: AlertToCancel[], time: number) => {
  const areIn = (state: AlertStateName) =>
    meant.filter(({ alertId, known }) => {
      const read = readState(tx, alertId, known)
      return read !== null && nameOfState(read) === state
    })
  const open = areIn('open')
  if (open.length > 0) return { chosen: open, isFound: true }
  const chosen = areIn('acknowledged')
    .toSorted((a, b) => b.alert.dateTime - a.alert.dateTime)
    .slice(0, 1)
  // Many never resolve: one of yesterday need not be the one that is meant.
  const isFound = chosen.some(({ alert }) => alert.dateTime >= time - REMEMBERED_MS)
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
  for (const one of chosen) takeStep(tx, one)
  // A clock that is wrong does not tell what came before it.
  const waits = !isFound && !given.isClockWrong
  // Of a clock that is ahead, the time would be after presses that are still to come.
  insertRow(sql, cancellations, { ...key, time: Math.min(time, at), at, waits })
  return { ok: true }
}

/** Whether a cancellation of its source came before it. One that has ended another does not count. */
export const isCancelledBefore = (
  { sql, now }: Decision,
  deviceId: string,
  { name, dateTime }: AlertToRaise['alert'],
  { sourceId, isClockWrong }: Press,
): boolean => {
  const device = findDevice(sql, deviceId)
  if (!device || sourceId === null || isClockWrong) return false
  const { deviceKey, source, name: cancelled, time, at, waits } = cancellations
  const isMeant = query`${deviceKey} = ${device.key} AND ${source} = ${sourceId}
    AND ${cancelled} = ${name} AND ${time} >= ${dateTime} AND ${at} >= ${now - REMEMBERED_MS}
    AND ${waits}`
  return hasRow(sql, cancellations, isMeant)
}
