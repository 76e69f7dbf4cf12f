import { and, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Database } from '../db/open.ts'
import { accounts, devices, groupDevices } from '../db/schema.ts'
import {
  compile,
  compileVariants,
  literal,
  names,
  placeholders,
  readAll,
  readFirst,
  runBatch,
} from '../db/statement.ts'
import type { Viewer } from '../db/visibility.ts'
import { localDay } from '../domain/day.ts'
import { currentDay } from '../domain/license.ts'
import { type DeviceRow, deviceColumns, type StoredDevice, toStoredDevice } from './store.ts'

type Sort = 'name' | '-name' | 'creation' | '-creation'
type State = 'active' | 'expired'

export interface Listing {
  state?: State | undefined
  group?: string | undefined
  /** A folded prefix of name or identifier. */
  q?: string | undefined
  sort: Sort
  /** The sorted value and key that the page before ended with. */
  after: (string | number)[] | null
  limit: number
}

export interface DevicePage {
  devices: StoredDevice[]
  /** What the next page begins after, or null on the last. */
  next: (string | number)[] | null
}

/** A page scans at most this many rows, however few of them match its filters. */
const MAX_SCANNED = 5000
/** A prefix with more matches is common enough to be found by a scan; fewer matches are sorted. */
const MAX_SORTED = 2000
/** Bounds the memory of a page, whatever tags and locations its devices have. */
const MAX_PAGE_BYTES = 2_000_000
const ROW_BYTES = sql`ifnull(length(last_location), 0) + length(${names(devices.tags)})`

/** What the text of a listing's statements depends on. */
interface Variant {
  /** What a page is selected from: a group, the matches of a rare prefix, or a scan of all. */
  source: 'group' | 'matches' | 'account'
  sort: Sort
  hasAfter: boolean
  hasPrefix: boolean
  state: State | null
}

interface Values {
  accountId: string
  groupId: string | null
  prefix: string
  prefixEnd: string
  afterValue: string | number | null
  afterKey: number | null
  today: string | null
  rows: number
}

const p = placeholders(
  'accountId',
  'groupId',
  'prefix',
  'prefixEnd',
  'afterValue',
  'afterKey',
  'today',
  'rows',
)

/** Both the table and, after a scan, the rows that the scan gives. */
const d = alias(devices, 'd')
const isOwn = sql`${d.accountId} = ${p.accountId}`

/** Sorts after every text that begins with a prefix. */
const PREFIX_END = '\u{10ffff}'
const matches = (column: SQLWrapper): SQL =>
  sql`${column} >= ${p.prefix} AND ${column} < ${p.prefixEnd}`

const countMatches = (column: SQLWrapper) =>
  compile<Pick<Values, 'accountId' | 'prefix' | 'prefixEnd'>, { count: number }>(
    sql`SELECT count(*) AS count FROM (SELECT 1 FROM ${devices} ${d}
      WHERE ${isOwn} AND ${matches(column)} LIMIT ${literal(MAX_SORTED + 1)})`,
  )
const countByName = countMatches(d.nameKey)
const countByIdentifier = countMatches(d.identifierKey)

const isRare = async (db: Database, accountId: string, prefix: string): Promise<boolean> => {
  const values = { accountId, prefix, prefixEnd: prefix + PREFIX_END }
  const counts = await runBatch(db, [countByName(db, values), countByIdentifier(db, values)])
  return counts.every(({ results }) => (results[0]?.count ?? 0) <= MAX_SORTED)
}

const sourceOf = async (
  db: Database,
  { accountId, groupId }: Viewer,
  { group, q }: Listing,
): Promise<Variant['source']> => {
  if (groupId !== null || group !== undefined) return 'group'
  return q && (await isRare(db, accountId, q)) ? 'matches' : 'account'
}

type Order = Pick<Variant, 'sort' | 'hasAfter'>

const sortColumn = ({ sort }: Order) => (sort.endsWith('name') ? d.nameKey : d.creation)
const directionOf = ({ sort }: Order): SQL => (sort.startsWith('-') ? sql`DESC` : sql`ASC`)

const orderOf = (order: Order): SQL => {
  const direction = directionOf(order)
  return sql`${sortColumn(order)} ${direction}, ${d.key} ${direction}`
}

/** The same order outside of the query that has the tables. */
const outerOrderOf = (order: Order): SQL => {
  const direction = directionOf(order)
  return sql`${names(sortColumn(order))} ${direction}, ${names(d.key)} ${direction}`
}

const isAfter = (order: Order): SQL => {
  if (!order.hasAfter) return sql`true`
  const place = sql`(${sortColumn(order)}, ${d.key})`
  const after = sql`(${p.afterValue}, ${p.afterKey})`
  return order.sort.startsWith('-') ? sql`${place} < ${after}` : sql`${place} > ${after}`
}

const rowsOf = (variant: Variant): SQL => {
  switch (variant.source) {
    case 'group':
      return sql`(SELECT ${groupDevices.deviceKey} AS key FROM ${groupDevices}
          WHERE ${groupDevices.groupId} = ${p.groupId}) found
        CROSS JOIN ${devices} ${d} ON ${d.key} = found.key`
    case 'matches':
      return sql`(SELECT ${d.key} FROM ${devices} ${d} WHERE ${isOwn} AND ${matches(d.nameKey)}
          UNION
          SELECT ${d.key} FROM ${devices} ${d} WHERE ${isOwn} AND ${matches(d.identifierKey)}) found
        CROSS JOIN ${devices} ${d} ON ${d.key} = found.key`
    case 'account':
      return sql`(SELECT * FROM ${devices} ${d} WHERE ${isOwn} AND ${isAfter(variant)}
        ORDER BY ${orderOf(variant)} LIMIT ${literal(MAX_SCANNED)}) ${d}`
  }
}

const hasState = (state: State): SQL =>
  state === 'expired'
    ? sql`${d.ends} <= ${p.today}`
    : sql`(${d.ends} IS NULL OR ${d.ends} > ${p.today})`

const whereOf = (variant: Variant): SQL | undefined => {
  const { hasPrefix, state } = variant
  return and(
    isOwn,
    isAfter(variant),
    hasPrefix ? sql`((${matches(d.nameKey)}) OR (${matches(d.identifierKey)}))` : undefined,
    state ? hasState(state) : undefined,
  )
}

const selectPage = compileVariants<Variant, Values, DeviceRow & { bytes: number }>(
  (variant) => sql`SELECT * FROM (
      SELECT *, sum(${ROW_BYTES})
        OVER (ORDER BY ${outerOrderOf(variant)} ROWS UNBOUNDED PRECEDING) AS bytes
      FROM (SELECT ${deviceColumns(d)} FROM ${rowsOf(variant)}
        JOIN ${accounts} ON ${accounts.id} = ${d.accountId}
        WHERE ${whereOf(variant)} ORDER BY ${orderOf(variant)} LIMIT ${p.rows}))
    WHERE bytes - (${ROW_BYTES}) < ${literal(MAX_PAGE_BYTES)} ORDER BY ${outerOrderOf(variant)}`,
)

const selectScanEnd = compileVariants<Order, Values, { value: string | number; key: number }>(
  (order) => sql`SELECT ${sortColumn(order)} AS value, ${d.key} FROM ${devices} ${d}
    WHERE ${isOwn} AND ${isAfter(order)} ORDER BY ${orderOf(order)}
    LIMIT 1 OFFSET ${literal(MAX_SCANNED - 1)}`,
)

const selectAccount = compile<{ accountId: string }, { day: string; time_zone: string }>(
  sql`SELECT ${accounts.day}, ${accounts.timeZone} FROM ${accounts}
    WHERE ${accounts.id} = ${p.accountId}`,
)

const readToday = async (db: Database, accountId: string, now: number): Promise<string> => {
  const row = await readFirst(selectAccount(db, { accountId }))
  return row ? currentDay({ day: row.day, timeZone: row.time_zone }, now) : localDay(now, 'UTC')
}

/** A filtered scan may end before its page is full: then the next page begins at the scan's end. */
const readPage = async (db: Database, variant: Variant, values: Values) => {
  const { source, sort, hasAfter, hasPrefix, state } = variant
  const page = selectPage(db, variant, values)
  const isFilteredScan = source === 'account' && (state !== null || hasPrefix)
  if (!isFilteredScan) return { rows: await readAll(page), end: undefined }
  const scanEnd = selectScanEnd(db, { sort, hasAfter }, values)
  const [{ results: rows }, { results: ends }] = await runBatch(db, [page, scanEnd])
  return { rows, end: ends[0] }
}

export const listDevices = async (
  db: Database,
  viewer: Viewer,
  listing: Listing,
  now: number,
): Promise<DevicePage> => {
  const { accountId } = viewer
  const { state, group, q, sort, after, limit } = listing
  const variant: Variant = {
    source: await sourceOf(db, viewer, listing),
    sort,
    hasAfter: after !== null,
    hasPrefix: !!q,
    state: state ?? null,
  }
  const values: Values = {
    accountId,
    groupId: viewer.groupId ?? group ?? null,
    prefix: q ?? '',
    prefixEnd: (q ?? '') + PREFIX_END,
    afterValue: after?.[0] ?? null,
    afterKey: after && Number(after[1]),
    today: state ? await readToday(db, accountId, now) : null,
    rows: limit + 1,
  }
  const { rows, end } = await readPage(db, variant, values)
  const listed = rows.slice(0, limit)
  const stored = listed.map((row) => toStoredDevice(row, viewer, now))
  const last = listed.at(-1)
  if (last && (rows.length > limit || last.bytes >= MAX_PAGE_BYTES))
    return {
      devices: stored,
      next: [sort.endsWith('name') ? last.name_key : last.creation, last.key],
    }
  return { devices: stored, next: end ? [end.value, end.key] : null }
}
