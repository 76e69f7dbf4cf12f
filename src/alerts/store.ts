import { sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Database } from '../db/open.ts'
import { isMessageOf } from '../db/queries/alerts.ts'
import { parseLocation, selectLastLocation } from '../db/queries/locations.ts'
import { isVisible, type Viewer } from '../db/queries/visibility.ts'
import { type InferRow, select } from '../db/query.ts'
import { alertLog, alerts, devices, messages, users } from '../db/schema.ts'
import { compile, type Placeholders, readAll, runBatch } from '../db/statement.ts'
import { alertIdOf, type MessageSummary } from '../domain/message/alert.ts'
import { newestPlaceOf } from '../domain/message/newestPlace.ts'
import type { StoredAlert } from './present.ts'

/** The table, or rows of it. */
export const a = alias(alerts, 'a')

/** From alerts joined with `devices`. */
export const ALERT_COLUMNS = {
  id: a.id,
  deviceId: devices.id,
  dateTime: a.time,
  name: a.name,
  text: a.text,
  latitude: a.latitude,
  longitude: a.longitude,
  positionTime: a.positionTime,
  positionSource: a.positionSource,
  emergency: a.emergency,
  late: a.late,
  /** How many it has. */
  messages: a.messages,
  acknowledgedAt: a.acknowledgedAt,
  acknowledgedBy: a.acknowledgedBy,
  resolvedAt: a.resolvedAt,
  resolvedBy: a.resolvedBy,
  cancelledAt: a.cancelledAt,
  cancelledBy: a.cancelledBy,
  reopened: a.reopened,
  notes: a.notes,
  receivedAt: a.receivedAt,
  raisedBy: a.raisedBy,
  test: a.test,
  seq: a.seq,
  updates: a.updates,
  ruleId: a.ruleId,
  zoneId: a.zoneId,
  place: a.place,
}
export type AlertRow = InferRow<typeof ALERT_COLUMNS>

export const toAlert = (
  { updates, ...row }: AlertRow,
  deliveries: MessageSummary[],
): StoredAlert => ({ ...row, updates: updates ?? [], deliveries })

/**
 * The messages of a list of alerts, without notices, which only administrators see. An id may come
 * from a path, and one that is only the beginning of others would be a range of any length: so each
 * must first be found among the account's alerts.
 */
const selectSummaries = compile((p: Placeholders<{ accountId: string; ids: string }>) =>
  select(
    {
      id: messages.id,
      kind: messages.kind,
      channel: messages.channel,
      to: messages.recipient,
      status: messages.status,
      reason: messages.reason,
      resetAt: messages.resetAt,
      changedAt: messages.changed,
      userId: messages.userId,
      contact: messages.contact,
      name: sql<string | null>`ifnull(${messages.contact}, ${users.name})`,
    },
    sql`FROM json_each(${p.ids}) listed
    CROSS JOIN ${alerts} ON ${alerts.id} = listed.value AND ${alerts.accountId} = ${p.accountId}
    CROSS JOIN ${messages} ON ${messages.accountId} = ${p.accountId}
      AND ${isMessageOf(messages.id, alerts.id)} AND ${messages.kind} <> 'notice'
    LEFT JOIN ${users} ON ${users.id} = ${messages.userId}
      AND ${users.accountId} = ${p.accountId}`,
  ),
)

const selectAlertRow = compile((p: Placeholders<Viewer & { id: string }>) =>
  select(
    { ...ALERT_COLUMNS, lastLocation: selectLastLocation(a.deviceKey) },
    sql`FROM ${alerts} ${a} JOIN ${devices} ON ${devices.key} = ${a.deviceKey}
      WHERE ${a.id} = ${p.id} AND ${a.accountId} = ${p.accountId}
        AND ${isVisible(a.deviceKey, p.groupId)}`,
  ),
)

const selectLog = compile((p: Placeholders<{ accountId: string; id: string }>) =>
  select(
    { at: alertLog.at, action: alertLog.action, by: alertLog.by, text: alertLog.text },
    sql`FROM ${alertLog} WHERE ${alertLog.accountId} = ${p.accountId}
      AND ${alertLog.alertId} = ${p.id} ORDER BY ${alertLog.seq}`,
  ),
)

export const findAlert = async (
  db: Database,
  { accountId, groupId }: Viewer,
  id: string,
): Promise<StoredAlert | null> => {
  const { alert, deliveries, log } = await runBatch(db, {
    alert: selectAlertRow(db, { id, accountId, groupId }),
    deliveries: selectSummaries(db, { accountId, ids: JSON.stringify([id]) }),
    log: selectLog(db, { accountId, id }),
  })
  const [found] = alert.results
  if (!found) return null
  const { lastLocation, ...row } = found
  const stored = toAlert(row, deliveries.results)
  const last = parseLocation(lastLocation)
  const newest = newestPlaceOf(stored, stored.updates, last && { ...last, time: last.dateTime })
  return { ...stored, newest, log: log.results }
}

/** The deliveries of a page of alerts, by alert. */
export const readSummaries = async (
  db: Database,
  accountId: string,
  page: AlertRow[],
): Promise<Map<string, MessageSummary[]>> => {
  const ids = page.filter((alert) => alert.messages > 0).map(({ id }) => id)
  if (ids.length === 0) return new Map()
  const rows = await readAll(selectSummaries(db, { accountId, ids: JSON.stringify(ids) }))
  return Map.groupBy(rows, ({ id }) => alertIdOf(id))
}
