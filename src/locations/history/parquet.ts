import type { FileMetaData, RowGroup, SchemaElement } from 'hyparquet'
import type { LocationRow } from '../../db/queries/locations.ts'

/*
 * A month of an account's tracks as a Parquet file: the columns of `locations` in its integers, sorted
 * by device and time. The libraries are loaded at the first use: most isolates never need them.
 */

/** A location with its device, as the file and the table have it. */
export interface TrackRow extends LocationRow {
  deviceKey: number
}

interface Column {
  /** As in the table. */
  name: string
  member: keyof TrackRow
  type: 'INT32' | 'INT64' | 'TEXT' | 'TIME'
  isRequired?: boolean
  /** Neighbours are close to each other. */
  isDelta?: boolean
  /** The statistics that reading selects row groups by. */
  isKey?: boolean
}

const COLUMNS: Column[] = [
  { name: 'device_key', member: 'deviceKey', type: 'INT64', isRequired: true, isKey: true },
  { name: 'time', member: 'time', type: 'TIME', isRequired: true, isDelta: true, isKey: true },
  { name: 'latitude', member: 'latitude', type: 'INT32', isRequired: true, isDelta: true },
  { name: 'longitude', member: 'longitude', type: 'INT32', isRequired: true, isDelta: true },
  { name: 'altitude', member: 'altitude', type: 'INT32' },
  { name: 'speed', member: 'speed', type: 'INT32' },
  { name: 'course', member: 'course', type: 'INT32' },
  { name: 'accuracy', member: 'accuracy', type: 'INT64' },
  { name: 'battery', member: 'battery', type: 'INT32' },
  { name: 'source', member: 'source', type: 'TEXT' },
  { name: 'rest', member: 'rest', type: 'TEXT' },
  { name: 'received_at', member: 'receivedAt', type: 'TIME', isRequired: true, isDelta: true },
]

const TYPES = {
  INT32: { type: 'INT32' },
  INT64: { type: 'INT64' },
  TEXT: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  TIME: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
} as const

const SCHEMA: SchemaElement[] = [
  { name: 'locations', num_children: COLUMNS.length },
  ...COLUMNS.map(({ name, type, isRequired }) => ({
    name,
    ...TYPES[type],
    repetition_type: isRequired ? ('REQUIRED' as const) : ('OPTIONAL' as const),
  })),
]

const isLong = ({ type }: Column): boolean => type === 'INT64' || type === 'TIME'

/** How far a file has been written; as JSON it survives the isolate. */
export interface Written {
  /** The size of the parts before this one. */
  offset: number
  rows: number
  groups: RowGroup[]
}

export const NOTHING_WRITTEN: Written = { offset: 0, rows: 0, groups: [] }

/**
 * Writes one part of a file. Parts follow each other in any number of isolates: `groups` of the part
 * before is given to the next one.
 */
export const beginPart = async (before: Written) => {
  const { ParquetWriter } = await import('hyparquet-writer/src/parquet-writer.js')
  const { ByteWriter } = await import('hyparquet-writer/src/bytewriter.js')
  const writer = new ByteWriter(1 << 20)
  const file = new ParquetWriter({ writer, schema: SCHEMA, createdBy: 'Perigee' })
  if (before.offset > 0) {
    // Only the first part has the mark at the beginning of the file.
    writer.index = 0
    writer.offset = before.offset
    file.row_groups = [...before.groups]
    file.num_rows = BigInt(before.rows)
  }
  return {
    bytes: () => writer.index,
    rows: () => Number(file.num_rows),
    /** Adds one row group. */
    add: (rows: readonly TrackRow[]): void => {
      const columnData = COLUMNS.map((column) => ({
        name: column.name,
        data: rows.map(({ [column.member]: value }) =>
          isLong(column) && value !== null ? BigInt(value) : value,
        ),
        statistics: column.isKey === true,
        offsetIndex: false,
        ...(column.isDelta && { encoding: 'DELTA_BINARY_PACKED' as const }),
      }))
      file.write({ columnData, rowGroupSize: rows.length })
    },
    /** Ends the part. Zeros after its last row group make it as long as parts have to be. */
    end: (length: number): { bytes: Uint8Array; written: Written } => {
      if (writer.index > length) throw new Error('a part of a month is too long')
      writer.appendBytes(new Uint8Array(length - writer.index))
      const written = {
        offset: writer.offset,
        rows: Number(file.num_rows),
        groups: file.row_groups,
      }
      return { bytes: writer.getBytes(), written }
    },
    /** Ends the file. */
    finish: (): Uint8Array => {
      file.finish()
      return writer.getBytes()
    },
  }
}

/** A part of a file, by its bytes. */
export interface ByteSource {
  byteLength: number
  slice: (start: number, end?: number) => Promise<ArrayBuffer>
}

const PARSERS = { timestampFromMilliseconds: Number as unknown as () => Date }

const FOOTER_BYTES = 65_536

export const readFooter = async (file: ByteSource): Promise<FileMetaData> => {
  const { parquetMetadataAsync } = await import('hyparquet/src/metadata.js')
  return parquetMetadataAsync(file, { parsers: PARSERS, initialFetchSize: FOOTER_BYTES })
}

/** The least and the greatest value of a column of a row group. */
export const boundsOf = (group: RowGroup, name: 'device_key' | 'time'): [number, number] => {
  const found = group.columns.find(({ meta_data }) => meta_data?.path_in_schema[0] === name)
  const { min_value, max_value } = found?.meta_data?.statistics ?? {}
  if (min_value === undefined || max_value === undefined)
    throw new Error(`a row group has no statistics of ${name}`)
  return [Number(min_value), Number(max_value)]
}

const toTrackRow = (values: Record<string, unknown>): TrackRow => {
  const row: Record<string, unknown> = {}
  for (const { name, member } of COLUMNS) {
    const value = values[name]
    row[member] = typeof value === 'bigint' ? Number(value) : (value ?? null)
  }
  return row as unknown as TrackRow
}

/** The rows of one row group, read without the others. */
export const readGroup = async (
  file: ByteSource,
  { schema, ...footer }: FileMetaData,
  group: RowGroup,
): Promise<TrackRow[]> => {
  const { parquetReadObjects } = await import('hyparquet/src/read.js')
  const metadata = { ...footer, schema, num_rows: group.num_rows, row_groups: [group] }
  const rows = await parquetReadObjects({ file, metadata, parsers: PARSERS as never })
  return rows.map(toTrackRow)
}
