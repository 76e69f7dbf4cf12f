import { and, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Database } from '../db/open.ts'
import { isVisible } from '../db/queries/visibility.ts'
import { type InferRow, type Query, select, selectIn } from '../db/query.ts'
import { accounts, devices, groupDevices } from '../db/schema.ts'
import {
  compile,
  compileVariants,
  literal,
  names,
  type Placeholders,
  placeholders,
  runBatch,
} from '../db/statement.ts'
import { deviceColumns } from './store.ts'

export type Sort = 'name' | '-name' | 'creation' | '-creation'
export type State = 'active' | 'expired'

/** What the text of a list's statements depends on. */
export interface Variant {
  /**
   * What a page is selected from: a scan of the account or of a group, or a few devices that are
   * then sorted: the matches of a rare prefix, given ids, or the device with an identifier.
   */
  source: 'account' | 'group' | 'matches' | 'ids' | 'identifier'
  sort: Sort
  hasAfter: boolean
  hasPrefix: boolean
  hasPart: boolean
  hasIdentifier: boolean
  state: State | null
}

export interface Values {
  accountId: string
  groupId: string | null
  /** A JSON list. */
  ids: string
  identifier: string | null
  prefix: string
  /** Sorts after every text that begins with the prefix. */
  prefixEnd: string
  part: string
  afterValue: string | number | null
  afterKey: number | null
  today: string | null
  scanned: number
  rows: number
}

const p = placeholders<keyof Values>()

/** Bounds the memory of a page, whatever tags and locations its devices have. */
export const MAX_PAGE_BYTES = 2_000_000
const ROW_BYTES = sql`ifnull(length(${sql.identifier('lastLocation')}), 0) + length(${names(devices.tags)})`

/** A prefix with more matches is common enough to be found by a scan; fewer matches are sorted. */
const MAX_SORTED = 1000

const [d, m] = [alias(devices, 'd'), alias(groupDevices, 'm')]
const isOwn = sql`${d.accountId} = ${p.accountId}`
const matches = (column: SQLWrapper): SQL =>
  sql`${column} >= ${p.prefix} AND ${column} < ${p.prefixEnd}`

type Prefix = Pick<Values, 'accountId' | 'prefix' | 'prefixEnd'>
const countMatches = (column: SQLWrapper) =>
  compile((_: Placeholders<Prefix>) =>
    select(
      { count: sql<number>`count(*)` },
      sql`FROM (SELECT 1 FROM ${devices} ${d}
        WHERE ${isOwn} AND ${matches(column)} LIMIT ${literal(MAX_SORTED + 1)})`,
    ),
  )
const countByName = countMatches(d.nameKey)
const countByIdentifier = countMatches(d.identifierKey)

export const isRarePrefix = async (db: Database, prefix: Prefix): Promise<boolean> => {
  const counts = await runBatch(db, [countByName(db, prefix), countByIdentifier(db, prefix)])
  return counts.every(({ results }) => (results[0]?.count ?? 0) <= MAX_SORTED)
}

/** The names of a page's columns, outside of the query that has the tables. */
const [VALUE, KEY] = [sql.identifier('value'), sql.identifier('key')]

type Order = Pick<Variant, 'source' | 'sort' | 'hasAfter'>

const isDescending = ({ sort }: Order): boolean => sort.startsWith('-')
const orderBy = (order: Order, value: SQLWrapper, key: SQLWrapper): SQL => {
  const direction = isDescending(order) ? sql`DESC` : sql`ASC`
  return sql`${value} ${direction}, ${key} ${direction}`
}

/** The sorted column and the device's key, in the table that a page is read from. */
const columnsOf = ({ source, sort }: Order) => {
  const isByName = sort.endsWith('name')
  return source === 'group'
    ? { value: isByName ? m.nameKey : m.creation, key: m.deviceKey }
    : { value: isByName ? d.nameKey : d.creation, key: d.key }
}

const beyond = (order: Order): SQL => (isDescending(order) ? sql`<` : sql`>`)

const isAfter = (order: Order): SQL => {
  if (!order.hasAfter) return sql`true`
  const { value, key } = columnsOf(order)
  return sql`(${value}, ${key}) ${beyond(order)} (${p.afterValue}, ${p.afterKey})`
}

const rangeOf = (order: Order, condition: SQL): SQL => {
  const { value, key } = columnsOf(order)
  const owned =
    order.source === 'group'
      ? sql`${groupDevices} ${m} WHERE ${m.groupId} = ${p.groupId}`
      : sql`${devices} ${d} WHERE ${isOwn}`
  return sql`SELECT ${value} AS value, ${key} AS key FROM ${owned} AND ${condition}`
}

/**
 * A range of one index, in the order of the list. In `devices` the key is the rowid, to which SQLite
 * does not seek by a row value: without the second range, a page would begin with reading all
 * devices of the same name before its cursor.
 */
const scanOf = (order: Order): SQL => {
  const ordered = sql`ORDER BY ${orderBy(order, VALUE, KEY)}`
  if (order.source === 'group' || !order.hasAfter)
    return sql`${rangeOf(order, isAfter(order))} ${ordered}`
  const { value, key } = columnsOf(order)
  const same = sql`${value} = ${p.afterValue} AND ${key} ${beyond(order)} ${p.afterKey}`
  return sql`${rangeOf(order, same)} UNION ALL
    ${rangeOf(order, sql`${value} ${beyond(order)} ${p.afterValue}`)} ${ordered}`
}

const keysWhere = (condition: SQL): SQL =>
  sql`SELECT ${d.key} FROM ${devices} ${d} WHERE ${isOwn} AND ${condition}`

/** The keys of a few devices, in no order. */
const setOf = (source: 'matches' | 'ids' | 'identifier'): SQL => {
  switch (source) {
    case 'matches':
      return sql`${keysWhere(matches(d.nameKey))} UNION ${keysWhere(matches(d.identifierKey))}`
    case 'ids':
      return sql`SELECT ${d.key} FROM (SELECT DISTINCT value AS id FROM json_each(${p.ids})) given
        CROSS JOIN ${devices} ${d} ON ${d.id} = given.id WHERE ${isOwn}`
    case 'identifier':
      return keysWhere(sql`${d.identifierKey} = ${p.identifier}`)
  }
}

/** The `value` and `key` of every device that may be on the page, in the order of the list. */
const candidatesOf = (variant: Variant): SQL => {
  const { source } = variant
  if (source === 'account' || source === 'group') return sql`${scanOf(variant)} LIMIT ${p.scanned}`
  const { value, key } = columnsOf(variant)
  return sql`SELECT ${value} AS value, ${key} AS key
    FROM (${setOf(source)}) found CROSS JOIN ${devices} ${d} ON ${d.key} = found.key
    WHERE ${isVisible(d.key, p.groupId)} AND ${isAfter(variant)}
    ORDER BY ${orderBy(variant, value, key)}`
}

const hasState = (state: State): SQL =>
  state === 'expired'
    ? sql`${d.ends} <= ${p.today}`
    : sql`(${d.ends} IS NULL OR ${d.ends} > ${p.today})`

/** No index finds a part of a text: a page tests the rows of its bounded scan. */
const contains = (column: SQLWrapper): SQL => sql`instr(${column}, ${p.part}) > 0`

const filtersOf = ({ hasPrefix, hasPart, hasIdentifier, state }: Variant): SQL | undefined =>
  and(
    isOwn,
    hasPrefix ? sql`((${matches(d.nameKey)}) OR (${matches(d.identifierKey)}))` : undefined,
    hasPart ? sql`(${contains(d.nameKey)} OR ${contains(d.identifierKey)})` : undefined,
    hasIdentifier ? sql`${d.identifierKey} = ${p.identifier}` : undefined,
    state ? hasState(state) : undefined,
  )

/** With what the list is sorted by. */
const COLUMNS = {
  value: sql<string | number>`found.value`,
  ...deviceColumns(d as unknown as typeof devices),
}

/** `bytes` is the size of the page up to this row. */
type ListedRow = InferRow<typeof COLUMNS> & { bytes: number }

export const selectPage = compileVariants(
  (variant: Variant, _: Placeholders<Values>) =>
    selectIn(
      COLUMNS,
      (list) => sql`SELECT * FROM (
      SELECT *, sum(${ROW_BYTES})
        OVER (ORDER BY ${orderBy(variant, VALUE, KEY)} ROWS UNBOUNDED PRECEDING) AS bytes
      FROM (SELECT ${list} FROM (${candidatesOf(variant)}) found
        CROSS JOIN ${devices} ${d} ON ${d.key} = found.key
        JOIN ${accounts} ON ${accounts.id} = ${d.accountId}
        WHERE ${filtersOf(variant)}
        ORDER BY ${orderBy(variant, sql`found.value`, sql`found.key`)} LIMIT ${p.rows}))
    WHERE bytes - (${ROW_BYTES}) < ${literal(MAX_PAGE_BYTES)}
    ORDER BY ${orderBy(variant, VALUE, KEY)}`,
    ) as Query<ListedRow>,
)

/** The last of the scanned devices, if there are so many. */
export const selectScanEnd = compileVariants((order: Order, _: Placeholders<Values>) =>
  select(
    { value: sql<string | number>`value`, key: sql<number>`key` },
    sql`FROM (${scanOf(order)} LIMIT 1 OFFSET ${p.scanned} - 1)`,
  ),
)
