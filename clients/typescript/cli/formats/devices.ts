import { type CsvRow, parseCsv } from './csv.ts'
import { isDay, UnreadableFile } from './track.ts'

/* devices.csv: one device a line, with the columns that the first line names. */

interface DeviceBody {
  name: string
  identifier?: string
  description?: string
  model?: string
  min?: string
  maxSpeed?: number
  tags?: Record<string, string>
  limits?: {
    expires?: boolean
    expirationDate?: string
    dailyEmailLimit?: number
    dailySmsLimit?: number
  }
}

export interface DeviceRow {
  line: number
  body: DeviceBody
}

export interface DeviceList {
  rows: DeviceRow[]
  problems: string[]
}

const TEXTS = { name: 200, identifier: 64, description: 2000, model: 200, min: 32 } as const
const NUMBERS = { maxSpeed: 100_000, dailyEmailLimit: 100_000, dailySmsLimit: 100_000 } as const
const TAG = 'tag:'
export const DEVICE_COLUMNS = [...Object.keys(TEXTS), ...Object.keys(NUMBERS), 'expirationDate']

const COLUMNS = new Map(DEVICE_COLUMNS.map((name) => [name.toLowerCase(), name]))

/** The member of a column, or `tag:…`. */
const memberOf = (column: string): string | undefined =>
  column.toLowerCase().startsWith(TAG) && column.length > TAG.length
    ? `${TAG}${column.slice(TAG.length)}`
    : COLUMNS.get(column.toLowerCase().replaceAll(/[\s_-]/g, ''))

const isText = (name: string): name is keyof typeof TEXTS => name in TEXTS
const isNumber = (name: string): name is keyof typeof NUMBERS => name in NUMBERS

/** Sets one member; returns what is wrong with its cell, or null. */
const setMember = (body: DeviceBody, member: string, cell: string): string | null => {
  if (cell === '') return null
  if (member.startsWith(TAG)) {
    body.tags = { ...body.tags, [member.slice(TAG.length)]: cell }
  } else if (isText(member)) {
    if (cell.length > TEXTS[member]) return `${member} has more than ${TEXTS[member]} characters`
    body[member] = cell
  } else if (isNumber(member)) {
    const value = Number(cell)
    if (!(value >= 0 && value <= NUMBERS[member]))
      return `${member} must be a number from 0 to ${NUMBERS[member]}`
    if (member === 'maxSpeed') body.maxSpeed = value
    else if (Number.isInteger(value)) body.limits = { ...body.limits, [member]: value }
    else return `${member} must be a whole number`
  } else {
    if (!isDay(cell)) return `${member} must be a date such as 2027-01-31`
    body.limits = { ...body.limits, expires: true, expirationDate: cell }
  }
  return null
}

const readRow = (members: string[], { cells }: CsvRow): { body: DeviceBody; faults: string[] } => {
  const body: DeviceBody = { name: '' }
  const faults = members.flatMap(
    (member, index) => setMember(body, member, cells[index] ?? '') ?? [],
  )
  if (body.name === '') faults.unshift('name is missing')
  if (cells.length > members.length) faults.push('there are more cells than columns')
  return { body, faults }
}

export const readDevices = (text: string): DeviceList => {
  const { header, rows } = parseCsv(text)
  const members = header.map(memberOf)
  const unknown = header.filter((_, index) => members[index] === undefined)
  if (unknown.length > 0)
    throw new UnreadableFile(
      `Unknown columns: ${unknown.join(', ')}. The columns of devices are ${DEVICE_COLUMNS.join(', ')} and tag:NAME.`,
    )
  if (!members.includes('name')) throw new UnreadableFile('There is no column “name”.')
  const list: DeviceList = { rows: [], problems: [] }
  const lineOf = new Map<string, number>()
  for (const row of rows) {
    const { body, faults } = readRow(members as string[], row)
    const { name, identifier } = body
    const key = identifier ? `identifier ${identifier.trim().toLowerCase()}` : `name ${name.trim()}`
    const earlier = lineOf.get(key)
    if (earlier === undefined) lineOf.set(key, row.line)
    else if (identifier) faults.push(`identifier is that of line ${earlier}`)
    else if (name) faults.push(`name is that of line ${earlier}, and neither has an identifier`)
    list.problems.push(...faults.map((fault) => `line ${row.line}: ${fault}`))
    if (faults.length === 0) list.rows.push({ line: row.line, body })
  }
  return list
}
