import { appendEvent } from '../db/events.ts'
import type { Database } from '../db/open.ts'
import { type Viewer, visible } from '../db/visibility.ts'
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

/**
 * ?1 the account, ?2 a list of alerts: ids of messages begin with their alert's, so each is one stretch of the key. An id may
 * come from a path: one that names no alert of the account would be a stretch of any length, so it reads none.
 */
const DELIVERIES = `SELECT m.id, m.channel, m.recipient, m.status, m.reason, m.reset_at
  FROM json_each(?2) j CROSS JOIN alerts a ON a.id = j.value AND a.account_id = ?1 CROSS JOIN messages m ON m.account_id = ?1
    AND m.id > 'msg_' || substr(a.id, 5) AND m.id < 'msg_' || substr(a.id, 5) || '~'`

const deliveriesBy = (rows: DeliveryRow[]): Map<string, Delivery[]> => {
  const found = new Map<string, Delivery[]>()
  for (const { id, channel, recipient: to, status, reason, reset_at: resetAt } of rows) {
    const alertId = alertIdOf(id)
    const list = found.get(alertId) ?? []
    list.push({ id, channel, to, status, reason, resetAt })
    found.set(alertId, list)
  }
  return found
}

const ONE = `SELECT a.*, d.id AS device_id FROM alerts a JOIN devices d ON d.key = a.device_key
  WHERE a.id = ?1 AND a.account_id = ?2 AND ${visible('a.device_key', '?3')}`

const oneOf = ([found, deliveries]: D1Result<unknown>[], id: string): StoredAlert | null => {
  const row = found?.results[0] as AlertRow | undefined
  return row
    ? toAlert(row, deliveriesBy((deliveries?.results ?? []) as DeliveryRow[]).get(id) ?? [])
    : null
}

const reading = (
  db: D1Database,
  { accountId, groupId }: Viewer,
  id: string,
): D1PreparedStatement[] => [
  db.prepare(ONE).bind(id, accountId, groupId),
  db.prepare(DELIVERIES).bind(accountId, JSON.stringify([id])),
]

export const findAlert = async (
  { $client: db }: Database,
  viewer: Viewer,
  id: string,
): Promise<StoredAlert | null> => oneOf(await db.batch(reading(db, viewer, id)), id)

/** The first acknowledgement counts, and is told of once: later ones find it there. */
export const acknowledgeAlert = async (
  { $client: db }: Database,
  viewer: Viewer,
  id: string,
  by: string,
  now: number,
): Promise<StoredAlert | null> => {
  const { accountId, groupId } = viewer
  const device = await db
    .prepare(
      `SELECT d.id FROM alerts a JOIN devices d ON d.key = a.device_key WHERE a.id = ? AND a.account_id = ?`,
    )
    .bind(id, accountId)
    .first<string>('id')
  const event = {
    accountId,
    id: `evt_${id.slice(4)}_acknowledged`,
    type: 'alert.acknowledged',
    time: now,
    deviceId: device,
    data: { alertId: id, acknowledgedBy: by },
  }
  const acknowledged = {
    sql: 'EXISTS (SELECT 1 FROM alerts WHERE id = ?7 AND account_id = ?1 AND acknowledged_at = ?4)',
    values: [id],
  }
  const results = await db.batch([
    db
      .prepare(
        `UPDATE alerts SET acknowledged_at = ?4, acknowledged_by = ?5
         WHERE id = ?1 AND account_id = ?2 AND acknowledged_at IS NULL AND ${visible('alerts.device_key', '?3')}
           AND EXISTS (SELECT 1 FROM devices WHERE key = alerts.device_key)`,
      )
      .bind(id, accountId, groupId, now, by),
    ...appendEvent(db, event, acknowledged),
    ...reading(db, viewer, id),
  ])
  return oneOf(results.slice(-2), id)
}

/** The deliveries of a page of alerts, by alert. */
export const deliveriesOf = async (
  db: D1Database,
  accountId: string,
  page: AlertRow[],
): Promise<Map<string, Delivery[]>> => {
  const ids = page.filter(({ messages }) => messages > 0).map(({ id }) => id)
  if (ids.length === 0) return new Map()
  const { results } = await db
    .prepare(DELIVERIES)
    .bind(accountId, JSON.stringify(ids))
    .all<DeliveryRow>()
  return deliveriesBy(results)
}
