import {
  type Location,
  type Point,
  parseNumber,
  parseTime,
  type Track,
  toKilometresPerHour,
  withoutUndefined,
} from './track.ts'
import { readXml } from './xml.ts'

/* GPX 1.0 and 1.1: the points of all tracks. Speed, course and temperature are read from GPX 1.0 and
 * from Garmin's TrackPointExtension. */

const toLocation = (attributes: Record<string, string>, values: Map<string, string>): Location => {
  const speed = parseNumber(values.get('speed'))
  return withoutUndefined({
    dateTime: values.get('time'),
    latitude: parseNumber(attributes.lat),
    longitude: parseNumber(attributes.lon),
    altitude: parseNumber(values.get('ele')),
    speed: speed === undefined ? undefined : toKilometresPerHour(speed),
    course: parseNumber(values.get('course')),
    temperature: parseNumber(values.get('atemp')),
    source: values.get('src')?.trim() || undefined,
  })
}

export const readGpx = (text: string): Track => {
  const points: Point[] = []
  let withoutTime = 0
  let others = 0
  let isGpx = false
  let count = 0
  let attributes: Record<string, string> | null = null
  let values = new Map<string, string>()
  let content = ''
  for (const token of readXml(text)) {
    if (token.type === 'text') content += token.text
    else if (token.type === 'open') {
      content = ''
      if (token.name === 'gpx') isGpx = true
      if (token.name === 'wpt' || token.name === 'rtept') others++
      if (token.name !== 'trkpt') continue
      attributes = token.attributes
      values = new Map()
    } else if (token.name === 'trkpt' && attributes) {
      count++
      const time = values.get('time')?.trim()
      if (!time) withoutTime++
      else {
        values.set('time', parseTime(time) ?? time)
        points.push({ place: `point ${count}`, location: toLocation(attributes, values) })
      }
      attributes = null
    } else if (attributes) {
      values.set(token.name, content)
      content = ''
    }
  }
  const notes =
    others > 0 ? [`${others} points of routes and waypoints are not part of a track`] : []
  if (!isGpx) notes.push('the file has no <gpx> element')
  return { points, withoutTime, notes }
}
