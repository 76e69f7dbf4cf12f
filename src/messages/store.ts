import { and, eq, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { readScan } from '../db/boundedScan.ts'
import type { Database } from '../db/open.ts'
import { isInGroup, type Viewer } from '../db/queries/visibility.ts'
import { alerts, devices, messages } from '../db/schema.ts'
import { literal, readFirst, statement } from '../db/statement.ts'
import {
  alertIdOf,
  type Channel,
  type MessageKind,
  type MessageSummary,
  type Status,
} from '../domain/message/alert.ts'

/** A message of an alert, as stored in its cell. */
export interface StoredMessage extends MessageSummary {
  alertId: string
  deviceId: string
  isEmergency: boolean
  subject: string
  /** Has a mark in place of its link. */
  text: string
  /** Only where the provider sends nothing. */
  link: string | null
  provider: string | null
  attempts: number
  changed: number
}

/** A message of a list. An account notice has neither alert nor device. */
export type ListedMessage = Omit<StoredMessage, 'alertId' | 'deviceId'> & {
  alertId: string | null
  deviceId: string | null
}

interface Row {
  id: string
  device_id: string
  emergency: number | null
  kind: MessageKind
  channel: Channel
  recipient: string
  subject: string
  text: string
  link: string | null
  status: Status
  reason: string | null
  reset_at: number | null
  provider: string | null
  attempts: number
  changed: number
}
type ListedRow = Omit<Row, 'device_id'> & { device_id: string | null }

const toMessage = ({ recipient, reset_at, device_id, emergency, ...row }: Row): StoredMessage => ({
  id: row.id,
  kind: row.kind,
  channel: row.channel,
  to: recipient,
  status: row.status,
  reason: row.reason,
  resetAt: reset_at,
  alertId: alertIdOf(row.id),
  deviceId: device_id,
  isEmergency: emergency === 1,
  subject: row.subject,
  text: row.text,
  link: row.link,
  provider: row.provider,
  attempts: row.attempts,
  changed: row.changed,
})

const toListed = ({ device_id, ...row }: ListedRow): ListedMessage =>
  device_id === null
    ? { ...toMessage({ ...row, device_id: '' }), alertId: null, deviceId: null }
    : toMessage({ ...row, device_id })

const [m, d] = [alias(messages, 'm'), alias(devices, 'd')]

const EMERGENCY = sql`(SELECT ${alerts.emergency} FROM ${alerts}
  WHERE ${alerts.id} = 'alr_' || substr(${m.id}, 5, length(${m.id}) - 8))`
const COLUMNS = sql`${m.id}, ${m.kind}, ${m.channel}, ${m.recipient}, ${m.subject}, ${m.text}, ${m.link},
  ${m.status}, ${m.reason}, ${m.resetAt}, ${m.provider}, ${m.attempts}, ${m.changed}, ${d.id} AS device_id,
  ${EMERGENCY} AS emergency`

const IS_NO_NOTICE = sql`${m.kind} <> 'notice'`

export const findMessage = async (
  db: Database,
  { accountId, groupId }: Viewer,
  id: string,
  includesNotices: boolean,
): Promise<StoredMessage | null> => {
  const isVisible = and(
    groupId === null ? undefined : isInGroup(m.deviceKey, groupId),
    includesNotices ? undefined : IS_NO_NOTICE,
  )
  const row = await readFirst(
    statement<Row>(
      db,
      sql`SELECT ${COLUMNS} FROM ${messages} ${m} JOIN ${devices} ${d} ON ${d.key} = ${m.deviceKey}
        WHERE ${and(eq(m.accountId, accountId), eq(m.id, id), isVisible)}`,
    ),
  )
  return row && toMessage(row)
}

export interface MessageListing {
  status?: Status | undefined
  channel?: Channel | undefined
  deviceId?: string | undefined
  alertId?: string | undefined
  /** Whether the list has account notices too. */
  includesNotices: boolean
  /** The id that the page before ended with. */
  after: string | undefined
  limit: number
}

export interface MessagePage {
  messages: ListedMessage[]
  next: [id: string] | null
}

const FIRST_ID = 'msg_'
const LAST_ID = 'msg_~'

/** Messages from `after` on, newest alert first. Those of one alert are a range of the key. */
const selectRange = (accountId: string, { alertId, after }: MessageListing): SQL => {
  const prefix = alertId === undefined ? null : `msg_${alertId.slice(4)}`
  const end = prefix === null ? LAST_ID : `${prefix}~`
  // Only the id of an existing alert selects a range: a part of one would match other alerts too.
  const ofAlert =
    alertId === undefined
      ? sql``
      : sql`(SELECT 1 FROM ${alerts}
          WHERE ${alerts.id} = ${alertId} AND ${alerts.accountId} = ${accountId}) CROSS JOIN `
  const before = after !== undefined && after < end ? after : end
  return sql`SELECT ${m}.* FROM ${ofAlert}${messages} ${m} WHERE ${m.accountId} = ${accountId}
    AND ${m.id} > ${prefix ?? FIRST_ID} AND ${m.id} < ${before} ORDER BY ${m.id} DESC`
}

export const listMessages = async (
  db: Database,
  { accountId, groupId }: Viewer,
  listing: MessageListing,
): Promise<MessagePage> => {
  const { status, channel, deviceId, includesNotices, limit } = listing
  const range = selectRange(accountId, listing)
  const filters = [
    status === undefined ? [] : eq(m.status, status),
    channel === undefined ? [] : eq(m.channel, channel),
    deviceId === undefined ? [] : eq(d.id, deviceId),
    groupId === null ? [] : isInGroup(m.deviceKey, groupId),
    includesNotices ? [] : IS_NO_NOTICE,
  ].flat()
  const hasDevice = sql`${d.key} IS NOT NULL`
  const isShown = includesNotices ? sql`(${hasDevice} OR ${m.deviceKey} = 0)` : hasDevice
  const { rows, end } = await readScan(db, {
    page: (scanned) =>
      statement<ListedRow>(
        db,
        sql`SELECT ${COLUMNS} FROM (${range} LIMIT ${literal(scanned)}) ${m}
          LEFT JOIN ${devices} ${d} ON ${d.key} = ${m.deviceKey}
          WHERE ${and(isShown, ...filters)} ORDER BY ${m.id} DESC LIMIT ${limit + 1}`,
      ),
    end: (scanned) =>
      statement<{ id: string }>(
        db,
        sql`SELECT id FROM (${range} LIMIT 1 OFFSET ${literal(scanned - 1)})`,
      ),
    // Without filters almost every message that is read is shown, even without notices.
    isFiltered: filters.length > (includesNotices ? 0 : 1),
    limit,
  })
  const page = rows.slice(0, limit).map(toListed)
  const last = rows.length > limit ? page.at(-1) : end
  return { messages: page, next: last ? [last.id] : null }
}
