import { type Placeholder, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Alert, AlertUpdate, Delivery, Status } from '../domain/alert.ts'
import type { Database } from './open.ts'
import { alerts, devices, messages } from './schema.ts'
import {
  commaSeparated,
  compile,
  literal,
  names,
  placeholders,
  runBatch,
  type Statement,
  statement,
} from './statement.ts'

/*
 * How alerts and their messages enter the cell. Each statement may run twice, and none stores
 * anything for a deleted device.
 */

const hasDevice = (key: Placeholder): SQL =>
  sql`EXISTS (SELECT 1 FROM ${devices} WHERE ${devices.key} = ${key})`

interface AlertEffect {
  accountId: string
  key: number
  alert: Alert
  messages: number
}

const newAlert = placeholders(
  'accountId',
  'key',
  'id',
  'dateTime',
  'name',
  'text',
  'latitude',
  'longitude',
  'positionTime',
  'positionSource',
  'emergency',
  'late',
  'messages',
)
const ALERT_COLUMNS = names(
  alerts.accountId,
  alerts.deviceKey,
  alerts.id,
  alerts.time,
  alerts.name,
  alerts.text,
  alerts.latitude,
  alerts.longitude,
  alerts.positionTime,
  alerts.positionSource,
  alerts.emergency,
  alerts.late,
  alerts.messages,
)
type AlertValues = Omit<AlertEffect, 'alert'> &
  Omit<Alert, 'emergency' | 'late'> & { emergency: number; late: number }
const fillAlert = compile<AlertValues>(
  sql`INSERT INTO ${alerts} (${ALERT_COLUMNS})
    SELECT ${newAlert.accountId}, ${newAlert.key}, ${newAlert.id}, ${newAlert.dateTime},
      ${newAlert.name}, ${newAlert.text}, ${newAlert.latitude}, ${newAlert.longitude},
      ${newAlert.positionTime}, ${newAlert.positionSource}, ${newAlert.emergency},
      ${newAlert.late}, ${newAlert.messages}
    WHERE ${hasDevice(newAlert.key)} ON CONFLICT DO NOTHING`,
)

export const insertAlert = (db: Database, { alert, ...effect }: AlertEffect): Statement => {
  // An effect that was posted before alerts had these members has none.
  const { positionTime = null, positionSource = 'none', emergency = false, late = false } = alert
  const flags = { emergency: emergency ? 1 : 0, late: late ? 1 : 0 }
  return fillAlert(db, { ...effect, ...alert, positionTime, positionSource, ...flags })
}

interface AlertStateEffect {
  accountId: string
  id: string
  acknowledgedAt: number | null
  acknowledgedBy: string | null
  cancelledAt: number | null
  cancelledBy: string | null
  updates: AlertUpdate[] | null
  messages: number | null
  seq: number
}

const alertState = placeholders(
  'accountId',
  'id',
  'acknowledgedAt',
  'acknowledgedBy',
  'cancelledAt',
  'cancelledBy',
  'updates',
  'messages',
  'seq',
)

/** Who acknowledged and cancelled never changes again; the rest is as the latest effect has it. */
const fillAlertState = compile<Omit<AlertStateEffect, 'updates'> & { updates: string | null }>(
  sql`UPDATE ${alerts} SET
      ${names(alerts.acknowledgedBy)} = iif(${alerts.acknowledgedAt} IS NULL,
        ${alertState.acknowledgedBy}, ${alerts.acknowledgedBy}),
      ${names(alerts.acknowledgedAt)} = ifnull(${alerts.acknowledgedAt}, ${alertState.acknowledgedAt}),
      ${names(alerts.cancelledBy)} = iif(${alerts.cancelledAt} IS NULL,
        ${alertState.cancelledBy}, ${alerts.cancelledBy}),
      ${names(alerts.cancelledAt)} = ifnull(${alerts.cancelledAt}, ${alertState.cancelledAt}),
      ${names(alerts.updates)} = ifnull(${alertState.updates}, ${alerts.updates}),
      ${names(alerts.messages)} = ifnull(${alertState.messages}, ${alerts.messages}),
      ${names(alerts.seq)} = ${alertState.seq}
    WHERE ${alerts.id} = ${alertState.id} AND ${alerts.accountId} = ${alertState.accountId}
      AND ${alerts.seq} < ${alertState.seq}`,
)

export const updateAlert = (db: Database, { updates, ...effect }: AlertStateEffect): Statement =>
  fillAlertState(db, { ...effect, updates: updates && JSON.stringify(updates) })

interface MessagesEffect {
  accountId: string
  key: number
  messages: (Delivery & { subject: string; text: string })[]
  at: number
  seq: number
}

/** The columns that each message has its own value for, in the order of `listedValues`. */
const LISTED_COLUMNS = [
  messages.id,
  messages.kind,
  messages.channel,
  messages.recipient,
  messages.subject,
  messages.text,
  messages.status,
  messages.reason,
  messages.resetAt,
]
const listedValues = (message: MessagesEffect['messages'][number]) => {
  // An effect that was posted before messages had kinds is of an alert.
  const { id, kind = 'alert', channel, to, subject, text, status, reason, resetAt } = message
  return [id, kind, channel, to, subject, text, status, reason, resetAt]
}

const newMessages = placeholders('accountId', 'key', 'at', 'seq', 'list')
const MESSAGE_COLUMNS = names(
  messages.accountId,
  messages.deviceKey,
  messages.changed,
  messages.seq,
  messages.attempts,
  ...LISTED_COLUMNS,
)
const fillMessages = compile<Omit<MessagesEffect, 'messages'> & { list: string }>(
  sql`INSERT INTO ${messages} (${MESSAGE_COLUMNS})
    SELECT ${newMessages.accountId}, ${newMessages.key}, ${newMessages.at}, ${newMessages.seq}, 0,
      ${commaSeparated(LISTED_COLUMNS.map((_, index) => sql`value ->> ${literal(index)}`))}
    FROM json_each(${newMessages.list}) WHERE ${hasDevice(newMessages.key)} ON CONFLICT DO NOTHING`,
)

export const insertMessages = (db: Database, effect: MessagesEffect): Statement => {
  const { accountId, key, at, seq } = effect
  const list = JSON.stringify(effect.messages.map(listedValues))
  return fillMessages(db, { accountId, key, at, seq, list })
}

interface StateEffect {
  accountId: string
  id: string
  status: Status
  reason: string | null
  provider: string | null
  attempts: number
  at: number
  seq: number
}

const state = placeholders(
  'accountId',
  'id',
  'status',
  'reason',
  'provider',
  'attempts',
  'at',
  'seq',
)

/** Sets the state of a message, unless a later effect has set it already. */
export const updateMessage = compile<StateEffect>(
  sql`UPDATE ${messages} SET ${names(messages.status)} = ${state.status},
      ${names(messages.reason)} = ${state.reason}, ${names(messages.provider)} = ${state.provider},
      ${names(messages.attempts)} = ${state.attempts}, ${names(messages.changed)} = ${state.at},
      ${names(messages.seq)} = ${state.seq}, ${names(messages.resetAt)} = NULL
    WHERE ${messages.accountId} = ${state.accountId} AND ${messages.id} = ${state.id}
      AND ${messages.seq} < ${state.seq}`,
)

/** True for the messages of an alert. Their ids begin with the alert's, so they are one key range. */
export const isMessageOf = (messageId: SQLWrapper, alertId: SQLWrapper): SQL =>
  sql`${messageId} > 'msg_' || substr(${alertId}, 5)
    AND ${messageId} < 'msg_' || substr(${alertId}, 5) || '~'`

const ofAlert = alias(messages, 'm')

const ALERT_PAGE = 100
const MESSAGE_PAGE = 5000
/** The queries of `deleteAlerts`. */
export const DELETE_ALERTS_QUERIES = 2

/**
 * Deletes a page of the alerts that `select` gives (`id`, `account_id`, in a stable order). An alert
 * goes once its messages are gone: it may have thousands. False when nothing is left.
 */
export const deleteAlerts = async (db: Database, select: SQL): Promise<boolean> => {
  const page = sql`(${select} LIMIT ${literal(ALERT_PAGE)}) a`
  const isOfAlert = sql`${ofAlert.accountId} = a.account_id AND ${isMessageOf(ofAlert.id, sql`a.id`)}`
  const [{ meta: deletedMessages }, { meta: deletedAlerts }] = await runBatch(db, [
    statement(
      db,
      sql`DELETE FROM ${messages} WHERE (${messages.accountId}, ${messages.id}) IN (
        SELECT ${ofAlert.accountId}, ${ofAlert.id} FROM ${page}
        CROSS JOIN ${messages} ${ofAlert} ON ${isOfAlert} LIMIT ${literal(MESSAGE_PAGE)})`,
    ),
    statement(
      db,
      sql`DELETE FROM ${alerts} WHERE ${alerts.id} IN (SELECT a.id FROM ${page}
        WHERE NOT EXISTS (SELECT 1 FROM ${messages} ${ofAlert} WHERE ${isOfAlert}))`,
    ),
  ])
  return deletedMessages.changes === MESSAGE_PAGE || deletedAlerts.changes === ALERT_PAGE
}
