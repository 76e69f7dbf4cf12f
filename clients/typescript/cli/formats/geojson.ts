import { FIELDS } from './fields.ts'
import {
  type Location,
  type Point,
  parseTime,
  type Track,
  UnreadableFile,
  withoutUndefined,
} from './track.ts'

/* GeoJSON: points with a time among their properties, and lines with a list of times, one for each
 * position (`coordTimes`, or `coordinateProperties.times`). */

type Json = Record<string, unknown>

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

const TIME_NAMES = ['dateTime', 'time', 'timestamp', 'datetime', 'date']

const timeOf = (properties: Json): unknown => {
  const name = TIME_NAMES.find((candidate) => (properties[candidate] ?? null) !== null)
  return name === undefined ? undefined : properties[name]
}

const toLocation = (position: unknown, time: unknown, properties: Json): Location => {
  const [longitude, latitude, altitude] = listOf(position)
  const members = Object.entries(properties).filter(([name]) => FIELDS.has(name))
  return withoutUndefined({
    ...(typeof altitude === 'number' && { altitude }),
    ...Object.fromEntries(members),
    dateTime: parseTime(time) ?? String(time),
    latitude: latitude as number,
    longitude: longitude as number,
  })
}

const timesOf = (properties: Json): unknown[] => {
  const { coordTimes, coordinateProperties } = properties
  if (Array.isArray(coordTimes)) return coordTimes
  return listOf(isObject(coordinateProperties) ? coordinateProperties.times : undefined)
}

class GeoJsonReader {
  readonly points: Point[] = []
  withoutTime = 0
  others = 0
  #count = 0

  #add(position: unknown, time: unknown, properties: Json): void {
    this.#count++
    if ((time ?? '') === '') this.withoutTime++
    else
      this.points.push({
        place: `point ${this.#count}`,
        location: toLocation(position, time, properties),
      })
  }

  feature({ geometry, properties }: Json): void {
    const { type, coordinates } = isObject(geometry) ? geometry : {}
    const given = isObject(properties) ? properties : {}
    const times = timesOf(given)
    if (type === 'Point') this.#add(coordinates, timeOf(given), given)
    else if (type === 'LineString')
      for (const [index, position] of listOf(coordinates).entries())
        this.#add(position, times[index], {})
    else if (type === 'MultiLineString')
      for (const [line, positions] of listOf(coordinates).entries())
        for (const [index, position] of listOf(positions).entries())
          this.#add(position, listOf(times[line])[index], {})
    else this.others++
  }
}

export const readGeoJson = (text: string): Track => {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch (error) {
    throw new UnreadableFile(`It is not JSON: ${(error as Error).message}`)
  }
  if (!isObject(parsed) || !['FeatureCollection', 'Feature'].includes(String(parsed.type)))
    throw new UnreadableFile('It is not GeoJSON: it must be a FeatureCollection or a Feature.')
  const reader = new GeoJsonReader()
  for (const feature of parsed.type === 'Feature' ? [parsed] : listOf(parsed.features))
    if (isObject(feature)) reader.feature(feature)
  const { points, withoutTime, others } = reader
  const notes = others > 0 ? [`${others} features are neither points nor lines`] : []
  return { points, withoutTime, notes }
}
