import { readScan } from '../db/boundedScan.ts'
import type { Database } from '../db/open.ts'
import { inGroup, type Viewer } from '../db/visibility.ts'
import { alertIdOf, type Channel, type Delivery, type Status } from '../domain/alert.ts'

/** A message as its cell has it. */
export interface StoredMessage extends Delivery {
  alertId: string
  deviceId: string
  alertName: string
  subject: string
  text: string
  provider: string | null
  attempts: number
  changed: number
}

/** One of a list, where what is told of the account itself has neither alert nor device. */
export type ListedMessage = Omit<StoredMessage, 'alertId' | 'deviceId'> & {
  alertId: string | null
  deviceId: string | null
}

interface Row {
  id: string
  device_id: string
  alert_name: string | null
  channel: Channel
  recipient: string
  subject: string
  text: string
  status: Status
  reason: string | null
  reset_at: number | null
  provider: string | null
  attempts: number
  changed: number
}

const toMessage = ({ recipient, reset_at, device_id, alert_name, ...row }: Row): StoredMessage => ({
  id: row.id,
  channel: row.channel,
  to: recipient,
  status: row.status,
  reason: row.reason,
  resetAt: reset_at,
  alertId: alertIdOf(row.id),
  deviceId: device_id,
  alertName: alert_name ?? '',
  subject: row.subject,
  text: row.text,
  provider: row.provider,
  attempts: row.attempts,
  changed: row.changed,
})

const toListed = ({
  device_id,
  ...row
}: Omit<Row, 'device_id'> & { device_id: string | null }): ListedMessage =>
  device_id === null
    ? { ...toMessage({ ...row, device_id: '' }), alertId: null, deviceId: null }
    : toMessage({ ...row, device_id })

const COLUMNS = `m.id, m.channel, m.recipient, m.subject, m.text, m.status, m.reason, m.reset_at, m.provider, m.attempts, m.changed,
  d.id AS device_id, (SELECT name FROM alerts WHERE id = 'alr_' || substr(m.id, 5, length(m.id) - 8)) AS alert_name`

export const findMessage = async (
  { $client: db }: Database,
  { accountId, groupId }: Viewer,
  id: string,
): Promise<StoredMessage | null> => {
  const row = await db
    .prepare(
      `SELECT ${COLUMNS} FROM messages m JOIN devices d ON d.key = m.device_key
       WHERE m.account_id = ? AND m.id = ?${groupId === null ? '' : ` AND ${inGroup('m.device_key')}`}`,
    )
    .bind(accountId, id, ...(groupId === null ? [] : [groupId]))
    .first<Row>()
  return row && toMessage(row)
}

export interface Listing {
  status: Status | undefined
  channel: Channel | undefined
  deviceId: string | undefined
  alertId: string | undefined
  /** Whether to show what is told of the account itself too. */
  ofAccount: boolean
  after: string | undefined
  limit: number
}

export interface MessagePage {
  messages: ListedMessage[]
  next: [id: string] | null
}

/** A walk with filters looks at this many messages at the most, however few of them are asked for. */
const MAX_SCANNED = 5000
const FIRST = 'msg_'
const LAST = 'msg_~'

/** Newest alert first. An alert's messages are one stretch of the key; the rest is a walk. */
export const listMessages = async (
  { $client: db }: Database,
  viewer: Viewer,
  listing: Listing,
): Promise<MessagePage> => {
  const { status, channel, deviceId, alertId, ofAccount, after, limit } = listing
  const prefix = alertId === undefined ? null : `msg_${alertId.slice(4)}`
  const upTo = prefix === null ? LAST : `${prefix}~`
  // The beginning of an id would be a longer stretch: only a whole one finds its alert, and so any message.
  const whole =
    alertId === undefined ? '' : '(SELECT 1 FROM alerts WHERE id = ? AND account_id = ?) CROSS JOIN'
  const span = [
    ...(alertId === undefined ? [] : [alertId, viewer.accountId]),
    viewer.accountId,
    prefix ?? FIRST,
    after !== undefined && after < upTo ? after : upTo,
  ]
  const stretch = `SELECT m.* FROM ${whole} messages m WHERE m.account_id = ? AND m.id > ? AND m.id < ? ORDER BY m.id DESC`
  const filters = [
    ...(status === undefined ? [] : [{ sql: 'm.status = ?', value: status }]),
    ...(channel === undefined ? [] : [{ sql: 'm.channel = ?', value: channel }]),
    ...(deviceId === undefined ? [] : [{ sql: 'd.id = ?', value: deviceId }]),
    ...(viewer.groupId === null ? [] : [{ sql: inGroup('m.device_key'), value: viewer.groupId }]),
  ]
  const shown = [
    ofAccount ? '(d.key IS NOT NULL OR m.device_key = 0)' : 'd.key IS NOT NULL',
    ...filters.map(({ sql }) => sql),
  ]
  // Without filters little is passed over, and looking for the end of a long walk would cost every page 5,000 rows.
  const isLong = filters.length > 0
  const walked = isLong ? MAX_SCANNED : limit + 1
  const rows = db
    .prepare(
      `SELECT ${COLUMNS} FROM (${stretch} LIMIT ${walked}) m LEFT JOIN devices d ON d.key = m.device_key
       WHERE ${shown.join(' AND ')} ORDER BY m.id DESC LIMIT ?`,
    )
    .bind(...span, ...filters.map(({ value }) => value), limit + 1)
  const walkEnd = db
    .prepare(`SELECT id FROM (${stretch} LIMIT 1 OFFSET ${walked - 1})`)
    .bind(...span)
  const { found, end } = await readScan<Parameters<typeof toListed>[0], { id: string }>(
    db,
    { rows, end: walkEnd, isLong },
    limit,
  )
  const messages = found.slice(0, limit).map(toListed)
  const last = found.length > limit ? messages.at(-1) : end
  return { messages, next: last ? [last.id] : null }
}
