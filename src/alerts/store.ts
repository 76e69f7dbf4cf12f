import { and, eq, isNull, sql } from 'drizzle-orm'
import { isMessageOf } from '../db/alerts.ts'
import { appendEvent } from '../db/events.ts'
import type { Database } from '../db/open.ts'
import { alerts, devices, messages } from '../db/schema.ts'
import {
  compile,
  names,
  placeholders,
  readAll,
  readFirst,
  runBatch,
  type Statement,
  statement,
} from '../db/statement.ts'
import { isVisible, type Viewer } from '../db/visibility.ts'
import { alertIdOf, type Delivery } from '../domain/alert.ts'
import type { StoredAlert } from './present.ts'

export interface AlertRow {
  id: string
  device_id: string
  time: number
  name: string
  text: string
  latitude: number | null
  longitude: number | null
  messages: number
  acknowledged_at: number | null
  acknowledged_by: string | null
}

type DeliveryRow = Omit<Delivery, 'to' | 'resetAt'> & { recipient: string; reset_at: number | null }

export const toAlert = (row: AlertRow, deliveries: Delivery[]): StoredAlert => ({
  id: row.id,
  deviceId: row.device_id,
  dateTime: row.time,
  name: row.name,
  text: row.text,
  latitude: row.latitude,
  longitude: row.longitude,
  acknowledgedAt: row.acknowledged_at,
  acknowledgedBy: row.acknowledged_by,
  deliveries,
})

const p = placeholders('id', 'accountId', 'groupId', 'ids')

/**
 * The messages of a list of alerts. An id may come from a path, and one that is only the beginning
 * of others would be a range of any length: so each must first be found among the account's alerts.
 */
const selectDeliveries = compile<{ accountId: string; ids: string }, DeliveryRow>(
  sql`SELECT ${messages.id}, ${messages.channel}, ${messages.recipient}, ${messages.status},
      ${messages.reason}, ${messages.resetAt}
    FROM json_each(${p.ids}) listed
    CROSS JOIN ${alerts} ON ${alerts.id} = listed.value AND ${alerts.accountId} = ${p.accountId}
    CROSS JOIN ${messages} ON ${messages.accountId} = ${p.accountId}
      AND ${isMessageOf(messages.id, alerts.id)}`,
)

const groupByAlert = (rows: DeliveryRow[]): Map<string, Delivery[]> => {
  const byAlert = new Map<string, Delivery[]>()
  for (const { id, channel, recipient: to, status, reason, reset_at: resetAt } of rows) {
    const alertId = alertIdOf(id)
    const list = byAlert.get(alertId) ?? []
    list.push({ id, channel, to, status, reason, resetAt })
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

/** Statements that read an alert and its deliveries; `toFoundAlert` takes their two results. */
const selectAlert = (
  db: Database,
  { accountId, groupId }: Viewer,
  id: string,
): [Statement<AlertRow>, Statement<DeliveryRow>] => [
  selectAlertRow(db, { id, accountId, groupId }),
  selectDeliveries(db, { accountId, ids: JSON.stringify([id]) }),
]

const toFoundAlert = (
  { results: [row] }: D1Result<AlertRow>,
  { results: deliveries }: D1Result<DeliveryRow>,
): StoredAlert | null => (row ? toAlert(row, groupByAlert(deliveries).get(row.id) ?? []) : null)

export const findAlert = async (
  db: Database,
  viewer: Viewer,
  id: string,
): Promise<StoredAlert | null> => toFoundAlert(...(await runBatch(db, selectAlert(db, viewer, id))))

const findDeviceId = async (
  db: Database,
  accountId: string,
  alertId: string,
): Promise<string | null> => {
  const found = await readFirst(
    statement<{ id: string }>(
      db,
      sql`SELECT ${devices.id}
        FROM ${alerts} JOIN ${devices} ON ${devices.key} = ${alerts.deviceKey}
        WHERE ${alerts.id} = ${alertId} AND ${alerts.accountId} = ${accountId}`,
    ),
  )
  return found?.id ?? null
}

/** The first acknowledgement counts and logs one event; later ones change nothing. */
export const acknowledgeAlert = async (
  db: Database,
  viewer: Viewer,
  { id, by, now }: { id: string; by: string; now: number },
): Promise<StoredAlert | null> => {
  const { accountId, groupId } = viewer
  const own = and(eq(alerts.id, id), eq(alerts.accountId, accountId))
  const event = {
    accountId,
    id: `evt_${id.slice(4)}_acknowledged`,
    type: 'alert.acknowledged',
    time: now,
    deviceId: await findDeviceId(db, accountId, id),
    data: { alertId: id, acknowledgedBy: by },
  }
  const isAcknowledgedNow = sql`EXISTS (SELECT 1 FROM ${alerts}
    WHERE ${and(own, eq(alerts.acknowledgedAt, now))})`
  const hasDevice = sql`EXISTS (SELECT 1 FROM ${devices}
    WHERE ${devices.key} = ${alerts.deviceKey})`
  const isOpen = and(
    own,
    isNull(alerts.acknowledgedAt),
    isVisible(alerts.deviceKey, groupId),
    hasDevice,
  )
  const [, , , ...found] = await runBatch(db, [
    statement(
      db,
      sql`UPDATE ${alerts} SET ${names(alerts.acknowledgedAt)} = ${now},
        ${names(alerts.acknowledgedBy)} = ${by} WHERE ${isOpen}`,
    ),
    ...appendEvent(db, event, isAcknowledgedNow),
    ...selectAlert(db, viewer, id),
  ])
  return toFoundAlert(...found)
}

/** The deliveries of a page of alerts, by alert. */
export const readDeliveries = async (
  db: Database,
  accountId: string,
  page: AlertRow[],
): Promise<Map<string, Delivery[]>> => {
  const ids = page.filter((alert) => alert.messages > 0).map(({ id }) => id)
  if (ids.length === 0) return new Map()
  return groupByAlert(await readAll(selectDeliveries(db, { accountId, ids: JSON.stringify(ids) })))
}
