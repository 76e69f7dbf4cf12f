import { iso } from '../../domain/time/iso.ts'
import { FIELD_NAMES, type StoredLocation } from '../../domain/track/location.ts'
import { writeChunks } from '../../http/paging/rowWriter.ts'
import type { Writer } from './formats.ts'

const quote = (text: string): string =>
  /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text

/** Marks text that a spreadsheet would run as a formula. */
const escapeFormula = (text: string): string => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text)

const cell = (value: unknown): string => {
  if (value === undefined) return ''
  if (typeof value === 'string') return quote(escapeFormula(value))
  return typeof value === 'object' ? quote(JSON.stringify(value)) : String(value)
}

const record = (location: StoredLocation): string =>
  `${iso(location.dateTime)},${FIELD_NAMES.map((name) => cell(location[name])).join(',')},${iso(location.receivedAt)}\r\n`

/** RFC 4180. Lists and objects are JSON in one cell. */
export const csv = (): Writer => ({
  begin: `dateTime,${FIELD_NAMES.join(',')},receivedAt\r\n`,
  page: (locations) => writeChunks(locations, record),
  end: () => '',
})
