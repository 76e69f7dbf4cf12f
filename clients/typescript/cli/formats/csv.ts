import { FIELDS, JSON_FIELDS, NUMBERS } from './fields.ts'
import {
  type Location,
  type Point,
  parseNumber,
  parseTime,
  type Track,
  UnreadableFile,
  withoutUndefined,
} from './track.ts'

/* RFC 4180, and what spreadsheets make of it: semicolons or tabs, and decimal commas. */

export interface CsvRow {
  /** The line on which the row begins. */
  line: number
  cells: string[]
}

export interface Csv {
  header: string[]
  rows: CsvRow[]
  delimiter: string
}

const QUOTED_CELL = /"([^"]*(?:""[^"]*)*)"/y

/** The one of three that the first line has most of. */
const findDelimiter = (text: string): string => {
  const [line = ''] = text.split(/\r?\n/, 1)
  const counted = [',', ';', '\t'].map((mark) => ({ mark, count: line.split(mark).length }))
  return counted.reduce((most, next) => (next.count > most.count ? next : most)).mark
}

const plainCell = (delimiter: string): RegExp => new RegExp(`[^"\\r\\n${delimiter}]*`, 'y')

/** An exporter marks text that a spreadsheet would take for a formula. */
const unescapeFormula = (text: string): string =>
  /^'+[=+\-@\t\r]/.test(text) ? text.slice(1) : text

export const parseCsv = (text: string): Csv => {
  const delimiter = findDelimiter(text)
  const plain = plainCell(delimiter)
  const rows: CsvRow[] = []
  let row: CsvRow = { line: 1, cells: [] }
  let line = 1
  for (let at = 0; at <= text.length; ) {
    const isQuoted = text[at] === '"'
    const pattern = isQuoted ? QUOTED_CELL : plain
    pattern.lastIndex = at
    const [matched = '', quoted] = pattern.exec(text) ?? []
    at += matched.length
    const end = text[at]
    const isRowEnd = end === undefined || end === '\n' || end === '\r'
    if (!isRowEnd && end !== delimiter)
      throw new UnreadableFile(`Line ${line}: a quotation mark is in the wrong place.`)
    row.cells.push(
      unescapeFormula(isQuoted ? (quoted ?? '').replaceAll('""', '"') : matched.trim()),
    )
    line += matched.split('\n').length - 1
    at += end === '\r' && text[at + 1] === '\n' ? 2 : 1
    if (!isRowEnd) continue
    if (row.cells.some((cell) => cell !== '')) rows.push(row)
    line++
    row = { line, cells: [] }
  }
  const header = rows.shift()?.cells
  if (!header) throw new UnreadableFile('The file is empty.')
  return { header, rows, delimiter }
}

const TIME_NAMES = ['datetime', 'time', 'timestamp', 'date', 'utc', 'gpstime']
/** Other names of columns, without regard to case, spaces and underscores. */
const ALIASES: Readonly<Record<string, string>> = {
  lat: 'latitude',
  lon: 'longitude',
  lng: 'longitude',
  long: 'longitude',
  alt: 'altitude',
  ele: 'altitude',
  elevation: 'altitude',
  heading: 'course',
  bearing: 'course',
  imei: 'identifier',
  mileage: 'milleage',
}
const MEMBERS = new Map(
  [...FIELDS, 'deviceId', 'identifier'].map((name) => [name.toLowerCase(), name]),
)

/** The member that a column has; undefined for one that an import does not know. */
export const memberOf = (column: string): string | undefined => {
  const name = column.toLowerCase().replaceAll(/[\s_-]/g, '')
  if (TIME_NAMES.includes(name)) return 'dateTime'
  return MEMBERS.get(ALIASES[name] ?? name)
}

const cellValue = (member: string, cell: string, hasDecimalCommas: boolean): unknown => {
  if (cell === '') return undefined
  if (member === 'dateTime') return parseTime(cell) ?? cell
  if (member in NUMBERS)
    return parseNumber(hasDecimalCommas ? cell.replace(',', '.') : cell) ?? cell
  if (member.startsWith('sensorTime')) return parseNumber(cell) ?? cell
  if (!JSON_FIELDS.has(member)) return cell
  try {
    return JSON.parse(cell)
  } catch {
    return cell
  }
}

export const hasPositions = ({ header }: Csv): boolean => {
  const members = header.map(memberOf)
  return members.includes('latitude') && members.includes('longitude')
}

export const readTrackCsv = (csv: Csv): Track => {
  const members = csv.header.map(memberOf)
  for (const name of ['dateTime', 'latitude', 'longitude'])
    if (!members.includes(name))
      throw new UnreadableFile(
        `The first line must name the columns, and there is none for ${name}.`,
      )
  const points: Point[] = []
  let withoutTime = 0
  for (const { line, cells } of csv.rows) {
    const location: Location = {}
    for (const [index, member] of members.entries())
      if (member) location[member] = cellValue(member, cells[index] ?? '', csv.delimiter !== ',')
    if (location.dateTime === undefined) withoutTime++
    else points.push({ place: `line ${line}`, location: withoutUndefined(location) })
  }
  const ignored = csv.header.filter((column, index) => !members[index] && column !== 'receivedAt')
  const notes = ignored.length > 0 ? [`columns that are not used: ${ignored.join(', ')}`] : []
  return { points, withoutTime, notes }
}
