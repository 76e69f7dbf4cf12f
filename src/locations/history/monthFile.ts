import type { FileMetaData, RowGroup } from 'hyparquet'
import type { LocationRow } from '../../db/queries/locations.ts'
import { BoundedCache } from '../../domain/cache/boundedCache.ts'
import { type ByteSource, boundsOf, readFooter, readGroup, type TrackRow } from './parquet.ts'

/* Reading months out of the bucket: the end of the object, then the row groups that are needed. */

/** A month in the bucket. An object never changes: another one gets another name. */
export interface MonthObject {
  object: string
  bytes: number
}

const openObject = (bucket: R2Bucket, { object, bytes }: MonthObject): ByteSource => ({
  byteLength: bytes,
  slice: async (start, end = bytes) => {
    const part = await bucket.get(object, { range: { offset: start, length: end - start } })
    if (!part) throw new Error('an object of the history is not in the bucket')
    return part.arrayBuffer()
  },
})

interface Group {
  index: number
  group: RowGroup
  keys: [first: number, last: number]
  times: [first: number, last: number]
}

export interface MonthFile {
  name: string
  file: ByteSource
  footer: FileMetaData
  groups: Group[]
}

/** By the number of row groups, of which each takes about 10 KB. */
const files = new BoundedCache<Pick<MonthFile, 'footer' | 'groups'>>(
  1000,
  ({ groups }) => groups.length + 1,
)

export const openMonth = async (bucket: R2Bucket, month: MonthObject): Promise<MonthFile> => {
  const file = openObject(bucket, month)
  const known = files.get(month.object)
  if (known) return { name: month.object, file, ...known }
  const footer = await readFooter(file)
  const groups = footer.row_groups.map((group, index) => ({
    index,
    group,
    keys: boundsOf(group, 'device_key'),
    times: boundsOf(group, 'time'),
  }))
  files.set(month.object, { footer, groups })
  return { name: month.object, file, footer, groups }
}

/** The rows of a row group; undefined beyond the last one. */
export const readRows = async (
  { file, footer, groups }: MonthFile,
  index: number,
): Promise<TrackRow[] | undefined> => {
  const found = groups[index]
  return found && readGroup(file, footer, found.group)
}

/** Rows of one device in one row group: the next page of a long reply is mostly in it too. */
const tracks = new BoundedCache<LocationRow[]>(40_000, ({ length }) => length + 1)

const readTrack = async (
  month: MonthFile,
  { index, group }: Group,
  deviceKey: number,
): Promise<LocationRow[]> => {
  const key = `${month.name} ${index} ${deviceKey}`
  const known = tracks.get(key)
  if (known) return known
  const rows = await readGroup(month.file, month.footer, group)
  const own = rows
    .filter((row) => row.deviceKey === deviceKey)
    .map(({ deviceKey: _, ...location }) => location)
  tracks.set(key, own)
  return own
}

/** A part of one device's track, both ends included. */
export interface ArchivedSpan {
  deviceKey: number
  from: number
  to: number
  limit: number
  order: 'asc' | 'desc'
}

/** How many months are opened at the same time. */
const AHEAD = 4

export const overlaps = ([first, last]: [number, number], from: number, to: number): boolean =>
  first <= to && last >= from

/** The first rows of a span, from months in order of time. */
export const readMonths = async (
  bucket: R2Bucket,
  months: readonly MonthObject[],
  { deviceKey, from, to, limit, order }: ArchivedSpan,
): Promise<LocationRow[]> => {
  const rows: LocationRow[] = []
  const inOrder = <T>(list: readonly T[]): readonly T[] =>
    order === 'asc' ? list : list.toReversed()
  const wanted = inOrder(months)
  for (let at = 0; at < wanted.length && rows.length < limit; at += AHEAD) {
    const opened = wanted.slice(at, at + AHEAD).map((month) => openMonth(bucket, month))
    for (const month of await Promise.all(opened)) {
      const groups = month.groups.filter(
        ({ keys, times }) => overlaps(keys, deviceKey, deviceKey) && overlaps(times, from, to),
      )
      for (const group of inOrder(groups)) {
        if (rows.length >= limit) break
        const track = await readTrack(month, group, deviceKey)
        rows.push(...inOrder(track.filter(({ time }) => time >= from && time <= to)))
      }
    }
  }
  return rows.slice(0, limit)
}

/** Those of a device's locations that have one of these times, from at most `max` row groups. */
export const readTimes = async (
  bucket: R2Bucket,
  month: MonthObject,
  { deviceKey, times, max }: { deviceKey: number; times: readonly number[]; max: number },
): Promise<{ rows: LocationRow[]; groups: number }> => {
  const opened = await openMonth(bucket, month)
  const wanted = new Set(times)
  const groups = opened.groups
    .filter(
      (group) =>
        overlaps(group.keys, deviceKey, deviceKey) &&
        times.some((time) => overlaps(group.times, time, time)),
    )
    .slice(0, max)
  const rows: LocationRow[] = []
  for (const group of groups) {
    const track = await readTrack(opened, group, deviceKey)
    rows.push(...track.filter(({ time }) => wanted.has(time)))
  }
  return { rows, groups: groups.length + 1 }
}
