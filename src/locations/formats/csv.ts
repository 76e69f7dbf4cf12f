import { csvCell } from '../../domain/text/csv.ts'
import { iso } from '../../domain/time/iso.ts'
import { FIELD_NAMES, type StoredLocation } from '../../domain/track/location.ts'
import { writeChunks } from '../../http/paging/rowWriter.ts'
import type { Writer } from './formats.ts'

const record = (location: StoredLocation): string =>
  `${iso(location.dateTime)},${FIELD_NAMES.map((name) => csvCell(location[name])).join(',')},${iso(location.receivedAt)}\r\n`

/** RFC 4180. Lists and objects are JSON in one cell. */
export const csv = (): Writer => ({
  begin: `dateTime,${FIELD_NAMES.join(',')},receivedAt\r\n`,
  page: (locations) => writeChunks(locations, record),
  end: () => '',
})
