import { type Placeholder, type SQL, sql } from 'drizzle-orm'
import { insertSelect, updateSet } from '../../../db/query.ts'
import { alertLog, alerts, devices } from '../../../db/schema.ts'
import { compile, type Placeholders } from '../../../db/statement.ts'
import {
  type Alert,
  type AlertLogEntry,
  type AlertState,
  NEW_ALERT_STATE,
} from '../../../domain/message/alert.ts'
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
      raisedBy: p.raisedBy,
      test: p.test,
      place: p.place,
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
  raisedBy: null,
  test: false,
  place: null,
  at: null,
}

export const insertAlert: Write<'alert'> = (db, accountId, { alert, ...effect }) => [
  fillAlert(db, { ...DEFAULTS, ...alert, ...effect, accountId }),
]

interface Changed {
  accountId: string
  id: string
  seq: number
}

const isChanged = (p: Placeholders<Changed>) =>
  sql`${alerts.id} = ${p.id} AND ${alerts.accountId} = ${p.accountId} AND ${alerts.seq} < ${p.seq}`

type Members = Changed & { updates: string | null; messages: number | null }

const fillMembers = compile((p: Placeholders<Members>) =>
  updateSet(
    alerts,
    {
      updates: sql`ifnull(${p.updates}, ${alerts.updates})`,
      messages: sql`ifnull(${p.messages}, ${alerts.messages})`,
      seq: p.seq,
    },
    isChanged(p),
  ),
)

const fillState = compile((p: Placeholders<Changed & AlertState>) =>
  updateSet(
    alerts,
    {
      acknowledgedAt: p.acknowledgedAt,
      acknowledgedBy: p.acknowledgedBy,
      resolvedAt: p.resolvedAt,
      resolvedBy: p.resolvedBy,
      cancelledAt: p.cancelledAt,
      cancelledBy: p.cancelledBy,
      reopened: p.reopened,
      notes: p.notes,
    },
    isChanged(p),
  ),
)

const fillLog = compile((p: Placeholders<Changed & AlertLogEntry>) =>
  insertSelect(
    alertLog,
    {
      accountId: p.accountId,
      alertId: p.id,
      seq: p.seq,
      at: p.at,
      action: p.action,
      by: p.by,
      text: p.text,
    },
    sql`WHERE EXISTS (SELECT 1 FROM ${alerts}
        WHERE ${alerts.id} = ${p.id} AND ${alerts.accountId} = ${p.accountId})
      ON CONFLICT DO NOTHING`,
  ),
)

/** An effect that was posted before alerts could be reopened has its state in itself. */
const stateOf = (effect: PostedAs<'alert-state'> & Partial<AlertState>): AlertState | undefined => {
  const { state, acknowledgedAt, acknowledgedBy = null } = effect
  if (state || acknowledgedAt == null) return state
  const { cancelledAt = null, cancelledBy = null } = effect
  return { ...NEW_ALERT_STATE, acknowledgedAt, acknowledgedBy, cancelledAt, cancelledBy }
}

export const updateAlert: Write<'alert-state'> = (db, accountId, effect) => {
  const { id, seq, updates, messages = null, log } = effect
  const changed = { accountId, id, seq }
  const state = stateOf(effect)
  return [
    ...(state ? [fillState(db, { ...state, ...changed })] : []),
    ...(log ? [fillLog(db, { ...log, ...changed })] : []),
    fillMembers(db, { ...changed, messages, updates: updates ? JSON.stringify(updates) : null }),
  ]
}
