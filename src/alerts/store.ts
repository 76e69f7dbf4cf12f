import { sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { isMessageOf } from '../db/queries/alerts.ts'
import { isVisible, type Viewer } from '../db/queries/visibility.ts'
import { alerts, devices, messages } from '../db/schema.ts'
import { compile, placeholders, readAll, runBatch } from '../db/statement.ts'
import {
  type AlertUpdate,
  alertIdOf,
  type MessageSummary,
  type PositionSource,
} from '../domain/message/alert.ts'
import type { StoredAlert } from './present.ts'

export interface AlertRow {
  id: string
  device_id: string
  time: number
  name: string
  text: string
  latitude: number | null
  longitude: number | null
  position_time: number | null
  position_source: PositionSource
  emergency: number
  late: number
  messages: number
  acknowledged_at: number | null
  acknowledged_by: string | null
  cancelled_at: number | null
  cancelled_by: string | null
  updates: string | null
  rule_id: string | null
  zone_id: string | null
}

type SummaryRow = Omit<MessageSummary, 'to' | 'resetAt'> & {
  recipient: string
  reset_at: number | null
}

export const toAlert = (row: AlertRow, deliveries: MessageSummary[]): StoredAlert => ({
  id: row.id,
  deviceId: row.device_id,
  dateTime: row.time,
  name: row.name,
  text: row.text,
  latitude: row.latitude,
  longitude: row.longitude,
  positionTime: row.position_time,
  positionSource: row.position_source,
  emergency: row.emergency === 1,
  late: row.late === 1,
  ruleId: row.rule_id,
  zoneId: row.zone_id,
  acknowledgedAt: row.acknowledged_at,
  acknowledgedBy: row.acknowledged_by,
  cancelledAt: row.cancelled_at,
  cancelledBy: row.cancelled_by,
  updates: row.updates === null ? [] : (JSON.parse(row.updates) as AlertUpdate[]),
  deliveries,
})

const p = placeholders('id', 'accountId', 'groupId', 'ids')

/**
 * The messages of a list of alerts, without notices, which only administrators see. An id may come
 * from a path, and one that is only the beginning of others would be a range of any length: so each
 * must first be found among the account's alerts.
 */
const selectSummaries = compile<{ accountId: string; ids: string }, SummaryRow>(
  sql`SELECT ${messages.id}, ${messages.kind}, ${messages.channel}, ${messages.recipient},
      ${messages.status}, ${messages.reason}, ${messages.resetAt}
    FROM json_each(${p.ids}) listed
    CROSS JOIN ${alerts} ON ${alerts.id} = listed.value AND ${alerts.accountId} = ${p.accountId}
    CROSS JOIN ${messages} ON ${messages.accountId} = ${p.accountId}
      AND ${isMessageOf(messages.id, alerts.id)} AND ${messages.kind} <> 'notice'`,
)

const groupByAlert = (rows: SummaryRow[]): Map<string, MessageSummary[]> => {
  const byAlert = new Map<string, MessageSummary[]>()
  for (const { id, kind, channel, recipient: to, status, reason, reset_at: resetAt } of rows) {
    const alertId = alertIdOf(id)
    const list = byAlert.get(alertId) ?? []
    list.push({ id, kind, channel, to, status, reason, resetAt })
    byAlert.set(alertId, list)
  }
  return byAlert
}

const selectAlertRow = compile<Viewer & { id: string }, AlertRow>(
  sql`SELECT ${alerts}.*, ${devices.id} AS device_id
    FROM ${alerts} JOIN ${devices} ON ${devices.key} = ${alerts.deviceKey}
    WHERE ${alerts.id} = ${p.id} AND ${alerts.accountId} = ${p.accountId}
      AND ${isVisible(alerts.deviceKey, p.groupId)}`,
)

export const findAlert = async (
  db: Database,
  { accountId, groupId }: Viewer,
  id: string,
): Promise<StoredAlert | null> => {
  const [{ results: found }, { results: deliveries }] = await runBatch(db, [
    selectAlertRow(db, { id, accountId, groupId }),
    selectSummaries(db, { accountId, ids: JSON.stringify([id]) }),
  ])
  const [row] = found
  return row ? toAlert(row, groupByAlert(deliveries).get(row.id) ?? []) : null
}

/** The deliveries of a page of alerts, by alert. */
export const readSummaries = async (
  db: Database,
  accountId: string,
  page: AlertRow[],
): Promise<Map<string, MessageSummary[]>> => {
  const ids = page.filter((alert) => alert.messages > 0).map(({ id }) => id)
  if (ids.length === 0) return new Map()
  return groupByAlert(await readAll(selectSummaries(db, { accountId, ids: JSON.stringify(ids) })))
}
