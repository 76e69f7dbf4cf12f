import { sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Database } from '../db/open.ts'
import { isInGroup } from '../db/queries/visibility.ts'
import { accounts, alerts, devices, keys, messages, users } from '../db/schema.ts'
import { compile, placeholders, readFirst } from '../db/statement.ts'
import type { PositionSource } from '../domain/message/alert.ts'

/** What a link shows, and as whom it acknowledges. */
export interface LinkedAlert {
  accountId: string
  alertId: string
  deviceId: string
  deviceName: string
  name: string
  text: string
  dateTime: number
  latitude: number | null
  longitude: number | null
  positionTime: number | null
  positionSource: PositionSource
  emergency: boolean
  acknowledgedAt: number | null
  /** The name of whoever acknowledged it. */
  acknowledgedBy: string | null
  cancelledAt: number | null
  /** What the ledger may have deleted. */
  known: {
    acknowledgedAt: number | null
    acknowledgedBy: string | null
    cancelledAt: number | null
    cancelledBy: string | null
  }
  /** The recipient of the message: a user's id, or the name of an emergency contact. */
  recipient: string
  recipientName: string
  timeZone: string
}

interface Row {
  account_id: string
  alert_id: string
  device_id: string
  device_name: string
  name: string
  text: string
  time: number
  latitude: number | null
  longitude: number | null
  position_time: number | null
  position_source: PositionSource
  emergency: number
  acknowledged_at: number | null
  acknowledger: string | null
  acknowledged_by: string | null
  cancelled_at: number | null
  cancelled_by: string | null
  user_id: string | null
  user_name: string | null
  contact: string | null
  time_zone: string
}

const p = placeholders('hash', 'now')

/** Users see their link as long as they may see the device. */
const IS_ACTIVE_USER = sql`(${users.disabled} = 0
  AND ifnull(${users.fromTime}, ${p.now}) <= ${p.now}
  AND (${users.expires} IS NULL OR ${users.expires} > ${p.now})
  AND (${users.groupId} IS NULL OR ${isInGroup(devices.key, users.groupId)}))`

/** The emergency contact with the address of the message, if it still is one. */
const CONTACT = sql`(SELECT ifnull(${messages.contact}, value ->> 'name')
  FROM json_each(${accounts.emergency}, '$.emergencyContacts')
  WHERE ${messages.recipient} IN (value ->> 'email', value ->> 'phone') LIMIT 1)`

const sharing = alias(users, 'sharing')
/** A message may name neither: then its recipient is found by the address. */
const USER_ID = sql`CASE WHEN ${messages.userId} IS NOT NULL THEN ${messages.userId}
  WHEN ${messages.contact} IS NULL THEN (SELECT ${sharing.id} FROM ${users} ${sharing}
    WHERE ${sharing.accountId} = ${messages.accountId}
      AND ${messages.recipient} IN (${sharing.email}, ${sharing.phone}) LIMIT 1) END`

const ACKNOWLEDGER = sql`coalesce(
  (SELECT u.name FROM ${users} u WHERE u.id = ${alerts.acknowledgedBy}),
  (SELECT ${keys.name} FROM ${keys} WHERE ${keys.id} = ${alerts.acknowledgedBy}),
  ${alerts.acknowledgedBy})`

const selectLinked = compile<{ hash: string; now: number }, Row>(
  sql`SELECT ${messages.accountId}, ${alerts.id} AS alert_id, ${devices.id} AS device_id,
      ${devices.name} AS device_name,
      ${alerts.name}, ${alerts.text}, ${alerts.time}, ${alerts.latitude}, ${alerts.longitude},
      ${alerts.positionTime}, ${alerts.positionSource}, ${alerts.emergency},
      ${alerts.acknowledgedAt}, ${alerts.acknowledgedBy}, ${ACKNOWLEDGER} AS acknowledger,
      ${alerts.cancelledAt}, ${alerts.cancelledBy},
      ${users.id} AS user_id, ${users.name} AS user_name, ${CONTACT} AS contact,
      coalesce(${users.timeZone}, ${accounts.timeZone}) AS time_zone
    FROM ${messages}
    CROSS JOIN ${alerts} ON ${alerts.accountId} = ${messages.accountId}
      AND ${alerts.id} = 'alr_' || substr(${messages.id}, 5, length(${messages.id}) - 8)
    CROSS JOIN ${devices} ON ${devices.key} = ${alerts.deviceKey}
    CROSS JOIN ${accounts} ON ${accounts.id} = ${messages.accountId} AND ${accounts.disabled} = 0
    LEFT JOIN ${users} ON ${users.id} = ${USER_ID}
      AND ${users.accountId} = ${messages.accountId}
    WHERE ${messages.linkHash} = ${p.hash} AND ${messages.linkExpires} > ${p.now}
      AND CASE WHEN ${users.id} IS NOT NULL THEN ${IS_ACTIVE_USER}
        ELSE ${messages.userId} IS NULL AND ${CONTACT} IS NOT NULL END`,
)

/** Null for a link that nobody was sent, that has expired, or whose recipient may not use it. */
export const findLinkedAlert = async (
  db: Database,
  hash: string,
  now: number,
): Promise<LinkedAlert | null> => {
  const row = await readFirst(selectLinked(db, { hash, now }))
  return (
    row && {
      accountId: row.account_id,
      alertId: row.alert_id,
      deviceId: row.device_id,
      deviceName: row.device_name,
      name: row.name,
      text: row.text,
      dateTime: row.time,
      latitude: row.latitude,
      longitude: row.longitude,
      positionTime: row.position_time,
      positionSource: row.position_source,
      emergency: row.emergency === 1,
      acknowledgedAt: row.acknowledged_at,
      acknowledgedBy: row.acknowledger,
      cancelledAt: row.cancelled_at,
      known: {
        acknowledgedAt: row.acknowledged_at,
        acknowledgedBy: row.acknowledged_by,
        cancelledAt: row.cancelled_at,
        cancelledBy: row.cancelled_by,
      },
      recipient: row.user_id ?? row.contact ?? '',
      recipientName: row.user_name ?? row.contact ?? '',
      timeZone: row.time_zone,
    }
  )
}
