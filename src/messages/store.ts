import { and, eq, type SQL, sql } from 'drizzle-orm'
import { alias, type SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { readScan } from '../db/boundedScan.ts'
import type { Database } from '../db/open.ts'
import { byId, type Page, toPage } from '../db/page.ts'
import { isInGroup, type Viewer } from '../db/queries/visibility.ts'
import { type InferRow, select } from '../db/query.ts'
import { alerts, devices, messages } from '../db/schema.ts'
import { literal, readFirst, statement } from '../db/statement.ts'
import {
  type Channel,
  type MessageSummary,
  type Status,
  subjectOf,
} from '../domain/message/alert.ts'

/** A message of an alert or a command, as stored in its cell. */
export interface StoredMessage extends MessageSummary {
  alertId: string | null
  commandId: string | null
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
export type ListedMessage = Omit<StoredMessage, 'deviceId'> & { deviceId: string | null }

const [m, d] = [alias(messages, 'm'), alias(devices, 'd')]
const holder = alias(messages, 'holder')

/** A subject or a text, which another message of the alert may have. */
const shared = (own: SQLiteColumn, held: SQLiteColumn) =>
  sql<string>`ifnull((SELECT ${held} FROM ${messages} ${holder}
    WHERE ${holder.accountId} = ${m.accountId} AND ${holder.id} = ${m.textOf}), ${own})`

const EMERGENCY = sql<number | null>`(SELECT ${alerts.emergency} FROM ${alerts}
  WHERE ${alerts.id} = 'alr_' || substr(${m.id}, 5, length(${m.id}) - 8))`
const COLUMNS = {
  id: m.id,
  kind: m.kind,
  channel: m.channel,
  to: m.recipient,
  subject: shared(m.subject, holder.subject),
  text: shared(m.text, holder.text),
  link: m.link,
  status: m.status,
  reason: m.reason,
  resetAt: m.resetAt,
  provider: m.provider,
  attempts: m.attempts,
  changed: m.changed,
  deviceId: d.id,
  emergency: EMERGENCY,
}
/** From messages joined with devices, which a list does only for those that have one. */
const LISTED_COLUMNS = { ...COLUMNS, deviceId: sql<string | null>`${d.id}` }

const toMessage = ({ emergency, ...row }: InferRow<typeof COLUMNS>): StoredMessage => ({
  ...row,
  ...subjectOf(row.id, row.kind),
  isEmergency: emergency === 1,
})

const toListed = ({ deviceId, ...row }: InferRow<typeof LISTED_COLUMNS>): ListedMessage =>
  deviceId === null
    ? { ...toMessage({ ...row, deviceId: '' }), alertId: null, deviceId }
    : toMessage({ ...row, deviceId })

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
    statement(
      db,
      select(
        COLUMNS,
        sql`FROM ${messages} ${m} JOIN ${devices} ${d} ON ${d.key} = ${m.deviceKey}
          WHERE ${and(eq(m.accountId, accountId), eq(m.id, id), isVisible)}`,
      ),
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
): Promise<Page<ListedMessage>> => {
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
      statement(
        db,
        select(
          LISTED_COLUMNS,
          sql`FROM (${range} LIMIT ${literal(scanned)}) ${m}
            LEFT JOIN ${devices} ${d} ON ${d.key} = ${m.deviceKey}
            WHERE ${and(isShown, ...filters)} ORDER BY ${m.id} DESC LIMIT ${limit + 1}`,
        ),
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
  return toPage(rows.map(toListed), limit, byId, end)
}
