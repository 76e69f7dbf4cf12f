import { sql } from 'drizzle-orm'
import { readScan } from '../db/boundedScan.ts'
import type { Database } from '../db/open.ts'
import { type Page, type Position, toPage } from '../db/page.ts'
import type { Viewer } from '../db/queries/visibility.ts'
import { select } from '../db/query.ts'
import { accounts, devices } from '../db/schema.ts'
import { compile, type Placeholders, readAll, readFirst } from '../db/statement.ts'
import { readTextAfter, textPosition } from '../db/textPosition.ts'
import { currentDay } from '../domain/account/license.ts'
import { PREFIX_END } from '../domain/text/fold.ts'
import { localDay } from '../domain/time/day.ts'
import {
  isRarePrefix,
  MAX_PAGE_BYTES,
  type Sort,
  type State,
  selectPage,
  selectScanEnd,
  type Values,
  type Variant,
} from './listStatements.ts'
import { type StoredDevice, toStoredDevice } from './store.ts'

export interface Listing {
  state?: State | undefined
  group?: string | undefined
  /** A folded prefix of name or identifier. */
  q?: string | undefined
  /** A folded part of name or identifier. */
  contains?: string | undefined
  /** A folded identifier. */
  identifier?: string | undefined
  ids?: string[] | undefined
  sort: Sort
  /** The sorted value and key that the page before ended with. */
  after: Position
  limit: number
}

const sourceOf = async (
  db: Database,
  { ids, identifier, q }: Listing,
  values: Values,
): Promise<Variant['source']> => {
  if (ids !== undefined) return 'ids'
  if (identifier !== undefined) return 'identifier'
  if (q && (await isRarePrefix(db, values))) return 'matches'
  return values.groupId === null ? 'account' : 'group'
}

const selectAccount = compile((p: Placeholders<{ accountId: string }>) =>
  select(
    { day: accounts.day, timeZone: accounts.timeZone },
    sql`FROM ${accounts} WHERE ${accounts.id} = ${p.accountId}`,
  ),
)

const readToday = async (db: Database, accountId: string, now: number): Promise<string> => {
  const account = await readFirst(selectAccount(db, { accountId }))
  return account ? currentDay(account, now) : localDay(now, 'UTC')
}

/** A scan may end before its page is full: then the next page begins at the scan's end. */
const readPage = async (db: Database, variant: Variant, values: Values) => {
  const { source, sort, hasAfter, hasPrefix, hasPart, state } = variant
  const isFiltered = hasPrefix || hasPart || state !== null
  const isScan = source === 'group' || (source === 'account' && isFiltered)
  if (!isScan) return { rows: await readAll(selectPage(db, variant, values)), end: undefined }
  return readScan(db, {
    page: (scanned) => selectPage(db, variant, { ...values, scanned }),
    end: (scanned) => selectScanEnd(db, { source, sort, hasAfter }, { ...values, scanned }),
    isFiltered,
    limit: values.rows - 1,
  })
}

const selectNameKey = compile((p: Placeholders<{ accountId: string; key: number }>) =>
  select(
    { nameKey: devices.nameKey },
    sql`FROM ${devices} WHERE ${devices.key} = ${p.key} AND ${devices.accountId} = ${p.accountId}`,
  ),
)

const readAfterValue = async (
  db: Database,
  accountId: string,
  sort: Sort,
  after: Position,
): Promise<string | number | null> => {
  const [value = null, key] = after
  if (typeof value !== 'string') return value
  const readName = async () =>
    (await readFirst(selectNameKey(db, { accountId, key: Number(key) })))?.nameKey
  return readTextAfter(after, readName, sort.startsWith('-'))
}

const positionOf = ({ value, key }: { value: string | number; key: number }): Position =>
  typeof value === 'string' ? textPosition(value, key) : [value, key]

export const listDevices = async (
  db: Database,
  viewer: Viewer,
  listing: Listing,
  now: number,
): Promise<Page<StoredDevice>> => {
  const { accountId } = viewer
  const { state, group, q, contains, identifier, ids, sort, after, limit } = listing
  const values: Values = {
    accountId,
    groupId: viewer.groupId ?? group ?? null,
    ids: JSON.stringify(ids ?? []),
    identifier: identifier ?? null,
    prefix: q ?? '',
    prefixEnd: (q ?? '') + PREFIX_END,
    part: contains ?? '',
    afterValue: await readAfterValue(db, accountId, sort, after),
    afterKey: Number(after[1] ?? 0),
    today: state ? await readToday(db, accountId, now) : null,
    scanned: limit + 1,
    rows: limit + 1,
  }
  const variant: Variant = {
    source: await sourceOf(db, listing, values),
    sort,
    hasAfter: after.length > 0,
    hasPrefix: !!q,
    hasPart: !!contains,
    hasIdentifier: identifier !== undefined,
    state: state ?? null,
  }
  const { rows, end } = await readPage(db, variant, values)
  const last = rows.at(-1)
  const isFull = last !== undefined && last.bytes >= MAX_PAGE_BYTES
  const page = toPage(rows, limit, positionOf, isFull ? last : end)
  return { ...page, rows: page.rows.map((row) => toStoredDevice(row, viewer, now)) }
}
