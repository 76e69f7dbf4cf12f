import { type Placeholder, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Alert, AlertUpdate } from '../../domain/message/alert.ts'
import type { Database } from '../open.ts'
import { insertSelect } from '../query.ts'
import { alerts, devices, messages } from '../schema.ts'
import {
  compile,
  literal,
  names,
  type Placeholders,
  placeholders,
  runBatch,
  type Statement,
  statement,
} from '../statement.ts'

/*
 * How alerts and their messages enter the cell. Each statement may run twice, and none stores
 * anything for a deleted device.
 */

export const hasDevice = (key: Placeholder): SQL =>
  sql`EXISTS (SELECT 1 FROM ${devices} WHERE ${devices.key} = ${key})`

interface AlertEffect {
  accountId: string
  key: number
  alert: Alert
  messages: number
  /** When it arrived. */
  at?: number | null
}

type NewAlert = Omit<Required<Alert>, 'dateTime'> & {
  accountId: string
  deviceKey: number
  time: number
  receivedAt: number | null
  messages: number
}
const fillAlert = compile((p: Placeholders<NewAlert>) =>
  insertSelect(
    alerts,
    {
      accountId: p.accountId,
      deviceKey: p.deviceKey,
      id: p.id,
      time: p.time,
      name: p.name,
      text: p.text,
      latitude: p.latitude,
      longitude: p.longitude,
      positionTime: p.positionTime,
      positionSource: p.positionSource,
      emergency: p.emergency,
      late: p.late,
      receivedAt: p.receivedAt,
      messages: p.messages,
      ruleId: p.ruleId,
      zoneId: p.zoneId,
    },
    sql`WHERE ${hasDevice(p.deviceKey)} ON CONFLICT DO NOTHING`,
  ),
)

export const insertAlert = (
  db: Database,
  { accountId, key, alert, messages: count, at = null }: AlertEffect,
): Statement => {
  const { dateTime, ...given } = alert
  // An effect that was posted before alerts had these members has none.
  const defaults = {
    positionTime: null,
    positionSource: 'none' as const,
    emergency: false,
    late: false,
    ruleId: null,
    zoneId: null,
  }
  const arrival = { accountId, deviceKey: key, time: dateTime, receivedAt: at, messages: count }
  return fillAlert(db, { ...defaults, ...given, ...arrival })
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
