import { deleteRows, findRow, hasRow, insertRow, query, updateRows } from '../../db/objectTable.ts'
import type { Alert, AlertUpdate, Recipient } from '../../domain/message/alert.ts'
import {
  escalationOf,
  JOIN_WITHIN_MS,
  MAX_UPDATES,
  MINUTE_MS,
  UNDELIVERED_AFTER_MS,
} from '../../domain/message/emergency.ts'
import type { AlertDetails } from '../../domain/message/text/messageText.ts'
import type { Decision } from '../decision.ts'
import { isMessageOf } from '../messages/messageQueue.ts'
import { type EmergencyRow, emergencies, messages } from '../tables.ts'

/* The open emergencies: a row is deleted when its alert is acknowledged or cancelled. */

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

interface NewEmergency extends Pick<EmergencyRow, 'deviceKey' | 'details' | 'messages'> {
  /** Whether any of its messages is on its way. */
  isOnItsWay: boolean
}

export const openEmergency = (
  { sql, account, now }: Decision,
  { isOnItsWay, ...given }: NewEmergency,
): EmergencyRow => {
  const { alert } = given.details
  const escalation = escalationOf(account)
  const row = {
    ...given,
    id: alert.id,
    name: alert.name,
    time: alert.dateTime,
    raisedAt: now,
    updates: [],
    checkAt: isOnItsWay ? now + UNDELIVERED_AFTER_MS : null,
    round: 0,
    nextRound: escalation && now + escalation.afterMinutes * MINUTE_MS,
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
      AND ${emergencies.time} BETWEEN ${dateTime - JOIN_WITHIN_MS} AND ${dateTime + JOIN_WITHIN_MS}
      AND NOT ${emergencies.details} ->> 'isOfExpiredDevice'
      ORDER BY abs(${emergencies.time} - ${dateTime}) LIMIT 1`,
  )

/** Adds the place and time of a later emergency, in order of time. */
export const joinEmergency = (tx: Decision, row: EmergencyRow, update: AlertUpdate): void => {
  const updates = [...row.updates, update]
    .toSorted((a, b) => a.dateTime - b.dateTime)
    .slice(-MAX_UPDATES)
  updateRows(tx.sql, emergencies, { updates }, { id: row.id })
  tx.post({ kind: 'alert-state', id: row.id, updates })
}

/** Adds the messages of a round to the alert's number of messages. */
export const countMessages = (tx: Decision, row: EmergencyRow, more: number): void => {
  const { id } = row
  const messages = row.messages + more
  updateRows(tx.sql, emergencies, { messages }, { id })
  tx.post({ kind: 'alert-state', id, messages })
}

/** Ends joining, rounds and the check: someone knows of the emergency. */
export const closeEmergency = (sql: SqlStorage, id: string): void =>
  deleteRows(sql, emergencies, { id })

const isUnchecked = (id: string) =>
  query`${emergencies.id} = ${id} AND ${emergencies.checkAt} IS NOT NULL`

/** A provider has accepted a message of this alert: its recipients are being notified. */
export const markDelivered = (sql: SqlStorage, id: string): void =>
  updateRows(sql, emergencies, { checkAt: null }, isUnchecked(id))

/** Makes the check due at once when the last message that was on its way has failed. */
export const checkSoonIfAllFailed = ({ sql, now }: Decision, id: string): void => {
  const { kind, status } = messages
  const isQueued = query`${isMessageOf(id)} AND ${kind} = 'alert' AND ${status} = 'queued'`
  const checkAt = query`min(${emergencies.checkAt}, ${now})`
  if (!hasRow(sql, messages, isQueued)) updateRows(sql, emergencies, { checkAt }, isUnchecked(id))
}
