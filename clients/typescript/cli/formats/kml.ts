import {
  type Location,
  type Point,
  parseNumber,
  parseTime,
  type Track,
  withoutUndefined,
} from './track.ts'
import { readXml } from './xml.ts'

/* KML 2.2: `gx:Track`, and placemarks with a point and a time. The lists beside a track (speed and
 * others) are read only from files that Perigee wrote, since their units are not defined. */

const SERIES = ['speed', 'course', 'accuracy', 'battery'] as const
const VIEWS = ['LookAt', 'Camera']
const OUR_SCHEMA = '#series'

interface Placemark {
  times: string[]
  coordinates: string[]
  series: Map<string, string[]>
  /** KML ignores the altitude unless this says otherwise. */
  altitudeMode: string
}

const newPlacemark = (): Placemark => ({
  times: [],
  coordinates: [],
  series: new Map(),
  altitudeMode: 'clampToGround',
})

const toLocation = (mark: Placemark, index: number, time: string): Location => {
  const [longitude, latitude, altitude] = (mark.coordinates[index] ?? '').trim().split(/[\s,]+/)
  const location: Location = {
    dateTime: parseTime(time) ?? time,
    latitude: parseNumber(latitude),
    longitude: parseNumber(longitude),
    altitude: mark.altitudeMode === 'absolute' ? parseNumber(altitude) : undefined,
    source: mark.series.get('source')?.[index] || undefined,
  }
  for (const name of SERIES) location[name] = parseNumber(mark.series.get(name)?.[index])
  return withoutUndefined(location)
}

class KmlReader {
  readonly points: Point[] = []
  withoutTime = 0
  isKml = false
  #count = 0
  #mark: Placemark | null = null
  #isOurSeries = false
  /** Whether what is read describes how the map is looked at. */
  #isView = false
  #values: string[] | null = null

  open(name: string, attributes: Record<string, string>): void {
    if (name === 'kml') this.isKml = true
    if (name === 'Placemark' || name === 'Track') this.#mark = newPlacemark()
    if (VIEWS.includes(name)) this.#isView = true
    if (name === 'SchemaData') this.#isOurSeries = attributes.schemaUrl === OUR_SCHEMA
    if (name === 'SimpleArrayData' && this.#mark && this.#isOurSeries) {
      this.#values = []
      this.#mark.series.set(attributes.name ?? '', this.#values)
    }
  }

  close(name: string, content: string): void {
    if (VIEWS.includes(name)) this.#isView = false
    const mark = this.#mark
    if (!mark || this.#isView) return
    if (name === 'when') mark.times.push(content.trim())
    else if (name === 'coord') mark.coordinates.push(content)
    else if (name === 'coordinates') this.#addGeometry(mark, content)
    else if (name === 'altitudeMode') mark.altitudeMode = content.trim()
    else if (name === 'value') this.#values?.push(content)
    else if (name === 'SimpleArrayData') this.#values = null
    else if (name === 'Placemark' || name === 'Track') {
      this.#add(mark)
      this.#mark = name === 'Track' ? newPlacemark() : null
    }
  }

  /** The one time of a placemark is not the time of every position of a line. */
  #addGeometry(mark: Placemark, content: string): void {
    const positions = content.trim().split(/\s+/).filter(Boolean)
    if (positions.length === 1) mark.coordinates.push(...positions)
    else this.withoutTime += positions.length
  }

  #add(mark: Placemark): void {
    mark.coordinates.forEach((_, index) => {
      this.#count++
      const time = mark.times[index]
      if (time)
        this.points.push({
          place: `point ${this.#count}`,
          location: toLocation(mark, index, time),
        })
      else this.withoutTime++
    })
  }
}

export const readKml = (text: string): Track => {
  const reader = new KmlReader()
  let content = ''
  for (const token of readXml(text)) {
    if (token.type === 'text') content += token.text
    else {
      if (token.type === 'open') reader.open(token.name, token.attributes)
      else reader.close(token.name, content)
      content = ''
    }
  }
  const { points, withoutTime, isKml } = reader
  return { points, withoutTime, notes: isKml ? [] : ['the file has no <kml> element'] }
}
