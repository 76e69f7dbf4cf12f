import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Database } from '../open.ts'
import { alertLog, alerts, messages } from '../schema.ts'
import { literal, names, runBatch } from '../statement.ts'

/** True for the messages of an alert. Their ids begin with the alert's, so they are one key range. */
export const isMessageOf = (messageId: SQLWrapper, alertId: SQLWrapper): SQL =>
  sql`${messageId} > 'msg_' || substr(${alertId}, 5)
    AND ${messageId} < 'msg_' || substr(${alertId}, 5) || '~'`

const ofAlert = alias(messages, 'm')
const LOG_KEY = [alertLog.accountId, alertLog.alertId, alertLog.seq]
const logged = alias(alertLog, 'l')

const ALERT_PAGE = 100
const MESSAGE_PAGE = 5000
/** The queries of `deleteAlerts`. */
export const DELETE_ALERTS_QUERIES = 3

/**
 * Deletes a page of the alerts that `select` gives (`id`, `account_id`, in a stable order). An alert
 * goes once its messages and its log are gone: it may have thousands. False when nothing is left.
 */
export const deleteAlerts = async (db: Database, select: SQL): Promise<boolean> => {
  const page = sql`(${select} LIMIT ${literal(ALERT_PAGE)}) a`
  const isOfAlert = sql`${ofAlert.accountId} = a.account_id AND ${isMessageOf(ofAlert.id, sql`a.id`)}`
  const isInLog = sql`${logged.accountId} = a.account_id AND ${logged.alertId} = a.id`
  const deleted = await runBatch(db, {
    messages: sql`DELETE FROM ${messages} WHERE (${messages.accountId}, ${messages.id}) IN (
      SELECT ${ofAlert.accountId}, ${ofAlert.id} FROM ${page}
      CROSS JOIN ${messages} ${ofAlert} ON ${isOfAlert} LIMIT ${literal(MESSAGE_PAGE)})`,
    log: sql`DELETE FROM ${alertLog} WHERE (${names(...LOG_KEY)}) IN (
      SELECT ${logged.accountId}, ${logged.alertId}, ${logged.seq} FROM ${page}
      CROSS JOIN ${alertLog} ${logged} ON ${isInLog} LIMIT ${literal(MESSAGE_PAGE)})`,
    alerts: sql`DELETE FROM ${alerts} WHERE ${alerts.id} IN (SELECT a.id FROM ${page}
      WHERE NOT EXISTS (SELECT 1 FROM ${messages} ${ofAlert} WHERE ${isOfAlert})
        AND NOT EXISTS (SELECT 1 FROM ${alertLog} ${logged} WHERE ${isInLog}))`,
  })
  const { messages: ofMessages, log, alerts: ofAlerts } = deleted
  // Rows that triggers write are changes too.
  const isPageFull = [ofMessages, log].some(({ meta }) => meta.changes >= MESSAGE_PAGE)
  return isPageFull || ofAlerts.meta.changes >= ALERT_PAGE
}
