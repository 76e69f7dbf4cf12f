import type { LocationRow } from '../../db/queries/locations.ts'
import { type MonthFile, type MonthObject, openMonth, overlaps, readRows } from './monthFile.ts'
import type { TrackRow } from './parquet.ts'

interface Opened extends MonthFile {
  /** The row group that was read last: the next device is mostly in it too. */
  last: { index: number; rows: TrackRow[] } | null
}

const readOpened = async (month: Opened, index: number): Promise<TrackRow[]> => {
  if (month.last?.index === index) return month.last.rows
  month.last = null
  const rows = (await readRows(month, index)) ?? []
  month.last = { index, rows }
  return rows
}

/** Reads months for many devices, in the order of their keys, so that each row group is read once. */
export class MonthReader {
  readonly #months: Promise<Opened>[]

  constructor(bucket: R2Bucket, months: readonly MonthObject[]) {
    this.#months = months.map(async (month) => ({
      ...(await openMonth(bucket, month)),
      last: null,
    }))
  }

  /** A part of a device's track, both ends included, in pages in order of time. */
  async *pages(deviceKey: number, from: number, to: number): AsyncGenerator<LocationRow[]> {
    for (const opened of this.#months) {
      const month = await opened
      for (const { index, keys, times } of month.groups) {
        if (!overlaps(keys, deviceKey, deviceKey) || !overlaps(times, from, to)) continue
        const rows = await readOpened(month, index)
        const own = rows.filter(
          (row) => row.deviceKey === deviceKey && row.time >= from && row.time <= to,
        )
        if (own.length > 0) yield own.map(({ deviceKey: _, ...location }) => location)
      }
    }
  }
}
