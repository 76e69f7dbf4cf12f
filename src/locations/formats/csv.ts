import { iso } from '../../domain/iso.ts'
import { FIELD_NAMES, type StoredLocation } from '../../domain/location.ts'
import { pieces, type Writer } from './formats.ts'

const quoted = (text: string): string =>
  /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text

/** Text that a spreadsheet would take for a formula is told to be text. */
const defused = (text: string): string => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text)

const cell = (value: unknown): string => {
  if (value === undefined) return ''
  if (typeof value === 'string') return quoted(defused(value))
  return typeof value === 'object' ? quoted(JSON.stringify(value)) : String(value)
}

const record = (location: StoredLocation): string =>
  `${iso(location.dateTime)},${FIELD_NAMES.map((name) => cell(location[name])).join(',')},${iso(location.receivedAt)}\r\n`

/** RFC 4180; lists and objects are JSON in their cell. */
export const csv = (): Writer => ({
  begin: `dateTime,${FIELD_NAMES.join(',')},receivedAt\r\n`,
  page: (locations) => pieces(locations, record),
  end: () => '',
})
