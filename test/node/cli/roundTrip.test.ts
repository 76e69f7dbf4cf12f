import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FIELDS, NUMBERS } from '../../../clients/typescript/cli/formats/fields.ts'
import { parseTrack } from '../../../clients/typescript/cli/formats/readTrack.ts'
import {
  FIELD_NAMES,
  NUMBER_FIELDS,
  type StoredLocation,
} from '../../../src/domain/track/location.ts'
import { csv } from '../../../src/locations/formats/csv.ts'
import type { Track, Writer } from '../../../src/locations/formats/formats.ts'
import { geojsonPoints } from '../../../src/locations/formats/geojson.ts'
import { gpx } from '../../../src/locations/formats/gpx.ts'
import { kml } from '../../../src/locations/formats/kml.ts'

/* What the service exports, the command line imports again. */

const hundredths = (max: number, min = 0) =>
  fc.integer({ min: min * 100, max: max * 100 }).map((value) => value / 100)
const stored = fc.record(
  {
    dateTime: fc.integer({ min: Date.UTC(2000, 0, 1), max: Date.UTC(2020, 0, 1) }),
    latitude: fc.integer({ min: -9e8, max: 9e8 }).map((value) => value / 1e7),
    longitude: fc.integer({ min: -18e8, max: 18e8 - 1 }).map((value) => value / 1e7),
    altitude: hundredths(9000, -400),
    speed: hundredths(1200),
    course: hundredths(359),
    source: fc.string({ minLength: 1, maxLength: 12 }).filter((text) => text === text.trim()),
    receivedAt: fc.constant(0),
  },
  { requiredKeys: ['dateTime', 'latitude', 'longitude', 'receivedAt'] },
)
const tracks = fc.uniqueArray(stored, {
  minLength: 1,
  maxLength: 40,
  selector: ({ dateTime }) => dateTime,
}) as fc.Arbitrary<StoredLocation[]>

const WRITERS: [string, (track: Track) => Writer][] = [
  ['gpx', gpx],
  ['csv', csv],
  ['kml', kml],
  ['geojson', geojsonPoints],
]

const write = (writer: Writer, locations: StoredLocation[]): string =>
  [writer.begin, ...writer.page(locations), writer.end()].join('')

test.each(WRITERS)('what is exported as %s is imported unchanged', (format, writerOf) => {
  fc.assert(
    fc.property(tracks, fc.string(), (locations, deviceName) => {
      // KML has an altitude for all locations or for none.
      const given =
        format === 'kml' && !locations.every(({ altitude }) => altitude !== undefined)
          ? locations.map(({ altitude, ...location }) => location)
          : locations
      const text = write(writerOf({ deviceName, isShort: true }), given)
      const { points, withoutTime } = parseTrack(format as 'gpx', text)
      expect(withoutTime).toBe(0)
      expect(points.map(({ location }) => location)).toEqual(
        given.map(({ receivedAt, dateTime, ...location }) => ({
          ...location,
          dateTime: new Date(dateTime).toISOString(),
        })),
      )
    }),
    { numRuns: 60 },
  )
})

test('text in CSV that looks like a marked formula is imported unchanged', () => {
  const given = ["'=", "''=1+1", '=1+1', "'", "'a"].map((source, minute) => ({
    dateTime: Date.UTC(2020, 0, 1, 0, minute),
    latitude: 0,
    longitude: 0,
    source,
    receivedAt: 0,
  }))
  const { points } = parseTrack('csv', write(csv(), given))
  expect(points.map(({ location }) => location.source)).toEqual(given.map(({ source }) => source))
})

test('long tracks in KML, of several parts, are read whole', () => {
  const locations = [1, 2, 3, 4].map((minute) => ({
    dateTime: Date.UTC(2020, 0, 1, 0, minute),
    latitude: minute,
    longitude: -minute,
    speed: minute * 10,
    receivedAt: 0,
  }))
  const writer = kml({ deviceName: 'Tern', isShort: false })
  const text = [
    writer.begin,
    ...writer.page(locations.slice(0, 2)),
    ...writer.page(locations.slice(2)),
    writer.end(),
  ].join('')
  const { points } = parseTrack('kml', text)
  expect(points.map(({ location: { speed, latitude } }) => [speed, latitude])).toEqual([
    [10, 1],
    [20, 2],
    [30, 3],
    [40, 4],
  ])
})

test('the members and ranges are those of the service', () => {
  expect([...FIELDS].sort()).toEqual([...FIELD_NAMES].sort())
  expect(NUMBERS).toEqual(
    Object.fromEntries(
      Object.entries(NUMBER_FIELDS).map(([name, { min, max }]) => [name, [min, max]]),
    ),
  )
})
