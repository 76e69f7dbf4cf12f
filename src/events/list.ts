import { and, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { growScan, MAX_SCANNED } from '../db/boundedScan.ts'
import type { Database } from '../db/open.ts'
import type { Viewer } from '../db/queries/visibility.ts'
import { devices, events, groupDevices, tombstones } from '../db/schema.ts'
import {
  compileVariants,
  literal,
  type Placeholders,
  placeholders,
  runBatch,
  valuesOf,
} from '../db/statement.ts'
import { EVENT_TYPES, type EventFilter, isWanted } from '../domain/event/event.ts'
import {
  JOIN_DEVICE,
  type LoggedEvent,
  MAX_PAGE_BYTES,
  selectBounded,
  selectHead,
  toEvent,
} from './store.ts'

/* The list of events. Its filters are those of `passes` in domain/event/event.ts, as SQL. */

export interface Listing {
  /** The number that the page before ended with. */
  after: number
  filter: EventFilter
  limit: number
}

export interface EventPage {
  events: LoggedEvent[]
  /** The account's last number when the page was read. */
  head: number
  /** The number to go on after; null on the last page. */
  next: number | null
}

/** What the text of a list's statements depends on. */
interface Variant {
  /** What is scanned: the account's log, or the events of the wanted devices alone. */
  source: 'log' | 'devices'
  hasTypes: boolean
  /** Of the log, only events of wanted devices or of devices in wanted groups. */
  isAddressed: boolean
  isConfined: boolean
}

/** Lists are JSON. */
interface Values {
  accountId: string
  after: number
  types: string
  devices: string
  groups: string
  ownGroup: string
  /** How many events are scanned: of the log, or of each device. */
  scanned: number
  rows: number
}

const p = placeholders<keyof Values>()
const e = alias(events, 'e')

/** True when the device is in one of these groups or, once it is deleted, was in one last. */
const isInGroups = (deviceId: SQLWrapper, groups: SQLWrapper): SQL =>
  sql`(EXISTS (SELECT 1 FROM ${devices}
      JOIN ${groupDevices} ON ${groupDevices.deviceKey} = ${devices.key}
      WHERE ${devices.id} = ${deviceId} AND ${devices.accountId} = ${p.accountId}
        AND ${groupDevices.groupId} IN ${valuesOf(groups)})
    OR EXISTS (SELECT 1 FROM ${tombstones}, json_each(${tombstones.groups}) last
      WHERE ${tombstones.accountId} = ${p.accountId} AND ${tombstones.id} = ${deviceId}
        AND last.value IN ${valuesOf(groups)}))`

const BY_DEVICE = sql`${events} ${e} INDEXED BY events_device`
const isAfter = sql`${e.accountId} = ${p.accountId} AND ${e.sequence} > ${p.after}`

/** For each wanted device the last of its scanned events, or null when there are fewer. */
const scanEndsOf = ({ isConfined }: Variant): SQL =>
  sql`SELECT wanted.value AS device_id, (SELECT ${e.sequence} FROM ${BY_DEVICE}
      WHERE ${isAfter} AND ${e.deviceId} = wanted.value
      ORDER BY ${e.sequence} LIMIT 1 OFFSET ${p.scanned} - 1) AS sequence
    FROM json_each(${p.devices}) wanted
    WHERE ${isConfined ? isInGroups(sql`wanted.value`, p.ownGroup) : sql`true`}`

/** Up to the first of these ends, the scanned events are complete. */
const selectDevicesEnd = (variant: Variant): SQL =>
  sql`SELECT min(sequence) AS sequence FROM (${scanEndsOf(variant)})`

const selectLogEnd = sql`SELECT (SELECT ${e.sequence} FROM ${events} ${e} WHERE ${isAfter}
  ORDER BY ${e.sequence} LIMIT 1 OFFSET ${p.scanned} - 1) AS sequence`

const scannedBy = (variant: Variant): SQL =>
  variant.source === 'devices'
    ? sql`(SELECT ${e}.* FROM (${scanEndsOf(variant)}) ends
        CROSS JOIN ${BY_DEVICE} ON ${isAfter} AND ${e.deviceId} = ends.device_id
          AND ${e.sequence} <= ifnull((${selectDevicesEnd(variant)}), ${literal(2 ** 53)}))`
    : sql`(SELECT ${e}.* FROM ${events} ${e} WHERE ${isAfter}
        ORDER BY ${e.sequence} LIMIT ${p.scanned})`

const filtersOf = ({ source, hasTypes, isAddressed, isConfined }: Variant): SQL[] => [
  ...(hasTypes ? [sql`${e.type} IN ${valuesOf(p.types)}`] : []),
  ...(isAddressed
    ? [sql`(${e.deviceId} IN ${valuesOf(p.devices)} OR ${isInGroups(e.deviceId, p.groups)})`]
    : []),
  ...(isConfined && source === 'log' ? [isInGroups(e.deviceId, p.ownGroup)] : []),
]

const selectPage = compileVariants((variant: Variant, _: Placeholders<Values>) =>
  selectBounded(
    sql`length(data) + ifnull(length(location), 0)`,
    sql`FROM (
        SELECT ${e.sequence} FROM ${scannedBy(variant)} ${e}
        WHERE ${and(sql`true`, ...filtersOf(variant))}
        ORDER BY ${e.sequence} LIMIT ${p.rows}) chosen
      CROSS JOIN ${events} ON ${events.accountId} = ${p.accountId}
        AND ${events.sequence} = chosen.sequence ${JOIN_DEVICE}`,
  ),
)

const selectScanEnd = compileVariants<Variant, Values, { sequence: number | null }>((variant) =>
  variant.source === 'devices' ? selectDevicesEnd(variant) : selectLogEnd,
)

const variantOf = ({ types, devices: ids, groups }: EventFilter, isConfined: boolean): Variant => ({
  source: ids.length > 0 && groups.length === 0 ? 'devices' : 'log',
  hasTypes: types.length > 0,
  isAddressed: groups.length > 0,
  isConfined,
})

/** The events of a page and, unless it is full, the number up to which it was scanned. */
export const listEvents = async (
  db: Database,
  { accountId, groupId }: Viewer,
  { after, filter, limit }: Listing,
): Promise<EventPage> => {
  const variant = variantOf(filter, groupId !== null)
  const groups = groupId === null ? filter.groups : filter.groups.filter((id) => id === groupId)
  const values = {
    accountId,
    after,
    types: JSON.stringify(EVENT_TYPES.filter((type) => isWanted(filter.types, type))),
    devices: JSON.stringify([...new Set(filter.devices)]),
    groups: JSON.stringify(groups),
    ownGroup: JSON.stringify([groupId]),
    rows: limit + 1,
  }
  const isFiltered = filtersOf(variant).length > 0
  const scanSize = (scanned: number): number => {
    if (variant.source === 'log') return scanned
    const share = Math.floor((isFiltered ? scanned : MAX_SCANNED) / filter.devices.length)
    return Math.max(1, Math.min(scanned, share))
  }
  const { rows, end, head } = await growScan({ isFiltered, limit }, async (scanned) => {
    const scan = { ...values, scanned: scanSize(scanned) }
    const read = await runBatch(db, {
      page: selectPage(db, variant, scan),
      end: selectScanEnd(db, variant, scan),
      head: selectHead(db, { accountId }),
    })
    return {
      rows: read.page.results,
      end: read.end.results[0]?.sequence ?? null,
      head: read.head.results[0]?.sequence ?? 0,
    }
  })
  const listed = rows.slice(0, limit)
  const last = listed.at(-1)
  const isCut = rows.length > limit || (last !== undefined && last.bytes >= MAX_PAGE_BYTES)
  return { events: listed.map(toEvent), head, next: isCut && last ? last.sequence : end }
}
