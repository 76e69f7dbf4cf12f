import { textOf, timeOf } from '../arguments.ts'
import type { Command, Context } from '../command.ts'
import { download } from '../download.ts'
import { EXIT, usageFailure } from '../failure.ts'
import { TRACK_FORMATS, type TrackFormat } from '../formats/readTrack.ts'
import { findDevice, type Location } from '../session.ts'
import { note, writeJson, writeTable } from '../terminal/output.ts'
import type { Column } from '../terminal/table.ts'
import { count } from '../terminal/text.ts'

const COLUMNS: Column<Location>[] = [
  { title: 'TIME (UTC)', value: ({ dateTime }) => dateTime.slice(0, 19).replace('T', ' ') },
  { title: 'LATITUDE', value: ({ latitude }) => latitude.toFixed(5), isNumber: true },
  { title: 'LONGITUDE', value: ({ longitude }) => longitude.toFixed(5), isNumber: true },
  { title: 'ALTITUDE', value: ({ altitude }) => altitude, isNumber: true },
  { title: 'KM/H', value: ({ speed }) => speed, isNumber: true },
  { title: 'COURSE', value: ({ course }) => course, isNumber: true },
  { title: 'BATTERY', value: ({ battery }) => battery, isNumber: true },
  { title: 'SOURCE', value: ({ source }) => source },
]
/** Tables are written in parts, so that a long track needs no memory. */
const TABLE_ROWS = 1000
const DEFAULT_SPAN_MS = 86_400_000

const formatIn = ({ values, isJson }: Context): TrackFormat | null => {
  const named = TRACK_FORMATS.filter((format) => values[format] === true)
  if (named.length + Number(isJson) > 1) throw usageFailure('Choose one format.')
  return named[0] ?? null
}

const list = async (context: Context, deviceId: string, query: { from: string; to?: string }) => {
  const { isJson, signal, open } = context
  const perigee = await open()
  const path = { deviceId }
  let rows: Location[] = []
  let total = 0
  for await (const location of perigee.list('/api/devices/{deviceId}/locations', {
    path,
    query,
    signal,
  })) {
    total++
    if (isJson) await writeJson(location)
    else rows.push(location)
    if (rows.length === TABLE_ROWS) {
      await writeTable(rows, COLUMNS)
      rows = []
    }
  }
  if (rows.length > 0) await writeTable(rows, COLUMNS)
  if (!isJson) note(`${count(total, 'location')} since ${query.from}`)
}

export const track: Command = {
  name: 'track',
  summary: 'Show the track of a device, or write it as GPX, KML, CSV or GeoJSON.',
  usage: ['track DEVICE [--from TIME] [--to TIME] [--gpx|--kml|--csv|--geojson] [--output FILE]'],
  maxPositionals: 1,
  options: {
    from: { type: 'string', value: 'TIME', about: 'First time; without it, 24 hours ago.' },
    to: { type: 'string', value: 'TIME', about: 'Last time; without it, now.' },
    gpx: { type: 'boolean', about: 'Write GPX 1.1.' },
    kml: { type: 'boolean', about: 'Write KML 2.2.' },
    csv: { type: 'boolean', about: 'Write CSV.' },
    geojson: { type: 'boolean', about: 'Write GeoJSON.' },
    output: { type: 'string', short: 'o', value: 'FILE', about: 'Write to a file; “-” is stdout.' },
  },
  details: [
    'DEVICE is an id, an identifier or a name.',
    'TIME is 2026-11-14T09:30Z or 2026-11-14, in UTC unless it has an offset, or how long ago: 30m, 12h,',
    '7d.',
  ],
  run: async (context) => {
    const { values, positionals, signal, open } = context
    const [device] = positionals
    if (!device) throw usageFailure('Name a device.')
    const format = formatIn(context)
    const given = textOf(values, 'output')
    const output = given === '-' ? undefined : given
    if (given && !format) throw usageFailure('--output needs --gpx, --kml, --csv or --geojson.')
    const from = timeOf(values, 'from') ?? new Date(Date.now() - DEFAULT_SPAN_MS).toISOString()
    const to = timeOf(values, 'to')
    if (to && to < from) throw usageFailure('--from must not be after --to.')
    const perigee = await open()
    const { id } = await findDevice(perigee, device, signal)
    const query = { from, ...(to && { to }) }
    if (!format) await list({ ...context, open: async () => perigee }, id, query)
    else
      await download({
        open: () =>
          perigee.get('/api/devices/{deviceId}/locations', {
            path: { deviceId: id },
            query: { ...query, format },
            parseAs: 'stream',
            signal,
          }),
        format,
        output,
        signal,
      })
    return EXIT.ok
  },
}
