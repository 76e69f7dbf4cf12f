import { LAST_LOCATION, readLastLocation } from '../db/locations.ts'
import type { Database } from '../db/open.ts'
import { inGroup, type Viewer } from '../db/visibility.ts'
import { localDay } from '../domain/day.ts'
import type { Device } from '../domain/device.ts'
import { currentDay } from '../domain/license.ts'
import type { StoredLocation } from '../domain/location.ts'

/** A device as its cell has it, with what its state is told from. */
export interface StoredDevice {
  device: Device
  account: { day: string; timeZone: string }
  groups: string[]
  lastLocation: StoredLocation | null
  lastContact: number | null
}

interface Row {
  key: number
  id: string
  name: string
  name_key: string
  description: string
  min: string
  identifier: string | null
  model: string
  tags: string
  expires: number
  expiration_date: string | null
  daily_email_limit: number
  daily_sms_limit: number
  usage_date: string | null
  emails_sent: number
  sms_sent: number
  last_contact: number | null
  creation: number
  last_modified: number
  version: number
  time_zone: string
  day: string
  groups: string
  last_location: string | null
}

const COLUMNS = `d.*, a.time_zone, a.day, ${LAST_LOCATION},
  (SELECT json_group_array(group_id) FROM (SELECT group_id FROM group_devices WHERE device_key = d.key ORDER BY group_id)) AS groups`

/** A confined viewer learns of no group but its own. */
const toStored = (row: Row, { groupId }: Viewer, now: number): StoredDevice => {
  const account = { day: row.day, timeZone: row.time_zone }
  const today = currentDay(account, now)
  const isToday = row.usage_date === today
  const lastLocation = readLastLocation(row.last_location)
  return {
    account,
    groups: (JSON.parse(row.groups) as string[]).filter((id) => groupId === null || id === groupId),
    lastLocation,
    lastContact: Math.max(row.last_contact ?? 0, lastLocation?.receivedAt ?? 0) || null,
    device: {
      key: row.key,
      id: row.id,
      name: row.name,
      description: row.description,
      min: row.min,
      identifier: row.identifier,
      model: row.model,
      tags: JSON.parse(row.tags) as Record<string, string>,
      limits: {
        expires: row.expires === 1,
        expirationDate: row.expiration_date,
        dailyEmailLimit: row.daily_email_limit,
        dailySmsLimit: row.daily_sms_limit,
      },
      usage: {
        date: today,
        emailsSent: isToday ? row.emails_sent : 0,
        smsSent: isToday ? row.sms_sent : 0,
      },
      creation: row.creation,
      lastModified: row.last_modified,
      version: row.version,
    },
  }
}

export const findDevice = async (
  db: Database,
  viewer: Viewer,
  id: string,
  now: number,
): Promise<StoredDevice | null> => {
  const { accountId, groupId } = viewer
  const row = await db.$client
    .prepare(
      `SELECT ${COLUMNS} FROM devices d JOIN accounts a ON a.id = d.account_id WHERE d.id = ? AND d.account_id = ?${groupId === null ? '' : ` AND ${inGroup('d.key')}`}`,
    )
    .bind(id, accountId, ...(groupId === null ? [] : [groupId]))
    .first<Row>()
  return row && toStored(row, viewer, now)
}

export interface Listing {
  state?: 'active' | 'expired' | undefined
  group?: string | undefined
  q?: string | undefined
  sort: 'name' | '-name' | 'creation' | '-creation'
  after: (string | number)[] | null
  limit: number
}

export interface Page {
  devices: StoredDevice[]
  /** Where the next page begins, or null on the last. */
  next: (string | number)[] | null
}

/** A walk looks at this many rows at the most, so that a page costs the same however few of them fit its filters. */
const MAX_SCANNED = 5000
/** Up to this many matches of a prefix are sorted; beyond, matches are dense enough to be met on a walk. */
const MAX_SORTED = 2000
/** However much its devices' tags and last locations carry, a page of them fits into memory. */
const MAX_BYTES = 2_000_000
const BYTES = 'ifnull(length(last_location), 0) + length(tags)'

interface Part {
  sql: string
  values: (string | number)[]
}

const part = (sql: string, ...values: (string | number)[]): Part => ({ sql, values })
const PREFIX_END = '\u{10ffff}'
const matches = (column: string, prefix: string): Part =>
  part(`${column} >= ? AND ${column} < ?`, prefix, prefix + PREFIX_END)

const join = (parts: Part[], separator: string): Part => ({
  sql: parts.map(({ sql }) => sql).join(separator),
  values: parts.flatMap(({ values }) => values),
})

const isRare = async (db: D1Database, accountId: string, prefix: string): Promise<boolean> => {
  const probe = (column: string) => {
    const range = matches(column, prefix)
    return db
      .prepare(
        `SELECT count(*) AS n FROM (SELECT 1 FROM devices WHERE account_id = ? AND ${range.sql} LIMIT ${MAX_SORTED + 1})`,
      )
      .bind(accountId, ...range.values)
  }
  const counts = await db.batch<{ n: number }>([probe('name_key'), probe('identifier_key')])
  return counts.every(({ results }) => (results[0]?.n ?? 0) <= MAX_SORTED)
}

/** The rows that a page is chosen from: a group's, those that a rare prefix finds, or a stretch of the account's own order. */
const source = async (
  db: D1Database,
  { accountId, groupId }: Viewer,
  { group, q }: Listing,
  inOrder: Part,
  order: string,
): Promise<{ from: Part; walks: boolean }> => {
  const one = groupId ?? group
  if (one !== undefined) {
    return {
      from: part(
        '(SELECT device_key AS key FROM group_devices WHERE group_id = ?) m CROSS JOIN devices d ON d.key = m.key',
        one,
      ),
      walks: false,
    }
  }
  if (q && (await isRare(db, accountId, q))) {
    const [byName, byIdentifier] = [matches('name_key', q), matches('identifier_key', q)]
    const union = `(SELECT key FROM devices WHERE account_id = ? AND ${byName.sql} UNION SELECT key FROM devices WHERE account_id = ? AND ${byIdentifier.sql})`
    return {
      from: part(
        `${union} m CROSS JOIN devices d ON d.key = m.key`,
        accountId,
        ...byName.values,
        accountId,
        ...byIdentifier.values,
      ),
      walks: false,
    }
  }
  const stretch = `(SELECT * FROM devices d WHERE d.account_id = ? AND ${inOrder.sql} ORDER BY ${order} LIMIT ${MAX_SCANNED}) d`
  return { from: part(stretch, accountId, ...inOrder.values), walks: true }
}

const readToday = async (db: D1Database, accountId: string, now: number): Promise<string> => {
  const account = await db
    .prepare('SELECT day, time_zone AS timeZone FROM accounts WHERE id = ?')
    .bind(accountId)
    .first<{ day: string; timeZone: string }>()
  return account ? currentDay(account, now) : localDay(now, 'UTC')
}

export const listDevices = async (
  database: Database,
  owner: Viewer,
  listing: Listing,
  now: number,
): Promise<Page> => {
  const db = database.$client
  const { state, q, sort, after, limit } = listing
  const column = sort.endsWith('name') ? 'd.name_key' : 'd.creation'
  const [direction, beyond] = sort.startsWith('-') ? ['DESC', '<'] : ['ASC', '>']
  const order = `${column} ${direction}, d.key ${direction}`
  const inOrder = after ? part(`(${column}, d.key) ${beyond} (?, ?)`, ...after) : part('1')
  const { from, walks } = await source(db, owner, listing, inOrder, order)

  const filters = [part('d.account_id = ?', owner.accountId), inOrder]
  if (q)
    filters.push(
      part(
        `((${matches('d.name_key', q).sql}) OR (${matches('d.identifier_key', q).sql}))`,
        q,
        q + PREFIX_END,
        q,
        q + PREFIX_END,
      ),
    )
  if (state) {
    const today = await readToday(db, owner.accountId, now)
    filters.push(
      part(state === 'expired' ? 'd.ends <= ?' : '(d.ends IS NULL OR d.ends > ?)', today),
    )
  }
  const where = join(filters, ' AND ')
  const inPage = order.replaceAll('d.', '')
  const chosen = db
    .prepare(
      `SELECT * FROM (
         SELECT *, sum(${BYTES}) OVER (ORDER BY ${inPage} ROWS UNBOUNDED PRECEDING) AS bytes FROM (
           SELECT ${COLUMNS} FROM ${from.sql} JOIN accounts a ON a.id = d.account_id WHERE ${where.sql} ORDER BY ${order} LIMIT ?))
       WHERE bytes - (${BYTES}) < ${MAX_BYTES} ORDER BY ${inPage}`,
    )
    .bind(...from.values, ...where.values, limit + 1)
  const walkEnd = db
    .prepare(
      `SELECT ${column} AS place, d.key FROM devices d WHERE d.account_id = ? AND ${inOrder.sql} ORDER BY ${order} LIMIT 1 OFFSET ${MAX_SCANNED - 1}`,
    )
    .bind(owner.accountId, ...inOrder.values)
  const filtered = walks && (state !== undefined || !!q)
  const [rows, ends] = filtered ? await db.batch([chosen, walkEnd]) : [await chosen.all()]
  const found = (rows?.results ?? []) as unknown as (Row & { bytes: number })[]
  const page = found.slice(0, limit)
  const devices = page.map((row) => toStored(row, owner, now))
  const last = page.at(-1)
  if (last && (found.length > limit || last.bytes >= MAX_BYTES))
    return { devices, next: [sort.endsWith('name') ? last.name_key : last.creation, last.key] }
  const end = ends?.results[0] as { place: string | number; key: number } | undefined
  return { devices, next: end ? [end.place, end.key] : null }
}

/** To a confined viewer there is one group. */
export const groupExists = async (
  db: Database,
  { accountId, groupId }: Viewer,
  id: string,
): Promise<boolean> =>
  (groupId === null || groupId === id) &&
  (await db.$client
    .prepare('SELECT 1 FROM groups WHERE id = ? AND account_id = ?')
    .bind(id, accountId)
    .first()) !== null
