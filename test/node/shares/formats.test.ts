import { check } from '@placemarkio/check-geojson'
import { kml } from '@tmcw/togeojson'
import { DOMParser } from '@xmldom/xmldom'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toGeoJson, toKml, toNetworkLink } from '../../../src/shares/formats.ts'
import type { OpenedShare, SharedDevice, SharedView } from '../../../src/shares/viewStore.ts'

/* What readers that nobody here wrote make of the formats. */

const TIME = Date.UTC(2026, 10, 14, 9, 30)

const share = (name: string): OpenedShare => ({
  id: 'shr_1',
  accountId: 'acc_1',
  record: {
    ...{ name, devices: [], groups: [], from: null, until: null },
    ...{ history: 24, delayMinutes: 0, precision: 'exact' },
  },
  password: null,
  groupId: null,
  status: 'active',
  timeZone: 'UTC',
  isSandbox: false,
})

const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 })
const degrees = (max: number) =>
  fc.oneof(
    fc.integer({ min: -max * 1e5, max: max * 1e5 }).map((n) => n / 1e5),
    fc.constantFrom(-max, max, 0, 1e-5),
  )
const place = fc.record({ latitude: degrees(90), longitude: degrees(180) })
const device = fc
  .record({ name: text, places: fc.array(place, { maxLength: 40 }) })
  .map(({ name, places }): SharedDevice => {
    const track = places.map((each, index) => ({ ...each, time: TIME + index * 60_000 }))
    return { name, newest: track.at(-1) ?? null, track }
  })
const views = fc.sample(
  fc.record({ devices: fc.array(device, { maxLength: 5 }), isCut: fc.constant(false) }),
  { numRuns: 50, seed: 7 },
)
const names = fc.sample(text, { numRuns: views.length, seed: 7 })

const pairs = ({ devices }: SharedView) =>
  devices.flatMap(({ newest }) => (newest ? [[newest.longitude, newest.latitude]] : []))

interface Feature {
  geometry: { type: string; coordinates: number[] | number[][] } | null
  properties: Record<string, unknown> | null
}
const pointsOf = (features: Feature[]) =>
  features.flatMap(({ geometry }) => (geometry?.type === 'Point' ? [geometry.coordinates] : []))

/** Throws at the first fault. */
const parse = (xml: string) => {
  const onError = (level: string, message: string) => {
    throw new Error(`${level}: ${message}`)
  }
  return new DOMParser({ onError }).parseFromString(xml, 'text/xml')
}

test('GeoJSON has the place of each device, and its track', () => {
  for (const [index, view] of views.entries()) {
    const name = names[index] ?? ''
    const { features } = check(toGeoJson(share(name), view)) as unknown as { features: Feature[] }
    expect(pointsOf(features)).toEqual(pairs(view))
    const lines = features.filter(({ geometry }) => geometry?.type === 'LineString')
    for (const { geometry, properties } of lines) {
      expect(properties?.times).toHaveLength(geometry?.coordinates.length ?? 0)
      expect(geometry?.coordinates.length).toBeGreaterThan(1)
    }
  }
})

test('KML has the place of each device, and its track with the times', () => {
  for (const [index, view] of views.entries()) {
    const document = parse(toKml(share(names[index] ?? ''), view))
    const { features } = kml(document as unknown as Parameters<typeof kml>[0]) as unknown as {
      features: Feature[]
    }
    expect(pointsOf(features).map((at) => at.slice(0, 2))).toEqual(pairs(view))
    const tracks = features.filter(({ geometry }) => geometry?.type === 'LineString')
    const expected = view.devices.filter(({ track }) => track.length > 1)
    expect(tracks.length).toBeGreaterThanOrEqual(expected.length)
    for (const [at, { track }] of expected.entries())
      expect(tracks[at]?.properties?.coordinateProperties).toMatchObject({
        times: track.map(({ time }) => new Date(time).toISOString()),
      })
  }
})

test('a network link is XML with the address', () => {
  for (const name of names) {
    const link = parse(toNetworkLink(share(name), 'https://perigee.example.com/s/0?a=1&b=2'))
    expect(link.getElementsByTagName('href')[0]?.textContent).toBe(
      'https://perigee.example.com/s/0?a=1&b=2/locations.kml',
    )
  }
})
