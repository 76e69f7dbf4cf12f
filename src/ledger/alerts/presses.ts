import {
  deleteRows,
  hasRow,
  insertRow,
  query,
  selectRows,
  updateRows,
} from '../../db/objectTable.ts'
import type { PendingRaise, Press } from '../../domain/message/pendingRaise.ts'
import type { Decision } from '../decision.ts'
import { presses } from '../tables.ts'
import { isOpenEmergency } from './emergencies.ts'
import { findRaised, rememberRaised } from './raised.ts'

/*
 * The reports that raised alerts. A clock that restarts gives two presses of the button the same
 * `dateTime`: the later one raises an alert by its arrival. A repeat of one report raises nothing.
 */

/** A provider sends again what it got no reply to: without an id, the same report is that repeat. */
const REPEATED_WITHIN_MS = 3_600_000
/** A clock that is wrong may stand still, so that another press has the same content. */
const REPEATED_WITH_WRONG_CLOCK_MS = 120_000

/** Stands for the source of reports by the API. */
const NO_SOURCE = ''

interface Repeated {
  alertId: string
  /** Whether this very report came before. */
  isKnown: boolean
}

type PressRow = typeof presses.$inferSelect

/** Whether it is the same report again. In doubt it is another press: an alert must not be lost. */
const isSame = ({ sql }: Decision, known: PressRow, press: Press): boolean => {
  if (known.digest !== press.digest) return false
  if (press.isAlwaysRepeat) return true
  const passedMs = Math.abs(press.receivedAt - known.at)
  if (!press.isClockWrong || isOpenEmergency(sql, known.alertId))
    return passedMs <= REPEATED_WITHIN_MS
  return passedMs <= REPEATED_WITH_WRONG_CLOCK_MS
}

const findRepeated = (
  tx: Decision,
  { alert: { id }, emergency }: PendingRaise,
  press: Press,
): Repeated | null => {
  const { sql } = tx
  const source = press.sourceId ?? NO_SOURCE
  const isOwn = query`${presses.raiseId} = ${id} AND ${presses.source} = ${source}
    ORDER BY ${presses.at}`
  const own = selectRows(sql, presses, isOwn)
  const same = own.find((known) => isSame(tx, known, press))
  if (same) return { alertId: same.alertId, isKnown: true }
  const raised = findRaised(sql, id)
  if (!raised) return null
  const last = own.at(-1)?.alertId
  // Of a clock that is wrong, an alert of long ago says nothing about this press.
  const cameBefore =
    !press.isClockWrong || Math.abs(press.receivedAt - raised.at) <= REPEATED_WITHIN_MS
  // The same emergency came another way first, or what was stored long ago is read again.
  if ((last === undefined && cameBefore) || press.isOld || !emergency)
    return { alertId: last ?? raised.joined ?? id, isKnown: false }
  return last !== undefined && !press.isClockWrong && isOpenEmergency(sql, last)
    ? { alertId: last, isKnown: false }
    : null
}

/** Remembers which alert a press has raised or joined. */
export const rememberPress = (
  tx: Decision,
  raiseId: string,
  { sourceId, digest, receivedAt: at }: Press,
  alertId: string,
): void => {
  insertRow(
    tx.sql,
    presses,
    { raiseId, source: sourceId ?? NO_SOURCE, digest, at, alertId, noted: false },
    'ignore',
  )
  if (!findRaised(tx.sql, raiseId))
    rememberRaised(tx, raiseId, { remembered: true, joined: alertId, undelivered: null })
}

/** The alert that a press raises, or the id of the one that it is a repeat of. */
export const admitPress = (
  tx: Decision,
  raise: PendingRaise,
  press: Press,
): Pick<PendingRaise, 'alert' | 'reported'> | { repeatOf: string } => {
  const { alert, reported } = raise
  const repeated = findRepeated(tx, raise, press)
  if (repeated) {
    const { alertId: repeatOf, isKnown } = repeated
    if (!isKnown) rememberPress(tx, alert.id, press, repeatOf)
    return { repeatOf }
  }
  if (!press.isClockWrong && !findRaised(tx.sql, alert.id)) return { alert, reported }
  const { arrivalId: id, receivedAt: dateTime } = press
  return {
    alert: { ...alert, id, dateTime },
    reported: reported && { ...reported, time: dateTime },
  }
}

/** Whether the source has raised the alert or joined it. */
export const hasPressed = (sql: SqlStorage, alertId: string, source: string): boolean =>
  hasRow(sql, presses, { alertId, source })

export const hasOtherPressed = (sql: SqlStorage, alertId: string, source: string): boolean =>
  hasRow(sql, presses, query`${presses.alertId} = ${alertId} AND ${presses.source} <> ${source}`)

/** Remembers that an alert was raised again by a user or key, or by a rule (null). */
export const rememberOther = ({ sql, now }: Decision, alertId: string, by: string | null): void => {
  const source = by ?? NO_SOURCE
  // It is no report, so no report is a repeat of it.
  const row = { raiseId: '', source, digest: alertId, at: now, alertId, noted: false }
  if (!hasPressed(sql, alertId, source)) insertRow(sql, presses, row)
}

/** Whether the log has no line yet about a cancellation by the source; from now on it has. */
export const markNoted = (sql: SqlStorage, alertId: string, source: string): boolean => {
  if (hasRow(sql, presses, { alertId, source, noted: true })) return false
  updateRows(sql, presses, { noted: true }, { alertId, source })
  return true
}

/** `keptSince`: alerts that arrived before are deleted. */
export const prunePresses = (sql: SqlStorage, keptSince: number): void =>
  deleteRows(sql, presses, query`${presses.at} < ${keptSince}`)
