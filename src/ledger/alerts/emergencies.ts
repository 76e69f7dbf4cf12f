import type { Alert, AlertUpdate, Recipient } from '../../domain/message/alert.ts'
import {
  JOIN_WITHIN_MS,
  MAX_UPDATES,
  MINUTE_MS,
  UNDELIVERED_AFTER_MS,
} from '../../domain/message/emergency.ts'
import type { AlertDetails } from '../../notify/messageText.ts'
import type { Decision } from '../decision.ts'

/* The open emergencies: a row is deleted when its alert is acknowledged or cancelled. */

/** What later messages about an emergency are composed from. */
export interface EmergencyDetails extends Omit<AlertDetails, 'purpose'> {
  deviceId: string
  /** The administrators when it was raised. */
  administrators: Recipient[]
  /** Only the account was notified of it, so no later emergency joins it. */
  isOfExpiredDevice: boolean
}

export interface EmergencyRow extends Record<string, SqlStorageValue> {
  id: string
  device_key: number
  name: string
  /** The alert's `dateTime`. */
  time: number
  raised_at: number
  /** `EmergencyDetails`. */
  details: string
  /** `AlertUpdate[]`. */
  updates: string
  /** How many messages the alert has, those of its rounds too. */
  messages: number
  /** When to check that a provider has accepted a message; null once that is settled. */
  check_at: number | null
  /** How many rounds of its escalation have been sent. */
  round: number
  next_round: number | null
}

export const detailsOf = ({ details }: EmergencyRow): EmergencyDetails =>
  JSON.parse(details) as EmergencyDetails

export const findEmergency = (sql: SqlStorage, id: string): EmergencyRow | undefined =>
  sql.exec<EmergencyRow>('SELECT * FROM emergencies WHERE id = ?', id).toArray()[0]

interface NewEmergency {
  deviceKey: number
  details: EmergencyDetails
  /** How many messages it has, and whether any is on its way. */
  messages: number
  isOnItsWay: boolean
}

export const openEmergency = (
  { sql, account, now }: Decision,
  { deviceKey, details, messages, isOnItsWay }: NewEmergency,
): EmergencyRow => {
  const { alert } = details
  const { escalation } = account
  const row = {
    id: alert.id,
    device_key: deviceKey,
    name: alert.name,
    time: alert.dateTime,
    raised_at: now,
    details: JSON.stringify(details),
    updates: '[]',
    messages,
    check_at: isOnItsWay ? now + UNDELIVERED_AFTER_MS : null,
    round: 0,
    next_round: escalation && now + escalation.afterMinutes * MINUTE_MS,
  }
  sql.exec(
    `INSERT INTO emergencies (id, device_key, name, time, raised_at, details, updates, messages,
       check_at, round, next_round)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...Object.values(row),
  )
  return row
}

/** The open emergency that a new one of the same device and name joins; the nearest in time. */
export const findToJoin = (
  sql: SqlStorage,
  deviceKey: number,
  { name, dateTime }: Pick<Alert, 'name' | 'dateTime'>,
): EmergencyRow | undefined =>
  sql
    .exec<EmergencyRow>(
      `SELECT * FROM emergencies WHERE device_key = ? AND name = ? AND time BETWEEN ? AND ?
         AND NOT details ->> 'isOfExpiredDevice' ORDER BY abs(time - ?) LIMIT 1`,
      deviceKey,
      name,
      dateTime - JOIN_WITHIN_MS,
      dateTime + JOIN_WITHIN_MS,
      dateTime,
    )
    .toArray()[0]

const UNCHANGED = {
  acknowledgedAt: null,
  acknowledgedBy: null,
  cancelledAt: null,
  cancelledBy: null,
  updates: null,
  messages: null,
} as const

/** Adds the place and time of a later emergency, in order of time. */
export const joinEmergency = (tx: Decision, row: EmergencyRow, update: AlertUpdate): void => {
  const before = JSON.parse(row.updates) as AlertUpdate[]
  const updates = [...before, update]
    .toSorted((a, b) => a.dateTime - b.dateTime)
    .slice(-MAX_UPDATES)
  tx.sql.exec('UPDATE emergencies SET updates = ? WHERE id = ?', JSON.stringify(updates), row.id)
  tx.post({ kind: 'alert-state', id: row.id, ...UNCHANGED, updates })
}

/** Adds the messages of a round to the alert's number of messages. */
export const countMessages = (tx: Decision, { id, messages }: EmergencyRow, more: number): void => {
  tx.sql.exec('UPDATE emergencies SET messages = ? WHERE id = ?', messages + more, id)
  tx.post({ kind: 'alert-state', id, ...UNCHANGED, messages: messages + more })
}

/** Ends joining, rounds and the check: someone knows of the emergency. */
export const closeEmergency = (sql: SqlStorage, id: string): void => {
  sql.exec('DELETE FROM emergencies WHERE id = ?', id)
}

export const closeEmergenciesOf = (sql: SqlStorage, deviceKey: number): void => {
  sql.exec('DELETE FROM emergencies WHERE device_key = ?', deviceKey)
}

/** A provider has accepted a message of this alert: its recipients are being notified. */
export const markDelivered = (sql: SqlStorage, id: string): void => {
  sql.exec('UPDATE emergencies SET check_at = NULL WHERE id = ? AND check_at IS NOT NULL', id)
}

/** Makes the check due at once when the last message that was on its way has failed. */
export const checkSoonIfAllFailed = ({ sql, now }: Decision, id: string): void => {
  const prefix = `msg_${id.slice(4)}`
  sql.exec(
    `UPDATE emergencies SET check_at = min(check_at, ?) WHERE id = ? AND check_at IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM messages WHERE messages.id > ? AND messages.id < ?
         AND kind = 'alert' AND status = 'queued')`,
    now,
    id,
    prefix,
    `${prefix}~`,
  )
}
