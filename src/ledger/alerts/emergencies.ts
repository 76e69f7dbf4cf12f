import { deleteRows, findRow, hasRow, insertRow, query, updateRows } from '../../db/objectTable.ts'
import {
  type Alert,
  type AlertLogEntry,
  type AlertUpdate,
  alertIdOf,
  MAX_LOGGED_JOINS,
  NO_DEVICE_KEY,
  type Recipient,
} from '../../domain/message/alert.ts'
import {
  escalationOf,
  JOIN_WITHIN_MS,
  MAX_UNDELIVERED_REPORTS,
  MAX_UPDATES,
  MINUTE_MS,
  RECEIPT_WITHIN_MS,
  RECHECK_AFTER_MS,
  REPORT_AGAIN_AFTER_MS,
  UNDELIVERED_AFTER_MS,
} from '../../domain/message/emergency.ts'
import type { AlertDetails } from '../../domain/message/text/messageText.ts'
import { iso } from '../../domain/time/iso.ts'
import type { Decision } from '../decision.ts'
import { isMessageOf } from '../messages/messageQueue.ts'
import { type EmergencyRow, emergencies, type MessageRow, messages } from '../tables.ts'

/* The emergencies that are not over. */

/** What later messages about an emergency are composed from. */
export interface EmergencyDetails extends Omit<AlertDetails, 'purpose'> {
  deviceId: string
  /** The administrators when it was raised. */
  administrators: Recipient[]
  /** Only the account was notified of it, so no later emergency joins it. */
  isOfExpiredDevice: boolean
  /** Whether suppressed messages about it are not stored. Older emergencies do not have it. */
  omitsSuppressed?: boolean
}

export const findEmergency = (sql: SqlStorage, id: string): EmergencyRow | undefined =>
  findRow(sql, emergencies, { id })

/** Whether nobody has acknowledged it yet. */
export const isOpenEmergency = (sql: SqlStorage, id: string): boolean =>
  findEmergency(sql, id)?.state === 'open'

interface NewEmergency extends Pick<EmergencyRow, 'deviceKey' | 'details' | 'messages'> {
  /** Whether any of its messages is on its way. */
  isOnItsWay: boolean
  updates?: AlertUpdate[]
}

export const openEmergency = (
  { sql, account, now }: Decision,
  { isOnItsWay, ...given }: NewEmergency,
): EmergencyRow => {
  const { alert } = given.details
  const escalation = escalationOf(account)
  const row: EmergencyRow = {
    updates: [],
    ...given,
    id: alert.id,
    name: alert.name,
    time: alert.dateTime,
    raisedAt: now,
    checkAt: isOnItsWay ? now + UNDELIVERED_AFTER_MS : null,
    reports: 0,
    round: 0,
    nextRound: escalation && now + escalation.afterMinutes * MINUTE_MS,
    state: 'open',
    againAt: null,
  }
  insertRow(sql, emergencies, row)
  return row
}

/** The open emergency that a new one of the same device and name joins; the nearest in time. */
export const findToJoin = (
  sql: SqlStorage,
  deviceKey: number,
  { name, dateTime }: Pick<Alert, 'name' | 'dateTime'>,
): EmergencyRow | undefined =>
  findRow(
    sql,
    emergencies,
    query`${emergencies.deviceKey} = ${deviceKey} AND ${emergencies.name} = ${name}
      AND ${emergencies.state} = 'open'
      AND ${emergencies.time} BETWEEN ${dateTime - JOIN_WITHIN_MS} AND ${dateTime + JOIN_WITHIN_MS}
      AND NOT ${emergencies.details} ->> 'isOfExpiredDevice'
      AND ifnull(${emergencies.details} ->> '$.alert.test', 0) = 0
      ORDER BY abs(${emergencies.time} - ${dateTime}) LIMIT 1`,
  )

const minuteOf = (time: number): number => Math.floor(time / MINUTE_MS)

/** Others learn where the device is now: the emergency itself may have no place, or an old one. */
const emitUpdated = (
  tx: Decision,
  { id, name, details }: EmergencyRow,
  { dateTime, latitude, longitude }: AlertUpdate,
): void => {
  const place = { dateTime: iso(dateTime), latitude, longitude }
  const data = { alertId: id, alertName: name, emergency: true, ...place }
  tx.emit('alert.updated', details.deviceId, data)
}

/** Adds the place and time of a later emergency, in order of time. */
export const joinEmergency = (
  tx: Decision,
  row: EmergencyRow,
  update: AlertUpdate,
  by: string | null,
): EmergencyRow => {
  const updates = [...row.updates, update]
    .toSorted((a, b) => a.dateTime - b.dateTime)
    .slice(-MAX_UPDATES)
  updateRows(tx.sql, emergencies, { updates }, { id: row.id })
  const log = { at: tx.now, action: 'joined', by, text: null } as const
  const isLogged = updates.length <= MAX_LOGGED_JOINS
  tx.post({ kind: 'alert-state', id: row.id, updates, ...(isLogged && { log }) })
  const lastUpdate = row.updates.at(-1)?.dateTime ?? 0
  // One that arrives late must not move the emergency back to where it was before.
  const before = Math.max(lastUpdate, row.details.alert.positionTime ?? 0)
  if (update.dateTime >= before && (isLogged || minuteOf(update.dateTime) > minuteOf(before)))
    emitUpdated(tx, row, update)
  return { ...row, updates }
}

/**
 * Adds further messages to the alert's number of messages, which only grows: the messages' own
 * numbers start there, so that no id is used twice.
 */
export const countMessages = (
  tx: Decision,
  row: EmergencyRow,
  more: number,
  log?: AlertLogEntry,
): void => {
  const { id } = row
  const messages = row.messages + more
  updateRows(tx.sql, emergencies, { messages }, { id })
  tx.post({ kind: 'alert-state', id, messages, ...(log && { log }) })
}

const againAtOf = ({ account, now }: Decision): number | null => {
  const minutes = escalationOf(account)?.againAfterMinutes
  return minutes == null ? null : now + minutes * MINUTE_MS
}

/** Ends joining, rounds and the check: someone handles the emergency. */
export const acknowledgeEmergency = (tx: Decision, id: string): void => {
  const settled = { state: 'acknowledged', checkAt: null, nextRound: null } as const
  updateRows(tx.sql, emergencies, { ...settled, againAt: againAtOf(tx) }, { id })
}

export const renewAgainAt = (tx: Decision): void =>
  updateRows(tx.sql, emergencies, { againAt: againAtOf(tx) }, { state: 'acknowledged' })

/** The emergency is over. */
export const closeEmergency = ({ sql }: Decision, id: string): void =>
  deleteRows(sql, emergencies, { id })

const { channel, kind, status, awaitsReceipt } = messages
/** A message has reached somebody when its receipt says so, or it was accepted and gives none. */
const HAS_REACHED = query`(${status} = 'delivered' OR (${status} = 'sent' AND ${awaitsReceipt} = 0))`
/** A browser that is closed may never confirm a notification: nothing waits for its receipt. */
const AWAITS_RECEIPT = query`(${awaitsReceipt} = 1 AND ${channel} <> 'Push')`
const IS_ON_ITS_WAY = query`(${status} = 'queued' OR (${status} = 'sent' AND ${AWAITS_RECEIPT}))`

/** Whether any message about an alert has reached somebody: its own, a round's, or a notice. */
export const isReached = (sql: SqlStorage, id: string): boolean =>
  hasRow(sql, messages, query`${isMessageOf(id)} AND ${HAS_REACHED}`)

/** Whether every notice that says that nobody is reached has failed, and there was one. */
const haveNoticesFailed = (sql: SqlStorage, id: string): boolean => {
  const isNotice = query`${isMessageOf(id)} AND ${kind} = 'notice'`
  return (
    hasRow(sql, messages, query`${isNotice} AND ${status} = 'failed'`) &&
    !hasRow(sql, messages, query`${isNotice} AND ${IS_ON_ITS_WAY}`)
  )
}

/** Whether the account is to be notified that nobody is reached: again only if that has failed too. */
export const mayReport = (sql: SqlStorage, { id, reports }: EmergencyRow): boolean =>
  !isReached(sql, id) &&
  (reports === 0 || (reports < MAX_UNDELIVERED_REPORTS && haveNoticesFailed(sql, id)))

/** Whether a provider had accepted a message of the alert and was to report on it. */
export const wasAccepted = (sql: SqlStorage, id: string): boolean =>
  hasRow(sql, messages, query`${isMessageOf(id)} AND ${kind} <> 'notice' AND ${awaitsReceipt} = 1`)

const isUnchecked = (id: string) =>
  query`${emergencies.id} = ${id} AND ${emergencies.checkAt} IS NOT NULL`

/** The first acceptance by a provider that gives receipts leaves time for them. */
const waitForReceipt = ({ sql, now }: Decision, { id, channel: by }: MessageRow): void => {
  if (by === 'Push') return
  const alertId = alertIdOf(id)
  const isOther = query`${isMessageOf(alertId)} AND ${messages.id} <> ${id} AND ${AWAITS_RECEIPT}`
  const checkAt = query`max(${emergencies.checkAt}, ${now + RECEIPT_WITHIN_MS})`
  if (!hasRow(sql, messages, isOther))
    updateRows(sql, emergencies, { checkAt }, isUnchecked(alertId))
}

/** Arms the check again, however long ago it was settled; it is due at once if nothing is left. */
const checkAgain = ({ sql, now }: Decision, { id }: MessageRow): void => {
  const row = findEmergency(sql, alertIdOf(id))
  if (row?.state !== 'open' || !mayReport(sql, row)) return
  const isAnyLeft = hasRow(sql, messages, query`${isMessageOf(row.id)} AND ${IS_ON_ITS_WAY}`)
  const waitMs = row.reports > 0 ? REPORT_AGAIN_AFTER_MS : isAnyLeft ? RECHECK_AFTER_MS : 0
  const checkAt = Math.min(row.checkAt ?? Infinity, now + waitMs)
  updateRows(sql, emergencies, { checkAt }, { id: row.id })
}

/** Settles, postpones or arms the check of an emergency when a message about it has changed. */
export const noteOutcome = (tx: Decision, message: MessageRow): void => {
  if (message.deviceKey === NO_DEVICE_KEY || message.kind === 'command') return
  const { status, awaitsReceipt } = message
  if (status === 'failed') checkAgain(tx, message)
  else if (status === 'delivered' || (status === 'sent' && !awaitsReceipt))
    updateRows(tx.sql, emergencies, { checkAt: null }, isUnchecked(alertIdOf(message.id)))
  else if (status === 'sent') waitForReceipt(tx, message)
}
