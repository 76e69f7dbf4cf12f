import { gpx as gpxToGeoJson, kml as kmlToGeoJson } from '@tmcw/togeojson'
import { DOMParser } from '@xmldom/xmldom'
import fc from 'fast-check'
import Papa from 'papaparse'
import { expect, test } from 'vitest'
import { checkTrack } from '../../../clients/typescript/cli/formats/check.ts'
import { parseCsv } from '../../../clients/typescript/cli/formats/csv.ts'
import { readDevices } from '../../../clients/typescript/cli/formats/devices.ts'
import {
  decodeFile,
  formatOf,
  isDeviceList,
  parseTrack,
} from '../../../clients/typescript/cli/formats/readTrack.ts'
import { parseTime } from '../../../clients/typescript/cli/formats/track.ts'

const NOW = Date.UTC(2020, 5, 1)
const check = (format: 'gpx' | 'csv' | 'kml' | 'geojson', text: string) =>
  checkTrack(parseTrack(format, text), { now: NOW, withAlerts: false })

const GPX = `<?xml version="1.0"?>
<!DOCTYPE gpx SYSTEM "gpx.dtd">
<gpx version="1.0" xmlns:x="urn:x"><wpt lat="1" lon="1"><time>2019-01-01T00:00:00Z</time></wpt>
<!-- <trkpt lat="9" lon="9"/> -->
<trk><name><![CDATA[<trkpt lat="8" lon="8">]]></name><trkseg>
<trkpt lon='-9.5' lat='38.25'><ele>12.5</ele><time>2019-01-01T10:00:00+01:00</time>
  <course>90</course><speed>10</speed></trkpt>
<trkpt lat="38.5" lon="-9"><time>2019-01-01T09:00:01.250Z</time>
  <extensions><x:TrackPointExtension><x:atemp>21</x:atemp></x:TrackPointExtension></extensions></trkpt>
<trkpt lat="38.6" lon="-9"/>
</trkseg></trk></gpx>`

test('GPX of other programs is read: 1.0, Garmin’s extension, comments, CDATA', () => {
  const { points, withoutTime, notes } = parseTrack('gpx', GPX)
  expect(points.map(({ location }) => location)).toEqual([
    {
      dateTime: '2019-01-01T09:00:00.000Z',
      latitude: 38.25,
      longitude: -9.5,
      altitude: 12.5,
      speed: 36,
      course: 90,
    },
    { dateTime: '2019-01-01T09:00:01.250Z', latitude: 38.5, longitude: -9, temperature: 21 },
  ])
  expect(withoutTime).toBe(1)
  expect(notes).toEqual(['1 points of routes and waypoints are not part of a track'])
})

test('GPX and KML give the positions that another reader finds', () => {
  const fail = (): never => expect.fail('There is no line.')
  const parse = (text: string) => new DOMParser().parseFromString(text, 'text/xml') as never
  const [line] = gpxToGeoJson(parse(GPX)).features.filter(
    (feature) => feature.geometry?.type === 'LineString',
  )
  const ours = parseTrack('gpx', GPX).points.map(({ location }) => [
    location.longitude,
    location.latitude,
  ])
  const { coordinates: theirs } = (line ?? fail()).geometry as { coordinates: number[][] }
  expect(theirs.slice(0, 2).map(([longitude, latitude]) => [longitude, latitude])).toEqual(ours)

  const text = `<kml xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="http://www.google.com/kml/ext/2.2">
<Placemark><LookAt><gx:TimeStamp><when>2018-01-01T00:00:00Z</when></gx:TimeStamp></LookAt>
<gx:Track><when>2019-01-01T00:00:00Z</when><when>2019-01-01T00:01:00Z</when>
<gx:coord>-9.1 38.7 5</gx:coord><gx:coord>-9.2 38.8 6</gx:coord></gx:Track></Placemark>
<Placemark><TimeStamp><when>2019-01-02T00:00:00Z</when></TimeStamp>
<Point><coordinates>-9.3,38.9,7</coordinates></Point></Placemark>
<Placemark><TimeStamp><when>2019-01-02T00:00:00Z</when></TimeStamp>
<LineString><coordinates>1,2 3,4 5,6</coordinates></LineString></Placemark></kml>`
  const track = parseTrack('kml', text)
  expect(track.withoutTime).toBe(3)
  expect(track.points.map(({ location }) => location)).toEqual([
    { dateTime: '2019-01-01T00:00:00.000Z', latitude: 38.7, longitude: -9.1 },
    { dateTime: '2019-01-01T00:01:00.000Z', latitude: 38.8, longitude: -9.2 },
    { dateTime: '2019-01-02T00:00:00.000Z', latitude: 38.9, longitude: -9.3 },
  ])
  const features = kmlToGeoJson(parse(text)).features.map((feature) => feature?.geometry)
  expect(JSON.stringify(features)).toContain('[[-9.1,38.7,5],[-9.2,38.8,6]]')
})

test('GPX, KML and GeoJSON with times that do not exist are not imported', () => {
  const time = '2019-02-30T10:00:00Z'
  const gpx = `<gpx><trk><trkseg><trkpt lat="1" lon="2"><time>${time}</time></trkpt></trkseg></trk></gpx>`
  const kml = `<kml><Placemark><TimeStamp><when>${time}</when></TimeStamp><Point><coordinates>1,2</coordinates></Point></Placemark></kml>`
  const geometry = { type: 'Point', coordinates: [1, 2] }
  const geojson = JSON.stringify({ type: 'Feature', properties: { time: 'June 1 2019' }, geometry })
  for (const checked of [check('gpx', gpx), check('kml', kml), check('geojson', geojson)]) {
    expect(checked.points).toEqual([])
    expect(checked.problems).toEqual([expect.stringMatching('that exists$')])
  }
})

test.each([
  ['a part of a file', GPX.slice(0, -20)],
  ['an element that is not closed', '<gpx><trk></gpx>'],
  ['entities', '<!DOCTYPE gpx [<!ENTITY a "b">]><gpx/>'],
  ['text', 'latitude,longitude'],
  ['an attribute without quotation marks', '<gpx version=1.0></gpx>'],
])('%s is refused as GPX', (_, text) => {
  expect(() => parseTrack('gpx', text)).toThrow(/Line \d+:/)
})

test('GeoJSON of points and of lines with times is read', () => {
  const collection = {
    type: 'FeatureCollection',
    features: [
      {
        type: 'Feature',
        properties: { time: 1_546_300_800, speed: 5, color: 'red' },
        geometry: { type: 'Point', coordinates: [-9, 38, 4] },
      },
      {
        type: 'Feature',
        properties: { coordinateProperties: { times: ['2019-01-01T00:01:00Z', null] } },
        geometry: {
          type: 'LineString',
          coordinates: [
            [1, 2],
            [3, 4],
          ],
        },
      },
      { type: 'Feature', properties: null, geometry: { type: 'Polygon', coordinates: [] } },
    ],
  }
  const { points, withoutTime, notes } = parseTrack('geojson', JSON.stringify(collection))
  expect(points.map(({ location }) => location)).toEqual([
    {
      dateTime: '2019-01-01T00:00:00.000Z',
      latitude: 38,
      longitude: -9,
      altitude: 4,
      speed: 5,
    },
    { dateTime: '2019-01-01T00:01:00.000Z', latitude: 2, longitude: 1 },
  ])
  expect([withoutTime, notes]).toEqual([1, ['1 features are neither points nor lines']])
  expect(() => parseTrack('geojson', '{"type":"Topology"}')).toThrow('must be a FeatureCollection')
  expect(() => parseTrack('geojson', '{"type":')).toThrow('not JSON')
})

test('CSV is parsed as another reader parses it', () => {
  const cell = fc.string({ maxLength: 8 }).filter((text) => text === text.trim())
  const rows = fc.array(fc.tuple(cell, cell, cell), { minLength: 2, maxLength: 6 })
  fc.assert(
    fc.property(rows, (given) => {
      const text = Papa.unparse([['a', 'b', 'c'], ...given], { quotes: true })
      const formula = (value: string) => (/^'[=+\-@]/.test(value) ? value.slice(1) : value)
      const { data } = Papa.parse<string[]>(text, { delimiter: ',' })
      const filled = data.slice(1).filter((row) => row.some((value) => value !== ''))
      expect(parseCsv(text).rows.map(({ cells }) => cells)).toEqual(
        filled.map((row) => row.map(formula)),
      )
    }),
  )
})

test('CSV of spreadsheets is read: semicolons, decimal commas, other names, quotation marks', () => {
  const text =
    'Time;Lat;LON;Heading;comment\r\n2019-01-01 10:00;38,5;-9,25;90;"a; ""b""\n c"\r\n\r\n2019-01-01 10:01;38,6;-9,5;;\r\n'
  const { points, notes } = parseTrack('csv', text)
  expect(points).toEqual([
    {
      place: 'line 2',
      location: {
        dateTime: '2019-01-01T10:00:00.000Z',
        latitude: 38.5,
        longitude: -9.25,
        course: 90,
      },
    },
    {
      place: 'line 5',
      location: { dateTime: '2019-01-01T10:01:00.000Z', latitude: 38.6, longitude: -9.5 },
    },
  ])
  expect(notes).toEqual(['columns that are not used: comment'])
  expect(() => parseTrack('csv', 'a,b\n"c')).toThrow('Line 2: a quotation mark')
  expect(() => parseTrack('csv', 'lat,lon\n1,2')).toThrow('none for dateTime')
  expect(() => parseTrack('csv', '')).toThrow('The file is empty')
})

test('a check names the place of everything that is wrong, and leaves out alerts', () => {
  const text = [
    'time,lat,lon,speed,alerts,hasCriticalAlert',
    '2019-01-01T00:00:00Z,1,2,-1,"[""SOSButton""]",true',
    '2019-01-01T00:00:00Z,1,2,3,,',
    '2019-01-01T00:01:00Z,91,2,3,,',
    '2019-01-01T00:02:00Z,x,2,3,,',
    '1999-01-01T00:02:00Z,1,2,3,,',
    '2030-01-01T00:02:00Z,1,2,3,,',
    'yesterday,1,2,3,,',
    '01/02/2019 10:00,1,2,3,,',
    '2019-01-01,1,2,3,,',
    '2019-02-30T10:00Z,1,2,3,,',
    ',1,2,3,,',
  ].join('\n')
  const { points, problems, skipped, from, to } = check('csv', text)
  expect(points.map(({ location }) => location)).toEqual([
    { dateTime: '2019-01-01T00:00:00.000Z', latitude: 1, longitude: 2 },
  ])
  expect(problems).toEqual([
    'line 4: latitude must be from -90 to 90',
    'line 5: latitude is not a number',
    'line 6: 1999-01-01T00:02:00.000Z is before the year 2000',
    'line 7: 2030-01-01T00:02:00.000Z is in the future',
    'line 8: “yesterday” is no date and time that exists',
    'line 9: “01/02/2019 10:00” is no date and time that exists',
    'line 10: “2019-01-01” is no date and time that exists',
    'line 11: “2019-02-30T10:00Z” is no date and time that exists',
  ])
  expect(skipped).toEqual({ withoutTime: 1, sameTime: 1 })
  expect([from, to]).toEqual(['2019-01-01T00:00:00.000Z', '2019-01-01T00:00:00.000Z'])
})

test.each([
  ['2019-01-01T10:00:00.123456+05:30', '2019-01-01T04:30:00.123Z'],
  ['2019-01-01 10:00:00,5 UTC', '2019-01-01T10:00:00.500Z'],
  ['2019-01-01T10:00-0300', '2019-01-01T13:00:00.000Z'],
  [1_546_300_800_000, '2019-01-01T00:00:00.000Z'],
  ['2019-01-01', undefined],
  ['2019-13-01T10:00:00Z', undefined],
  ['2025-02-30T10:00Z', undefined],
  ['01/02/2019 10:00', undefined],
])('the time %s is read', (text, expected) => {
  expect(parseTime(text)).toBe(expected)
})

test('devices are read with tags and limits', () => {
  const { rows, problems } = readDevices(
    'Name,identifier,max_speed,expirationDate,dailySmsLimit,tag:Fleet\nTern 7,"\'+3004",80,2030-01-31,5,north\nTern 8,,,,,\n',
  )
  expect(problems).toEqual([])
  expect(rows.map(({ body }) => body)).toEqual([
    {
      name: 'Tern 7',
      identifier: '+3004',
      maxSpeed: 80,
      limits: { expires: true, expirationDate: '2030-01-31', dailySmsLimit: 5 },
      tags: { Fleet: 'north' },
    },
    { name: 'Tern 8' },
  ])
})

test('devices with mistakes are named with their lines', () => {
  const text =
    'name,identifier,maxSpeed,expirationDate\n,1\na,2,fast\nb,2\nc,3,1,2030-02-30\nd,4,1,,5\ne\ne\n'
  expect(readDevices(text).problems).toEqual([
    'line 2: name is missing',
    'line 3: maxSpeed must be a number from 0 to 100000',
    'line 4: identifier is that of line 3',
    'line 5: expirationDate must be a date such as 2027-01-31',
    'line 6: there are more cells than columns',
    'line 8: name is that of line 7, and neither has an identifier',
  ])
  expect(() => readDevices('name,imie\n')).toThrow('Unknown columns: imie')
  expect(() => readDevices('identifier\n1\n')).toThrow('no column “name”')
})

test('a file is recognized by its name and its columns, and decoded as it says', () => {
  expect(['a.GPX', 'b.tar/c.json', 'd', 'e.tsv'].map(formatOf)).toEqual([
    'gpx',
    'geojson',
    undefined,
    'csv',
  ])
  expect(isDeviceList(parseCsv('name,identifier\n'))).toBe(true)
  expect(isDeviceList(parseCsv('name,time,lat,lon\n'))).toBe(false)
  const latin = Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><gpx>\xe9</gpx>', 'latin1')
  expect(decodeFile(latin)).toContain('é')
  expect(decodeFile(Buffer.from('\ufeffname', 'utf16le'))).toBe('name')
  expect(decodeFile(Buffer.from('\ufeffname'))).toBe('name')
  expect(() => decodeFile(Buffer.from([0x50, 0x4b, 3, 4]))).toThrow('zip archive')
  expect(() => decodeFile(Buffer.from([0xff, 0x80]))).toThrow('not text in UTF-8')
})
