import { and, isNotNull, isNull, type SQL, sql } from 'drizzle-orm'
import { readScan } from '../db/boundedScan.ts'
import type { Database } from '../db/open.ts'
import {
  type DeviceRef,
  isInGroup,
  isVisibleDevice,
  type Viewer,
} from '../db/queries/visibility.ts'
import { select } from '../db/query.ts'
import { alerts, devices } from '../db/schema.ts'
import {
  compile,
  compileVariants,
  literal,
  type Placeholders,
  placeholders,
  readFirst,
} from '../db/statement.ts'
import {
  type AlertStateName,
  MAX_SEARCHED_ALERTS,
  MAX_SPAN_ALERTS,
} from '../domain/message/alert.ts'
import type { Sort } from './forms.ts'
import type { StoredAlert } from './present.ts'
import { ALERT_COLUMNS, type AlertRow, a, readSummaries, toAlert } from './store.ts'

/** The alerts of a span. */
export interface AlertSpan {
  /** Null for the alerts of the whole account. */
  deviceId: string | null
  from: number
  to: number
  name: string | undefined
  acknowledged?: boolean | undefined
  emergency?: boolean | undefined
  state?: AlertStateName | undefined
}

export interface Listing extends AlertSpan {
  sort: Sort
  /** The time and id that the page before ended with. */
  after: (string | number)[] | null
  limit: number
}

export interface AlertPage {
  alerts: StoredAlert[]
  next: [time: number, id: string] | null
}

/** A page holds about this many deliveries at most, however many its alerts have. */
const MAX_DELIVERIES = 5000

const cutByDeliveries = (rows: AlertRow[]): AlertRow[] => {
  let deliveries = 0
  const firstOver = rows.findIndex(({ messages }, index) => {
    deliveries += messages
    return index > 0 && deliveries > MAX_DELIVERIES
  })
  return firstOver === -1 ? rows : rows.slice(0, firstOver)
}

/** What the text of a listing's statements depends on. */
interface Variant {
  isOfDevice: boolean
  hasName: boolean
  acknowledged: boolean | undefined
  emergency: boolean | undefined
  state: AlertStateName | undefined
  isConfined: boolean
  hasAfter: boolean
  sort: Sort
}

interface Values {
  accountId: string
  groupId: string | null
  deviceKey: number | null
  from: number
  to: number
  name: string | null
  afterTime: number | null
  afterId: string | null
  scanned: number
  /** One more than the page has, which tells whether there are more. */
  rows: number
}

const p = placeholders<keyof Values>()

/**
 * A later page is bounded by its cursor alone: with two lower bounds SQLite would scan from the
 * span's.
 */
const spanOf = ({ hasAfter, sort }: Variant): SQL => {
  if (!hasAfter) return sql`${a.time} BETWEEN ${p.from} AND ${p.to}`
  return sort === 'dateTime'
    ? sql`(${a.time}, ${a.id}) > (${p.afterTime}, ${p.afterId}) AND ${a.time} <= ${p.to}`
    : sql`(${a.time}, ${a.id}) < (${p.afterTime}, ${p.afterId}) AND ${a.time} >= ${p.from}`
}

const orderOf = ({ sort }: Variant): SQL =>
  sort === 'dateTime' ? sql`${a.time} ASC, ${a.id} ASC` : sql`${a.time} DESC, ${a.id} DESC`

/**
 * The alerts that are scanned: a range of one index. Only the account's index has the name in it.
 */
const rangeOf = (variant: Variant): SQL => {
  const { isOfDevice, hasName } = variant
  const where = and(
    isOfDevice ? sql`${a.deviceKey} = ${p.deviceKey}` : sql`${a.accountId} = ${p.accountId}`,
    hasName && !isOfDevice ? sql`${a.name} = ${p.name}` : undefined,
    spanOf(variant),
  )
  return sql`SELECT * FROM ${alerts} ${a} WHERE ${where} ORDER BY ${orderOf(variant)}`
}

const IS_IN_STATE: Record<AlertStateName, SQL> = {
  open: isNull(a.acknowledgedAt),
  acknowledged: sql`${a.acknowledgedAt} IS NOT NULL AND ${a.resolvedAt} IS NULL
    AND ${a.cancelledAt} IS NULL`,
  resolved: isNotNull(a.resolvedAt),
  cancelled: isNotNull(a.cancelledAt),
}

/**
 * Filters on the scanned alerts. The name of a device's alerts is one: the scan must stay bounded.
 */
const filtersOf = (variant: Variant): SQL[] => {
  const { isOfDevice, hasName, isConfined, acknowledged, emergency, state } = variant
  return [
    ...(isConfined ? [isInGroup(a.deviceKey, p.groupId)] : []),
    ...(hasName && isOfDevice ? [sql`${a.name} = ${p.name}`] : []),
    ...(acknowledged === true ? [isNotNull(a.acknowledgedAt)] : []),
    ...(acknowledged === false ? [isNull(a.acknowledgedAt)] : []),
    ...(state === undefined ? [] : [IS_IN_STATE[state]]),
    ...(emergency === undefined ? [] : [sql`${a.emergency} = ${literal(emergency ? 1 : 0)}`]),
  ]
}

const selectPage = compileVariants((variant: Variant, _: Placeholders<Values>) =>
  select(
    ALERT_COLUMNS,
    sql`FROM (${rangeOf(variant)} LIMIT ${p.scanned}) ${a}
      JOIN ${devices} ON ${devices.key} = ${a.deviceKey}
      WHERE ${and(sql`true`, ...filtersOf(variant))}
      ORDER BY ${orderOf(variant)} LIMIT ${p.rows}`,
  ),
)

const selectScanEnd = compileVariants((variant: Variant, _: Placeholders<Values>) =>
  select(
    { id: a.id, dateTime: a.time },
    sql`FROM (${rangeOf(variant)} LIMIT 1 OFFSET ${p.scanned} - 1) ${a}`,
  ),
)

const selectKey = compile((device: Placeholders<DeviceRef>) =>
  select({ key: devices.key }, sql`FROM ${devices} WHERE ${isVisibleDevice(device)}`),
)

/** Null when the viewer can see no such device. */
const prepare = async (db: Database, { accountId, groupId }: Viewer, listing: Listing) => {
  const { deviceId, from, to, name, acknowledged, emergency, state, sort, after, limit } = listing
  const device =
    deviceId === null ? null : await readFirst(selectKey(db, { deviceId, accountId, groupId }))
  if (deviceId !== null && !device) return null
  const deviceKey = device?.key ?? null
  const variant: Variant = {
    isOfDevice: deviceKey !== null,
    hasName: name !== undefined,
    acknowledged,
    emergency,
    state,
    isConfined: groupId !== null,
    hasAfter: after !== null,
    sort,
  }
  const values = {
    accountId,
    groupId,
    deviceKey,
    from,
    to,
    name: name ?? null,
    afterTime: after && Number(after[0]),
    afterId: after && String(after[1]),
    rows: limit + 1,
  }
  return { variant, values }
}

/** Null when the viewer can see no such device. */
export const listAlerts = async (
  db: Database,
  viewer: Viewer,
  listing: Listing,
): Promise<AlertPage | null> => {
  const prepared = await prepare(db, viewer, listing)
  if (!prepared) return null
  const { variant, values } = prepared
  const { limit } = listing
  const { rows, end } = await readScan(db, {
    page: (scanned) => selectPage(db, variant, { ...values, scanned }),
    end: (scanned) => selectScanEnd(db, variant, { ...values, scanned }),
    isFiltered: filtersOf(variant).length > 0,
    limit,
  })
  const page = cutByDeliveries(rows.slice(0, limit))
  const deliveries = await readSummaries(db, viewer.accountId, page)
  const last = page.length < rows.length ? page.at(-1) : end
  return {
    alerts: page.map((row) => toAlert(row, deliveries.get(row.id) ?? [])),
    next: last ? [last.dateTime, last.id] : null,
  }
}

const countRange = compileVariants((variant: Variant, _: Placeholders<Omit<Values, 'scanned'>>) =>
  select(
    {
      searched: sql<number>`count(*)`,
      matching: sql<number>`count(CASE WHEN ${and(sql`true`, ...filtersOf(variant))} THEN 1 END)`,
    },
    sql`FROM (${rangeOf(variant)} LIMIT ${p.rows}) ${a}`,
  ),
)

/** Counts the alerts of a span, and no more of them than it takes to see that there are too many. */
export const countAlerts = async (db: Database, viewer: Viewer, span: AlertSpan) => {
  const prepared = await prepare(db, viewer, { ...span, sort: 'dateTime', after: null, limit: 0 })
  const nothing = { searched: 0, matching: 0 }
  if (!prepared) return nothing
  const { variant, values } = prepared
  const rows = (filtersOf(variant).length > 0 ? MAX_SEARCHED_ALERTS : MAX_SPAN_ALERTS) + 1
  return (await readFirst(countRange(db, variant, { ...values, rows }))) ?? nothing
}
