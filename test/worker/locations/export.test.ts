import { env, exports } from 'cloudflare:workers'
import { check } from '@placemarkio/check-geojson'
import { gpx as readGpx, kml as readKml } from '@tmcw/togeojson'
import { DOMParser, type Element } from '@xmldom/xmldom'
import Papa from 'papaparse'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { FIELD_NAMES } from '../../../src/domain/track/location.ts'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { callWithBindings, watchStatements } from '../../support/bindings.ts'
import { createDevice } from '../../support/devices.ts'
import { ORIGIN, type Reply } from '../../support/http.ts'
import { daysAgo, iso } from '../../support/time.ts'

/* Every format is read here by a parser that is not ours. */

const FIRST_DAY = daysAgo(100)
const START = FIRST_DAY + 22 * 3_600_000
const DAYS = [FIRST_DAY, FIRST_DAY + 86_400_000].map((at) => iso(at).slice(0, 10))

const TRACK = [
  {
    latitude: 38.7223,
    longitude: -9.1393,
    altitude: 12.5,
    speed: 36,
    course: 360,
    accuracy: 5,
    battery: 80,
    source: 'gnss',
  },
  { latitude: -0.0000001, longitude: 1e-9, altitude: -3, speed: 0.1, source: '=HYPERLINK("x")' },
  {
    latitude: 10,
    longitude: 179.5,
    altitude: 0,
    source: 'a<b>&"c"\u0001',
    warningTexts: ['=1+1', 'a,b\r\n"c"'],
    attributes: { 'k,"': [1] },
  },
  {
    latitude: 11,
    longitude: -179.5,
    altitude: 10,
    accuracy: 2500,
    source: 'network',
    hasCriticalAlert: false,
  },
  { latitude: 12, longitude: 180, altitude: 20, course: 12.5 },
].map((location, index) => ({ dateTime: iso(START + index * 3_600_000), ...location }))

let account: TestAccount
let device: string
let path: string

const xml = (reply: Reply) => {
  const complaints: string[] = []
  const document = new DOMParser({
    onError: (level, message) => complaints.push(`${level}: ${message}`),
  }).parseFromString(reply.text, 'text/xml')
  expect(complaints).toEqual([])
  return document
}
interface Collection {
  type: 'FeatureCollection'
  features: {
    geometry: { type: string; coordinates: unknown[] }
    properties: Record<string, unknown>
  }[]
}
const geojson = (reply: Reply): Collection => check(reply.text) as unknown as Collection
const childrenOf = (element: Element): Element[] =>
  [...element.childNodes].filter((node) => node.nodeType === 1) as Element[]
const addRows = async (count: number, id = device) => {
  await env.DB.prepare(
    `INSERT INTO locations (device_key, time, latitude, longitude, received_at)
     WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?2 - 1)
     SELECT key, ?3 + i * 1000, i, -i, ?3 FROM n, devices WHERE id = ?1`,
  )
    .bind(id, count, START)
    .run()
}

beforeEach(async () => {
  account = await openAccount()
  const created = await account.call('POST', '/api/devices', {
    body: { name: 'Tern "7" Ærø & <söns>' },
  })
  device = created.body.device.id
  path = `/api/devices/${device}/locations`
})
const report = () => account.call('POST', path, { body: TRACK })
const read = (query: string) => account.call('GET', `${path}?${query}`)

describe('the format', () => {
  test.each([
    ['application/geo+json', 'application/geo+json'],
    ['application/gpx+xml', 'application/gpx+xml'],
    ['application/vnd.google-earth.kml+xml', 'application/vnd.google-earth.kml+xml'],
    ['text/csv', 'text/csv; charset=utf-8; header=present'],
    ['text/csv;q=0.5, application/gpx+xml;q=0.9, */*;q=0.1', 'application/gpx+xml'],
    ['application/json, text/csv;q=0.9', 'application/json'],
    ['*/*', 'application/json'],
    ['text/html,application/xml;q=0.9,*/*;q=0.8', 'application/json'],
    ['text/csv;q=0', 'application/json'],
  ])('Accept: %s gets %s', async (accept, type) => {
    await report()
    const reply = await account.call('GET', path, { headers: { Accept: accept } })
    expect(reply.headers.get('Content-Type')).toBe(type)
    expect(reply.headers.get('Vary')).toContain('Accept')
  })

  test('in the query overrides Accept', async () => {
    const reply = await account.call('GET', `${path}?format=gpx`, {
      headers: { Accept: 'text/csv' },
    })
    expect(reply.headers.get('Content-Type')).toBe('application/gpx+xml')
  })

  test('names the file after the device and the days', async () => {
    await report()
    const named = (await read('format=gpx')).headers.get('Content-Disposition')
    expect(named).toBe(
      `attachment; filename="Tern-7-_r_-s_ns_${DAYS.join('_')}.gpx"; filename*=UTF-8''${encodeURIComponent(`Tern-7-Ærø-söns_${DAYS.join('_')}.gpx`)}`,
    )
    expect(
      (await read(`format=csv&to=${iso(START)}`)).headers.get('Content-Disposition'),
    ).toContain(`_${DAYS[0]}_${DAYS[0]}.csv"`)
  })

  test.each([
    ['नाव 7', 'नाव-7'],
    ['カモメ/Чайка', 'カモメ-Чайка'],
  ])('keeps the letters of %j', async (name, kept) => {
    const id = await createDevice(account, name)
    const url = `/api/devices/${id}/locations?format=csv`
    const named = (await account.call('GET', url)).headers.get('Content-Disposition')
    expect(named).toContain(`filename*=UTF-8''${encodeURIComponent(kept)}_`)
  })

  test('HEAD replies like GET, without a body', async () => {
    await report()
    const reply = await account.call('HEAD', `${path}?format=kml`)
    expect(reply.status).toBe(200)
    expect(reply.text).toBe('')
    expect(reply.headers.get('Content-Type')).toBe('application/vnd.google-earth.kml+xml')
  })

  test.each(['geojson', 'geojson&geometry=line', 'gpx', 'kml', 'csv', 'json&simplify=1'])(
    '%s of a track without locations is a complete document',
    async (format) => {
      const reply = await read(`format=${format}`)
      expect(reply.status).toBe(200)
      if (format.startsWith('geojson'))
        expect(geojson(reply)).toMatchObject({ type: 'FeatureCollection', features: [] })
      else if (format.startsWith('json'))
        expect(reply.body).toEqual({ success: true, locations: [], nextCursor: null })
      else if (format === 'csv') expect(Papa.parse(reply.text.trim()).data).toHaveLength(1)
      else expect(xml(reply).documentElement?.tagName).toBe(format)
    },
  )
})

describe('GeoJSON', () => {
  test('has a point for each location, with all its members', async () => {
    await report()
    const { locations } = (await account.call('GET', path)).body
    const restored = geojson(await read('format=geojson')).features.map(
      ({ geometry, properties }) => {
        expect(geometry.type).toBe('Point')
        const [longitude, latitude, altitude] = geometry.coordinates
        expect(altitude).toBe(properties.altitude)
        return { latitude, longitude, ...properties }
      },
    )
    expect(restored).toEqual(locations)
  })

  test('as lines is cut where the track crosses the antimeridian', async () => {
    await report()
    const { features } = geojson(await read('format=geojson&geometry=line'))
    expect(features.map(({ geometry }) => geometry.type)).toEqual(['LineString', 'LineString'])
    const lines = features.map(({ geometry }) => geometry.coordinates)
    expect(lines).toEqual([
      [
        [-9.1393, 38.7223, 12.5],
        [1e-9, -1e-7, -3],
        [179.5, 10, 0],
        [180, 10.5, 5],
      ],
      [
        [-180, 10.5, 5],
        [-179.5, 11, 10],
        [-180, 12, 20],
      ],
    ])
  })

  test('as lines of a single location is a point', async () => {
    await account.call('POST', path, { body: TRACK[0] })
    expect(geojson(await read('format=geojson&geometry=line'))).toMatchObject({
      features: [{ geometry: { type: 'Point', coordinates: [-9.1393, 38.7223, 12.5] } }],
    })
  })
})

describe('GPX', () => {
  /** The order of a point's elements in the schema of GPX 1.1. */
  const POINT = [
    'ele',
    'time',
    'magvar',
    'geoidheight',
    'name',
    'cmt',
    'desc',
    'src',
    'link',
    'sym',
    'type',
    'fix',
    'sat',
    'hdop',
    'vdop',
    'pdop',
    'ageofdgpsdata',
    'dgpsid',
    'extensions',
  ]
  const DECIMAL = /^[+-]?(\d+(\.\d*)?|\.\d+)$/
  const DATE_TIME = /^-?\d{4,}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/

  test('follows its schema: order, ranges, and numbers without an exponent', async () => {
    await report()
    const root = xml(await read('format=gpx')).documentElement as Element
    expect([root.namespaceURI, root.localName, root.getAttribute('version')]).toEqual([
      'http://www.topografix.com/GPX/1/1',
      'gpx',
      '1.1',
    ])
    expect(root.getAttribute('creator')).toBeTruthy()
    expect(childrenOf(root).map(({ localName }) => localName)).toEqual(['metadata', 'trk'])
    const [, track] = childrenOf(root)
    expect(childrenOf(track as Element).map(({ localName }) => localName)).toEqual([
      'name',
      'trkseg',
    ])
    const points = [...root.getElementsByTagName('trkpt')]
    expect(points).toHaveLength(TRACK.length)
    for (const point of points) {
      const [lat = '', lon = ''] = [
        point.getAttribute('lat') ?? '',
        point.getAttribute('lon') ?? '',
      ]
      for (const text of [lat, lon]) expect(text).toMatch(DECIMAL)
      expect(Math.abs(Number(lat))).toBeLessThanOrEqual(90)
      expect(Number(lon) >= -180 && Number(lon) < 180).toBe(true)
      const names = childrenOf(point).map(({ localName }) => POINT.indexOf(localName ?? ''))
      expect(names).toEqual(names.toSorted((a, b) => a - b))
      expect(new Set(names).size).toBe(names.length)
      expect(names).not.toContain(-1)
      for (const ele of point.getElementsByTagName('ele')) expect(ele.textContent).toMatch(DECIMAL)
      for (const time of point.getElementsByTagName('time'))
        expect(time.textContent).toMatch(DATE_TIME)
      for (const extension of point.getElementsByTagName('gpxtpx:TrackPointExtension')) {
        expect(extension.namespaceURI).toBe(
          'http://www.garmin.com/xmlschemas/TrackPointExtension/v2',
        )
        const parts = childrenOf(extension).map(({ localName }) =>
          ['speed', 'course'].indexOf(localName ?? ''),
        )
        expect(parts).toEqual(parts.toSorted())
        expect(parts).not.toContain(-1)
      }
      for (const course of point.getElementsByTagName('gpxtpx:course')) {
        expect(course.textContent).toMatch(DECIMAL)
        expect(Number(course.textContent) < 360).toBe(true)
      }
    }
  })

  test('can be parsed: positions, altitudes, times, speed in m/s and source', async () => {
    await report()
    const document = xml(await read('format=gpx'))
    const [track] = readGpx(document as never).features
    expect(track?.properties?.name).toBe('Tern "7" Ærø & <söns>')
    expect(track?.geometry).toEqual({
      type: 'LineString',
      coordinates: TRACK.map(({ latitude, longitude, altitude }) => [
        longitude === 180 ? -180 : longitude,
        latitude,
        altitude,
      ]),
    })
    expect(track?.properties?.coordinateProperties?.times).toEqual(
      TRACK.map(({ dateTime }) => dateTime),
    )
    const texts = (name: string) =>
      [...document.getElementsByTagName(name)].map(({ textContent }) => textContent)
    expect(texts('gpxtpx:speed')).toEqual(['10', '0.0278'])
    expect(texts('gpxtpx:course')).toEqual(['0', '12.5'])
    expect(texts('src')).toEqual(['gnss', '=HYPERLINK("x")', 'a<b>&"c"', 'network'])
  })
})

describe('KML', () => {
  test('is a gx:Track that can be parsed, with as many times as positions', async () => {
    await report()
    const document = xml(await read('format=kml'))
    expect(document.getElementsByTagName('gx:MultiTrack')).toHaveLength(0)
    expect(document.getElementsByTagName('gx:Track')).toHaveLength(1)
    const parts = childrenOf(document.getElementsByTagName('gx:Track')[0] as Element).map(
      ({ tagName }) => tagName,
    )
    const order = ['altitudeMode', 'when', 'gx:coord', 'ExtendedData']
    expect(parts.map((name) => order.indexOf(name))).toEqual(
      parts.map((name) => order.indexOf(name)).toSorted(),
    )
    const [track] = readKml(document as never).features
    expect(track?.geometry).toEqual({
      type: 'LineString',
      coordinates: TRACK.map(({ latitude, longitude, altitude }) => [
        longitude,
        latitude,
        altitude,
      ]),
    })
    expect(track?.properties?.coordinateProperties?.times).toEqual(
      TRACK.map(({ dateTime }) => dateTime),
    )
    expect(document.getElementsByTagName('altitudeMode')[0]?.textContent).toBe('absolute')
  })

  test('is clamped to the ground when altitudes are missing, and names its series', async () => {
    await account.call('POST', path, {
      body: [TRACK[0], { dateTime: iso(START + 1), latitude: 1, longitude: 2 }],
    })
    const document = xml(await read('format=kml'))
    expect(document.getElementsByTagName('altitudeMode')[0]?.textContent).toBe('clampToGround')
    const series = [...document.getElementsByTagName('gx:SimpleArrayData')].map((one) => [
      one.getAttribute('name'),
      childrenOf(one).map(({ textContent }) => textContent),
    ])
    expect(Object.fromEntries(series)).toEqual({
      speed: ['36', ''],
      course: ['360', ''],
      accuracy: ['5', ''],
      battery: ['80', ''],
      source: ['gnss', ''],
    })
  })
})

describe('CSV', () => {
  test('is RFC 4180 with one record for each location, and text is never a formula', async () => {
    await report()
    const { locations } = (await account.call('GET', path)).body
    const { text } = await read('format=csv')
    expect(text.endsWith('\r\n')).toBe(true)
    const parsed = Papa.parse<string[]>(text.trimEnd(), { delimiter: ',', newline: '\r\n' })
    expect(parsed.errors).toEqual([])
    const [header = [], ...records] = parsed.data
    expect(header).toEqual(['dateTime', ...FIELD_NAMES, 'receivedAt'])
    const restored = records.map((record) => {
      expect(record).toHaveLength(header.length)
      const cells = header.flatMap((name, index) =>
        record[index] === '' ? [] : [[name, record[index] as string] as const],
      )
      return Object.fromEntries(
        cells.map(([name, cell]) => [
          name,
          ['dateTime', 'receivedAt', 'source'].includes(name)
            ? cell.replace(/^'(?=[=+\-@])/, '')
            : JSON.parse(cell),
        ]),
      )
    })
    expect(restored).toEqual(locations)
    for (const cell of records.flat()) expect(cell).not.toMatch(/^[=+@\t\r]|^-(?![\d.])/)
  })
})

describe('a long track', () => {
  const LONG = 9_001

  const TIMES = {
    geojson: (reply: Reply) => geojson(reply).features.map(({ properties }) => properties.dateTime),
    gpx: (reply: Reply) =>
      [...xml(reply).getElementsByTagName('time')].map(({ textContent }) => textContent),
    kml: (reply: Reply) =>
      [...xml(reply).getElementsByTagName('when')].map(({ textContent }) => textContent),
    csv: (reply: Reply) =>
      Papa.parse<string[]>(reply.text.trim()).data.flatMap(([time], index) =>
        index === 0 ? [] : [time],
      ),
  }
  test.each(['geojson', 'gpx', 'kml', 'csv'] as const)(
    'is complete as %s, over several pages',
    async (format) => {
      await addRows(LONG)
      const reply = await read(`format=${format}`)
      expect(TIMES[format](reply)).toEqual(
        Array.from({ length: LONG }, (_, index) => iso(START + index * 1000)),
      )
    },
  )

  test('as KML is one gx:MultiTrack of joined tracks that can be parsed', async () => {
    await addRows(LONG)
    const document = xml(await read('format=kml'))
    expect(document.getElementsByTagName('gx:interpolate')[0]?.textContent).toBe('1')
    const [feature] = readKml(document as never).features
    const { geometries } = (feature?.geometry ?? {}) as unknown as {
      geometries: { type: string; coordinates: number[][] }[]
    }
    expect(geometries.map(({ type, coordinates }) => [type, coordinates.length])).toEqual([
      ['LineString', 1000],
      ...Array(16).fill(['LineString', 500]),
      ['Point', 3],
    ])
  })

  test('is exported three times at once by one account, and twelve times in all', async () => {
    const tracks = [{ account, path }]
    for (let n = 0; n < 4; n++) {
      const other = await openAccount()
      const id = (await other.call('POST', '/api/devices', { body: { name: 'Tern' } })).body.device
        .id
      tracks.push({ account: other, path: `/api/devices/${id}/locations` })
    }
    for (const { path: track } of tracks) await addRows(LONG, track.split('/')[3])
    const begin = (n: number, query = 'format=csv', method = 'GET') => {
      const { account: owner, path: track } = tracks[n] ?? { account, path }
      const headers = { Authorization: `Bearer ${owner.token}` }
      return exports.default.fetch(`${ORIGIN}${track}?${query}`, { method, headers })
    }
    for (let n = 0; n < 20; n++) expect((await begin(0, 'format=csv', 'HEAD')).status).toBe(200)
    const slow = []
    for (const n of [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3]) slow.push(await begin(n))
    expect(new Set(slow.map(({ status }) => status))).toEqual(new Set([200]))
    const fourth = await begin(0)
    expect([fourth.status, fourth.headers.get('Retry-After')]).toEqual([429, '10'])
    expect(await fourth.json()).toMatchObject({ code: 'too-many-requests' })
    slow.push(await begin(4))
    expect(slow.at(-1)?.status).toBe(200)
    const thirteenth = await begin(4)
    expect([thirteenth.status, thirteenth.headers.get('Retry-After')]).toEqual([503, '5'])
    await thirteenth.text()
    const short = await begin(0, `format=csv&to=${iso(START + 1000)}`)
    expect((await short.text()).trim().split('\n')).toHaveLength(3)
    const [one, ...others] = slow
    await one?.text()
    const next = await begin(0)
    expect(next.status).toBe(200)
    for (const response of [next, ...others]) await response.text()
  })

  test('frees its slot when it is refused or fails', async () => {
    await addRows(50_001)
    for (let n = 0; n < 12; n++) expect((await read('simplify=10')).status).toBe(400)
    for (let n = 0; n < 12; n++) {
      let pages = 0
      const breaking = watchStatements(env.DB, (sql) => {
        if (/BETWEEN \? AND \?/.test(sql) && !/archived_months/.test(sql) && ++pages > 1)
          throw new Error('D1_ERROR: Network connection lost.')
      })
      await expect(
        callWithBindings({ DB: breaking }, 'GET', `${path}?format=csv`, { token: account.token }),
      ).rejects.toThrow('connection lost')
    }
    expect((await read('format=csv')).status).toBe(200)
  })

  test('is read page by page only as the client consumes it', async () => {
    await addRows(LONG)
    const headers = { Authorization: `Bearer ${account.token}` }
    const response = await exports.default.fetch(`${ORIGIN}${path}?format=csv`, { headers })
    const prepare = vi.spyOn(env.DB, 'prepare')
    // Other statements are of what goes on in the background, such as usage.
    const countReads = () =>
      prepare.mock.calls.filter(([sql]) => /from .?locations/i.test(sql)).length
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    expect((await reader.read()).done).toBe(false)
    await scheduler.wait(50)
    expect(countReads()).toBeLessThanOrEqual(1)
    await reader.cancel()
    await scheduler.wait(50)
    expect(countReads()).toBeLessThanOrEqual(1)
    prepare.mockRestore()
  })
})
