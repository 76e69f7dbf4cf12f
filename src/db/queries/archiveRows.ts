import { getTableColumns } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { ArchiveError } from '../../domain/archive/tar.ts'
import { isObject, type JsonObject } from '../../domain/text/json.ts'
import { iso, readIso } from '../../domain/time/iso.ts'

/* Rows of tables as lines of an archive: the members of the table, with times as replies have them. */

/** The columns that are instants. */
const INSTANTS = new Set([
  ...['creation', 'lastModified', 'modification', 'at', 'time', 'receivedAt', 'changed'],
  ...['lastContact', 'lastReceived', 'lastLogin', 'lastRefresh', 'invitedAt', 'lastDisabled'],
  ...['fromTime', 'expires', 'positionTime', 'acknowledgedAt', 'resolvedAt', 'cancelledAt'],
  ...['since', 'nextDue', 'reminded', 'lastCheckIn', 'checkAt', 'resetAt', 'contact'],
  'expiredEmergencyAt',
])
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

export interface RowForm {
  table: SQLiteTable
  /** Members that an archive does not have: secrets, and what an import derives. */
  omitted: readonly string[]
}

const columnsOf = ({ table, omitted }: RowForm): [string, SQLiteColumn][] =>
  Object.entries(getTableColumns(table) as Record<string, SQLiteColumn>).filter(
    ([name]) => !omitted.includes(name),
  )

const isInstant = (name: string, { dataType }: SQLiteColumn): boolean =>
  dataType === 'number' && INSTANTS.has(name)

/** The row as a line has it; `more` are members that are in no column. */
export const encodeRow = (
  form: RowForm,
  row: Record<string, unknown>,
  more: JsonObject = {},
): JsonObject => {
  const line: JsonObject = { ...more }
  for (const [name, column] of columnsOf(form)) {
    const value = row[name] ?? null
    line[name] = value !== null && isInstant(name, column) ? iso(value as number) : value
  }
  return line
}

const isOfType = (value: unknown, { dataType, columnType }: SQLiteColumn): boolean => {
  if (dataType === 'json') return typeof value === 'object'
  if (typeof value !== dataType) return false
  return dataType !== 'number' || columnType === 'SQLiteReal' || Number.isSafeInteger(value)
}

const decodeValue = (name: string, column: SQLiteColumn, value: unknown): unknown => {
  const fault = (what: string) => new ArchiveError(`the member ${name} ${what}`)
  if (value === undefined) throw fault('is missing')
  if (value === null) {
    if (column.notNull || column.primary) throw fault('must not be null')
    return null
  }
  if (isInstant(name, column)) {
    const at = typeof value === 'string' && ISO.test(value) ? readIso(value) : Number.NaN
    if (Number.isNaN(at)) throw fault('must be a time, such as 2026-11-14T09:30:00.000Z')
    return at
  }
  if (!isOfType(value, column)) throw fault(`must be of the type ${column.dataType}`)
  if (column.enumValues?.length && !column.enumValues.includes(value as string))
    throw fault('has a value that is not known')
  return value
}

/** The row of a line; throws when it is not one of the table. `others` may be there as well. */
export const decodeRow = (
  form: RowForm,
  line: unknown,
  others: readonly string[] = [],
): Record<string, unknown> => {
  if (!isObject(line)) throw new ArchiveError('a line is not an object')
  const columns = columnsOf(form)
  const known = new Set([...columns.map(([name]) => name), ...others])
  const unknown = Object.keys(line).find((name) => !known.has(name))
  if (unknown !== undefined) throw new ArchiveError(`the member ${unknown} is not known`)
  return Object.fromEntries(
    columns.map(([name, column]) => [name, decodeValue(name, column, line[name])]),
  )
}

/** The values of a row as the driver stores them, in the order of these columns. */
export const driverValues = (
  columns: readonly [string, SQLiteColumn][],
  row: Record<string, unknown>,
): unknown[] =>
  columns.map(([name, column]) => {
    const value = row[name] ?? null
    return value === null ? null : column.mapToDriverValue(value)
  })
