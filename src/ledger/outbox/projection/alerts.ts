import { type Placeholder, type SQL, sql } from 'drizzle-orm'
import { insertSelect, updateSet } from '../../../db/query.ts'
import { alerts, devices } from '../../../db/schema.ts'
import { compile, type Placeholders } from '../../../db/statement.ts'
import { type Alert, type AlertState, NEW_ALERT_STATE } from '../../../domain/message/alert.ts'
import type { PostedAs, Write } from '../outbox.ts'

/* How alerts enter the cell. Each statement may run twice, and none is for a deleted device. */

export const hasDevice = (key: Placeholder): SQL =>
  sql`EXISTS (SELECT 1 FROM ${devices} WHERE ${devices.key} = ${key})`

type NewAlert = Required<Alert> & Omit<PostedAs<'alert'>, 'alert'> & { accountId: string }

const fillAlert = compile((p: Placeholders<NewAlert>) =>
  insertSelect(
    alerts,
    {
      accountId: p.accountId,
      deviceKey: p.key,
      id: p.id,
      time: p.dateTime,
      name: p.name,
      text: p.text,
      latitude: p.latitude,
      longitude: p.longitude,
      positionTime: p.positionTime,
      positionSource: p.positionSource,
      emergency: p.emergency,
      late: p.late,
      receivedAt: p.at,
      messages: p.messages,
      ruleId: p.ruleId,
      zoneId: p.zoneId,
    },
    sql`WHERE ${hasDevice(p.key)} ON CONFLICT DO NOTHING`,
  ),
)

/** An effect that was posted before alerts had these members has none. */
const DEFAULTS = {
  positionTime: null,
  positionSource: 'none',
  emergency: false,
  late: false,
  ruleId: null,
  zoneId: null,
  at: null,
}

export const insertAlert: Write<'alert'> = (db, accountId, { alert, ...effect }) => [
  fillAlert(db, { ...DEFAULTS, ...alert, ...effect, accountId }),
]

type State = AlertState & {
  accountId: string
  id: string
  updates: string | null
  messages: number | null
  seq: number
}

/** Who acknowledged and cancelled never changes again; the rest is as the latest effect has it. */
const fillState = compile((p: Placeholders<State>) =>
  updateSet(
    alerts,
    {
      acknowledgedBy: sql`iif(${alerts.acknowledgedAt} IS NULL, ${p.acknowledgedBy},
        ${alerts.acknowledgedBy})`,
      acknowledgedAt: sql`ifnull(${alerts.acknowledgedAt}, ${p.acknowledgedAt})`,
      cancelledBy: sql`iif(${alerts.cancelledAt} IS NULL, ${p.cancelledBy}, ${alerts.cancelledBy})`,
      cancelledAt: sql`ifnull(${alerts.cancelledAt}, ${p.cancelledAt})`,
      updates: sql`ifnull(${p.updates}, ${alerts.updates})`,
      messages: sql`ifnull(${p.messages}, ${alerts.messages})`,
      seq: p.seq,
    },
    sql`${alerts.id} = ${p.id} AND ${alerts.accountId} = ${p.accountId} AND ${alerts.seq} < ${p.seq}`,
  ),
)

export const updateAlert: Write<'alert-state'> = (db, accountId, { updates, ...effect }) => {
  const given = { accountId, updates: updates ? JSON.stringify(updates) : null }
  return [fillState(db, { ...NEW_ALERT_STATE, messages: null, ...effect, ...given })]
}
