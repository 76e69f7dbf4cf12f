import { decimal, xmlText } from '../../domain/text/xml.ts'
import { iso } from '../../domain/time/iso.ts'
import type { StoredLocation } from '../../domain/track/location.ts'
import { writeChunks } from '../../http/paging/rowWriter.ts'
import type { Track, Writer } from './formats.ts'

/** Lists beside the track, with one value for each location. */
const SERIES = {
  speed: 'double',
  course: 'double',
  accuracy: 'double',
  battery: 'double',
  source: 'string',
} as const

const value = (given: number | string | undefined): string =>
  given === undefined ? '' : typeof given === 'number' ? decimal(given) : xmlText(given)

const NAMES = Object.keys(SERIES) as (keyof typeof SERIES)[]

function* writeSeries(locations: StoredLocation[]): Generator<string> {
  const present = NAMES.filter((name) => locations.some((location) => location[name] !== undefined))
  if (present.length === 0) return
  yield '<ExtendedData><SchemaData schemaUrl="#series">\n'
  for (const name of present) {
    yield `<gx:SimpleArrayData name="${name}">`
    yield* writeChunks(locations, (location) => `<gx:value>${value(location[name])}</gx:value>`)
    yield '</gx:SimpleArrayData>\n'
  }
  yield '</SchemaData></ExtendedData>\n'
}

const when = ({ dateTime }: StoredLocation): string => `<when>${iso(dateTime)}</when>\n`
const coord = ({ longitude, latitude, altitude = 0 }: StoredLocation): string =>
  `<gx:coord>${decimal(longitude)} ${decimal(latitude)} ${decimal(altitude)}</gx:coord>\n`

/** In the order of the schema: all times, then all positions. */
function* writeTrack(locations: StoredLocation[]): Generator<string> {
  const hasAltitudes = locations.every(({ altitude }) => altitude !== undefined)
  yield `<gx:Track><altitudeMode>${hasAltitudes ? 'absolute' : 'clampToGround'}</altitudeMode>\n`
  yield* writeChunks(locations, when)
  yield* writeChunks(locations, coord)
  yield* writeSeries(locations)
  yield '</gx:Track>\n'
}

/** One `gx:Track` for each page; several are joined in a `gx:MultiTrack`. */
export const kml = ({ deviceName, isShort }: Track): Writer => {
  const fields = Object.entries(SERIES).map(
    ([name, type]) => `<gx:SimpleArrayField name="${name}" type="${type}"/>`,
  )
  return {
    begin: `<?xml version="1.0" encoding="UTF-8"?>
<kml xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="http://www.google.com/kml/ext/2.2">
<Document><name>${xmlText(deviceName)}</name>
<Schema id="series">${fields.join('')}</Schema>
<Placemark><name>${xmlText(deviceName)}</name>
${isShort ? '' : '<gx:MultiTrack><gx:interpolate>1</gx:interpolate>\n'}`,
    page: writeTrack,
    end: () => `${isShort ? '' : '</gx:MultiTrack>\n'}</Placemark></Document>\n</kml>\n`,
  }
}
