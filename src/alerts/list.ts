import { readScan } from '../db/boundedScan.ts'
import type { Database } from '../db/open.ts'
import { inGroup, type Viewer } from '../db/visibility.ts'
import type { StoredAlert } from './present.ts'
import { type AlertRow, deliveriesOf, toAlert } from './store.ts'

export interface Listing {
  /** Of one device, else of the whole account. */
  deviceId: string | null
  from: number
  to: number
  name: string | undefined
  sort: 'dateTime' | '-dateTime'
  after: (string | number)[] | null
  limit: number
}

export interface AlertPage {
  alerts: StoredAlert[]
  next: (string | number)[] | null
}

interface Part {
  sql: string
  values: (string | number)[]
}

const part = (sql: string, ...values: (string | number)[]): Part => ({ sql, values })

/** A walk with filters looks at this many alerts at the most, however few of them the caller may see. */
const MAX_SCANNED = 5000
/** A page holds about this many deliveries at the most, however many its alerts have. */
const MAX_DELIVERIES = 5000

const seen = (key: string, groupId: string | null): Part =>
  groupId === null ? part('1') : part(inGroup(key), groupId)

const cutByDeliveries = (rows: AlertRow[]): AlertRow[] => {
  let deliveries = 0
  const over = rows.findIndex(({ messages }, index) => {
    deliveries += messages
    return index > 0 && deliveries > MAX_DELIVERIES
  })
  return over === -1 ? rows : rows.slice(0, over)
}

/** From where the last page ended, which lies within the span: with both as bounds, the index is read from the span's own end again. */
const spanOf = ({
  from,
  to,
  sort,
  after,
}: Pick<Listing, 'from' | 'to' | 'sort' | 'after'>): Part[] => {
  if (!after) return [part('a.time BETWEEN ? AND ?', from, to)]
  if (sort === 'dateTime')
    return [part('(a.time, a.id) > (?, ?)', ...after), part('a.time <= ?', to)]
  return [part('(a.time, a.id) < (?, ?)', ...after), part('a.time >= ?', from)]
}

/** The alerts that are looked at, in their order: a stretch of one index. Only the account's has names in it. */
const stretchOf = (
  { accountId }: Viewer,
  deviceKey: number | null,
  { from, to, name, sort, after }: Listing,
  order: string,
): Part => {
  const parts = [
    deviceKey === null ? part('a.account_id = ?', accountId) : part('a.device_key = ?', deviceKey),
    ...(name === undefined || deviceKey !== null ? [] : [part('a.name = ?', name)]),
    ...spanOf({ from, to, sort, after }),
  ]
  return part(
    `SELECT * FROM alerts a WHERE ${parts.map(({ sql }) => sql).join(' AND ')} ORDER BY ${order}`,
    ...parts.flatMap(({ values }) => values),
  )
}

const findKey = async (
  db: D1Database,
  { accountId, groupId }: Viewer,
  deviceId: string,
): Promise<number | null> => {
  const visible = seen('d.key', groupId)
  return db
    .prepare(`SELECT d.key FROM devices d WHERE d.id = ? AND d.account_id = ? AND ${visible.sql}`)
    .bind(deviceId, accountId, ...visible.values)
    .first<number>('key')
}

/** Null where there is no such device that the caller may see. */
export const listAlerts = async (
  { $client: db }: Database,
  viewer: Viewer,
  listing: Listing,
): Promise<AlertPage | null> => {
  const { deviceId, name, sort, limit } = listing
  const deviceKey = deviceId === null ? null : await findKey(db, viewer, deviceId)
  if (deviceId !== null && deviceKey === null) return null
  const direction = sort === 'dateTime' ? 'ASC' : 'DESC'
  const order = `a.time ${direction}, a.id ${direction}`
  const stretch = stretchOf(viewer, deviceKey, listing, order)
  const filters = [
    ...(viewer.groupId === null ? [] : [part(inGroup('a.device_key'), viewer.groupId)]),
    // Inside the stretch it would be looked for beyond any bound.
    ...(name === undefined || deviceKey === null ? [] : [part('a.name = ?', name)]),
  ]
  // Without filters little is passed over, and looking for the end of a long walk would cost every page 5,000 rows.
  const isLong = filters.length > 0
  const walked = isLong ? MAX_SCANNED : limit + 1
  const rows = db
    .prepare(
      `SELECT a.*, d.id AS device_id FROM (${stretch.sql} LIMIT ${walked}) a JOIN devices d ON d.key = a.device_key
       WHERE ${['1', ...filters.map(({ sql }) => sql)].join(' AND ')} ORDER BY ${order} LIMIT ?`,
    )
    .bind(...stretch.values, ...filters.flatMap(({ values }) => values), limit + 1)
  const walkEnd = db.prepare(`${stretch.sql} LIMIT 1 OFFSET ${walked - 1}`).bind(...stretch.values)
  const { found, end } = await readScan<AlertRow, AlertRow>(
    db,
    { rows, end: walkEnd, isLong },
    limit,
  )
  const page = cutByDeliveries(found.slice(0, limit))
  const deliveries = await deliveriesOf(db, viewer.accountId, page)
  const last = page.length < found.length ? page.at(-1) : end
  return {
    alerts: page.map((row) => toAlert(row, deliveries.get(row.id) ?? [])),
    next: last ? [last.time, last.id] : null,
  }
}
