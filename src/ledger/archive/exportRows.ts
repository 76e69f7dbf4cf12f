import { getTableColumns } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { findRow, query, selectRows } from '../../db/objectTable.ts'
import { encodeRow } from '../../db/queries/archiveRows.ts'
import type { JsonObject } from '../../domain/text/json.ts'
import { ESCALATIONS, MESSAGES } from '../messages/messageBudget.ts'
import { devices } from '../tables.ts'
import { LEDGER_PARTS, type LedgerPartName } from './tables.ts'

/* Reads a ledger for an archive, page by page. */

const PAGE_ROWS = 1000

export type LedgerPosition = (string | number)[]

export interface LedgerLines {
  lines: string[]
  /** Where the next page begins; null after the last. */
  next: LedgerPosition | null
}

type Fragment = ReturnType<typeof query>

const list = (parts: Fragment[]): Fragment =>
  parts.reduce((before, part) => query`${before}, ${part}`)

/** The counts that have no device: what `of` says of the keys 0, -1, -2, … */
export const ACCOUNT_COUNTS = [
  'notices',
  'messages',
  'emergencies',
  'escalations',
  'escalatedEmergencies',
]
/** Those of a device, by the key that they have for it. */
export const DEVICE_COUNTS: Record<string, (key: number) => number> = {
  device: (key) => key,
  deviceEmergencies: MESSAGES.ofDevice,
  deviceEscalations: ESCALATIONS.ofDevice,
}

/** Whose counts they are; null when the device does not exist any more. */
const ownerOfCounts = (sql: SqlStorage, countKey: number): JsonObject | null => {
  const of = ACCOUNT_COUNTS[-countKey]
  if (of) return { of, deviceId: null }
  for (const [name, toKey] of Object.entries(DEVICE_COUNTS)) {
    const device = findRow(sql, devices, { key: toKey(countKey) })
    if (device) return { of: name, deviceId: device.id }
  }
  return null
}

const positionOf = (order: SQLiteColumn[], row: Record<string, unknown>): LedgerPosition => {
  const names = new Map(
    Object.entries(getTableColumns(order[0]?.table as never)).map(([name, column]) => [
      column as unknown,
      name,
    ]),
  )
  return order.map((column) => row[names.get(column) ?? ''] as string | number)
}

export const exportRows = (
  sql: SqlStorage,
  name: LedgerPartName,
  after: LedgerPosition | null,
): LedgerLines => {
  const part = LEDGER_PARTS[name]
  const columns = list(part.order.map((column) => query`${column}`))
  const isAfter = after
    ? query`(${columns}) > (${list(after.map((value) => query`${value}`))})`
    : query`true`
  const rows: Record<string, unknown>[] = selectRows(
    sql,
    part.table,
    query`${isAfter} ORDER BY ${columns} LIMIT ${PAGE_ROWS}`,
  )
  const lines = rows.flatMap((row) => {
    const owner = name === 'messageCounts' ? ownerOfCounts(sql, row.deviceKey as number) : {}
    return owner ? [JSON.stringify(encodeRow(part, row, owner))] : []
  })
  const last = rows.length === PAGE_ROWS ? rows.at(-1) : undefined
  return { lines, next: last ? positionOf(part.order, last) : null }
}
