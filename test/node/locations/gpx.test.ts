import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { validateXML } from 'xmllint-wasm'
import { NUMBER_FIELDS, type StoredLocation } from '../../../src/domain/track/location.ts'
import { gpx } from '../../../src/locations/formats/gpx.ts'

const file = (name: string) => ({
  fileName: name,
  contents: readFileSync(`test/node/locations/${name}`, 'utf8'),
})
const validate = (xml: string) =>
  validateXML({ xml, schema: [file('gpx.xsd')], preload: [file('trackPointExtension.xsd')] })

const within = (name: keyof typeof NUMBER_FIELDS) => {
  const { min, max } = NUMBER_FIELDS[name]
  return fc.oneof(fc.double({ min, max, noNaN: true }), fc.constantFrom(min, max, 0, 1e-7, 5e-324))
}
const stored = fc.record(
  {
    dateTime: fc.integer({ min: Date.UTC(2000, 0, 1), max: Date.now() }),
    latitude: within('latitude'),
    longitude: within('longitude'),
    altitude: within('altitude'),
    speed: within('speed'),
    course: within('course'),
    source: fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }),
    receivedAt: fc.constant(0),
  },
  { requiredKeys: ['dateTime', 'latitude', 'longitude', 'receivedAt'] },
)

test('every track gives GPX that its schema accepts', async () => {
  const tracks = fc.sample(
    fc.tuple(fc.string({ unit: 'binary', maxLength: 30 }), fc.array(stored, { maxLength: 200 })),
    {
      numRuns: 8,
      seed: 7,
    },
  )
  for (const [deviceName, locations] of tracks) {
    const writer = gpx({ deviceName, isShort: true })
    const text = [writer.begin, ...writer.page(locations as StoredLocation[]), writer.end()].join(
      '',
    )
    expect((await validate(text)).errors).toEqual([])
  }
})

test('the schema check refuses invalid GPX', async () => {
  const writer = gpx({ deviceName: 'Tern', isShort: true })
  const [point = ''] = writer.page([
    { dateTime: 0, latitude: 1, longitude: 2, altitude: 3, speed: 4, receivedAt: 0 },
  ])
  const broken = [
    point.replace('lon="2"', 'lon="180"'),
    point.replace('lat="1"', 'lat="1e-7"'),
    point.replace(/(<ele>.*<\/ele>)(<time>.*<\/time>)/, '$2$1'),
  ]
  for (const text of broken)
    expect((await validate(writer.begin + text + writer.end())).valid).toBe(false)
})
