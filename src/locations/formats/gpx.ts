import { decimal, xmlText } from '../../domain/text/xml.ts'
import { iso } from '../../domain/time/iso.ts'
import type { StoredLocation } from '../../domain/track/location.ts'
import { writeChunks } from '../../http/paging/rowWriter.ts'
import type { Track, Writer } from './formats.ts'

/* GPX 1.1. Speed and course are in Garmin's TrackPointExtension v2, which most readers support. */

const GPX = 'http://www.topografix.com/GPX/1/1'
const EXTENSION = 'http://www.garmin.com/xmlschemas/TrackPointExtension/v2'

/** Locations have km/h, GPX m/s. */
const toMetresPerSecond = (speed: number): string => decimal(Math.round((speed / 3.6) * 1e4) / 1e4)

const extensions = ({ speed, course }: StoredLocation): string => {
  if (speed === undefined && course === undefined) return ''
  const content =
    (speed === undefined ? '' : `<gpxtpx:speed>${toMetresPerSecond(speed)}</gpxtpx:speed>`) +
    (course === undefined ? '' : `<gpxtpx:course>${decimal(course % 360)}</gpxtpx:course>`)
  return `<extensions><gpxtpx:TrackPointExtension>${content}</gpxtpx:TrackPointExtension></extensions>`
}

/** Elements in the order of the schema, whose longitudes end before 180: that is −180. */
const point = (location: StoredLocation): string => {
  const { latitude, longitude, altitude, dateTime, source } = location
  return `<trkpt lat="${decimal(latitude)}" lon="${longitude === 180 ? '-180' : decimal(longitude)}">${
    altitude === undefined ? '' : `<ele>${decimal(altitude)}</ele>`
  }<time>${iso(dateTime)}</time>${source === undefined ? '' : `<src>${xmlText(source)}</src>`}${extensions(location)}</trkpt>\n`
}

export const gpx = ({ deviceName }: Track): Writer => ({
  begin: `<?xml version="1.0" encoding="UTF-8"?>
<gpx version="1.1" creator="Perigee" xmlns="${GPX}" xmlns:gpxtpx="${EXTENSION}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="${GPX} ${GPX}/gpx.xsd ${EXTENSION} https://www8.garmin.com/xmlschemas/TrackPointExtensionv2.xsd">
<metadata><name>${xmlText(deviceName)}</name></metadata>
<trk><name>${xmlText(deviceName)}</name><trkseg>
`,
  page: (locations) => writeChunks(locations, point),
  end: () => '</trkseg></trk>\n</gpx>\n',
})
