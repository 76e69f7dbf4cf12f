import type { StoredLocation } from '../../domain/location.ts'
import { iso } from '../../http/wire.ts'
import type { Track, Writer } from './formats.ts'
import { decimal, xmlText } from './xml.ts'

/** Lists beside a track, one value a location. */
const SERIES = { speed: 'double', course: 'double', accuracy: 'double', battery: 'double', source: 'string' } as const

const value = (given: number | string | undefined): string =>
  given === undefined ? '' : typeof given === 'number' ? decimal(given) : xmlText(given)

const series = (locations: StoredLocation[]): string =>
  (Object.keys(SERIES) as (keyof typeof SERIES)[])
    .filter((name) => locations.some((location) => location[name] !== undefined))
    .map(
      (name) =>
        `<gx:SimpleArrayData name="${name}">${locations.map((location) => `<gx:value>${value(location[name])}</gx:value>`).join('')}</gx:SimpleArrayData>\n`,
    )
    .join('')

/** A schema's order: all times, then all places. Heights count only where every place has one. */
const track = (locations: StoredLocation[]): string => {
  const hasHeights = locations.length > 0 && locations.every(({ altitude }) => altitude !== undefined)
  const data = series(locations)
  return `<gx:Track><altitudeMode>${hasHeights ? 'absolute' : 'clampToGround'}</altitudeMode>
${locations.map(({ dateTime }) => `<when>${iso(dateTime)}</when>\n`).join('')}${locations
  .map(({ longitude, latitude, altitude = 0 }) => `<gx:coord>${decimal(longitude)} ${decimal(latitude)} ${decimal(altitude)}</gx:coord>\n`)
  .join('')}${data && `<ExtendedData><SchemaData schemaUrl="#series">\n${data}</SchemaData></ExtendedData>\n`}</gx:Track>
`
}

/** One `gx:Track`; a track of several pages is a `gx:MultiTrack` of them, joined, since times and places stand apart in each. */
export const kml = ({ deviceName, isShort }: Track): Writer => {
  const fields = Object.entries(SERIES).map(([name, type]) => `<gx:SimpleArrayField name="${name}" type="${type}"/>`)
  return {
    begin: `<?xml version="1.0" encoding="UTF-8"?>
<kml xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="http://www.google.com/kml/ext/2.2">
<Document><name>${xmlText(deviceName)}</name>
<Schema id="series">${fields.join('')}</Schema>
<Placemark><name>${xmlText(deviceName)}</name>
${isShort ? '' : '<gx:MultiTrack><gx:interpolate>1</gx:interpolate>\n'}`,
    page: track,
    end: () => `${isShort ? '' : '</gx:MultiTrack>\n'}</Placemark></Document>\n</kml>\n`,
  }
}
