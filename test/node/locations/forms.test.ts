import fc from 'fast-check'
import { expect, test } from 'vitest'
import { packLocation, unpackLocation } from '../../../src/db/queries/locations.ts'
import {
  CODE_LISTS,
  FREE_LISTS,
  NUMBER_FIELDS,
  SENSOR_TIMES,
  TEXT_LISTS,
} from '../../../src/domain/track/location.ts'
import { dropNulls } from '../../../src/http/contract/nulls.ts'
import { readMixedBody } from '../../../src/locations/addressedReader.ts'
import { readBody, readReport } from '../../../src/locations/fastReader.ts'
import { addressedForm, forms } from '../../../src/locations/forms.ts'

/* The fast reader and the contract's schema must read every body alike. */

const numberWithin = (min: number, max: number) =>
  fc.oneof(
    fc.double({ min, max, noNaN: true }),
    fc.constantFrom(min, max, 0, -0, 1 / 3, 1e-7).filter((value) => value >= min),
  )
const validTime = fc.oneof(
  fc
    .integer({ min: Date.UTC(2000, 0, 1), max: Date.now() })
    .map((at) => new Date(at).toISOString()),
  fc.constantFrom(
    '2024-02-29T00:00:00Z',
    '2026-01-01T00:00:00+14:00',
    '2026-01-01T00:00:00.123456-02:30',
  ),
)
const INVALID_TIMES = [
  '2026-02-29T00:00:00Z',
  '1999-12-31T23:59:59.999Z',
  '2026-01-01T00:00Z',
  '2026-01-01T24:00:00Z',
  '2999-01-01T00:00:00Z',
  '',
]

const VALID: Record<string, fc.Arbitrary<unknown>> = {
  dateTime: validTime,
  ...Object.fromEntries(
    Object.entries(NUMBER_FIELDS).map(([name, { min, max }]) => [name, numberWithin(min, max)]),
  ),
  ...Object.fromEntries(
    SENSOR_TIMES.map((name) => [name, fc.oneof(numberWithin(0, 1e15), validTime)]),
  ),
  ...Object.fromEntries(TEXT_LISTS.map((name) => [name, fc.array(fc.string(), { maxLength: 3 })])),
  ...Object.fromEntries(
    CODE_LISTS.map((name) => [
      name,
      fc.array(fc.oneof(fc.string(), fc.integer()), { maxLength: 3 }),
    ]),
  ),
  ...Object.fromEntries(
    FREE_LISTS.map((name) => [name, fc.array(fc.jsonValue(), { maxLength: 2 })]),
  ),
  hasCriticalAlert: fc.boolean(),
  attributes: fc.dictionary(fc.oneof(fc.string(), fc.constant('__proto__')), fc.jsonValue(), {
    maxKeys: 3,
  }),
  source: fc.string({ minLength: 1, maxLength: 64 }),
  receivedAt: fc.jsonValue(),
}
const REQUIRED = ['dateTime', 'latitude', 'longitude']
const someMembers = fc.subarray(
  Object.keys(VALID).filter((name) => !REQUIRED.includes(name)),
  { maxLength: 6 },
)
const anyValue = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom<unknown>(
    null,
    Number.POSITIVE_INFINITY,
    'x'.repeat(65),
    ['x'.repeat(9000)],
    -1e18,
    1e18,
    90.1,
    360.1,
    101,
    ...INVALID_TIMES,
  ),
)
const anyMember = fc.tuple(
  fc.constantFrom('id', '__proto__', 'constructor', ...Object.keys(VALID)),
  anyValue,
)

/** Half of them valid; the others have a member that is missing, unknown, of another type or out of range. */
const anyLocation = fc
  .tuple(
    someMembers.chain((names) =>
      fc.tuple(
        ...[...REQUIRED, ...names].map((name) =>
          fc.tuple(fc.constant(name), VALID[name] as fc.Arbitrary<unknown>),
        ),
      ),
    ),
    fc.option(anyMember, { freq: 1 }),
    fc.constantFrom(null, null, null, null, null, null, ...REQUIRED),
  )
  .map(([members, changed, missing]) => {
    const kept = members.filter(([name]) => name !== missing && name !== changed?.[0])
    const written = [...kept, ...(changed ? [changed] : [])].map(
      ([name, value]) => `${JSON.stringify(name)}:${asJson(value)}`,
    )
    return JSON.parse(`{${written.join(',')}}`)
  })
/** JSON as a client may write it, with −0 and with a number that is too large. */
const asJson = (value: unknown): string =>
  Object.is(value, -0) ? '-0' : value === Number.POSITIVE_INFINITY ? '1e999' : JSON.stringify(value)

const body = fc.oneof(
  anyLocation,
  anyLocation.map((location) => ({ location })),
  fc.array(anyLocation, { maxLength: 4 }),
  fc.array(anyLocation, { maxLength: 4 }).map((locations) => ({ locations })),
)

const formOf = (value: unknown) =>
  Array.isArray(value)
    ? forms.bareList
    : Object.hasOwn(value as object, 'location')
      ? forms.one
      : Object.hasOwn(value as object, 'locations')
        ? forms.several
        : forms.bare

const readBySchema = (value: unknown) => {
  const form = formOf(value)
  return form.safeParse(dropNulls(form, value))
}

test('the schema accepts whatever the fast reader accepts, with the same result', () => {
  let accepted = 0
  fc.assert(
    fc.property(body, (value) => {
      const fast = readReport(structuredClone(value), Date.now())
      if (fast === null) return
      accepted++
      const slow = readBySchema(value)
      expect(slow.success).toBe(true)
      expect(fast).toEqual(slow.data)
    }),
    { numRuns: 2000 },
  )
  expect(accepted).toBeGreaterThan(300)
})

test('every body gives the result or the errors of the schema', () => {
  fc.assert(
    fc.property(body, (value) => {
      const read = readBody(structuredClone(value))
      const slow = readBySchema(value)
      expect(read.success).toBe(slow.success)
      if (read.success) expect(read.data).toEqual(slow.data)
      else expect(read.error.issues).toEqual(slow.error?.issues)
    }),
    { numRuns: 1000 },
  )
})

const anyName = fc.constantFrom<object>(
  { deviceId: 'dev_1' },
  { identifier: 'Tern 1' },
  { deviceId: null, identifier: 'tern 1' },
  { deviceId: 'dev_1', identifier: 'Tern 1' },
  { identifier: ' ' },
  {},
)

test('every body of many devices gives the result or the errors of the schema', () => {
  let accepted = 0
  const named = fc
    .tuple(anyName, anyLocation, fc.boolean())
    .map(([name, location, isFirst]) =>
      isFirst ? { ...name, ...location } : { ...location, ...name },
    )
  fc.assert(
    fc.property(fc.array(named, { minLength: 1, maxLength: 3 }), (locations) => {
      const read = readMixedBody(structuredClone({ locations }))
      const slow = addressedForm.safeParse(dropNulls(addressedForm, { locations }))
      expect(read.success).toBe(slow.success)
      if (read.success) expect(read.data).toEqual(slow.data)
      else expect(read.error.issues).toEqual(slow.error?.issues)
      if (read.success) accepted++
    }),
    { numRuns: 1000 },
  )
  expect(accepted).toBeGreaterThan(50)
})

test('the fast reader accepts a typical location', () => {
  const usual = {
    dateTime: '2026-11-14T09:30:00.000Z',
    latitude: 1.5,
    longitude: 2,
    speed: 3,
    source: 'gnss',
    attributes: { a: 1 },
    alerts: ['SOS'],
  }
  expect(readReport({ locations: [usual, usual] }, Date.now())).not.toBeNull()
  expect(readReport(usual, Date.now())).not.toBeNull()
})

test('the fast reader takes null for a member that was not measured', () => {
  const measured = { dateTime: '2026-11-14T09:30:00.000Z', latitude: 1.5, longitude: 2 }
  const unmeasured = Object.fromEntries(
    Object.keys(VALID)
      .filter((name) => !REQUIRED.includes(name))
      .map((name) => [name, null]),
  )
  const expected = readReport(measured, Date.now())
  expect(readReport({ ...unmeasured, ...measured }, Date.now())).toEqual(expected)
  for (const name of REQUIRED)
    expect(readReport({ ...measured, [name]: null }, Date.now())).toBeNull()
})

test('null members of other forms count as left out', () => {
  const measured = { dateTime: '2026-11-14T09:30:00.000Z', latitude: 1.5, longitude: 2 }
  const span = { from: '2026-11-14T00:00:00Z', to: '2026-11-15T00:00:00Z' }
  const kindOf = (value: unknown) => readBody(value).data?.kind
  expect(kindOf({ ...span, location: null })).toBe('query')
  expect(kindOf({ ...span, location: null, locations: null, limit: null, cursor: null })).toBe(
    'query',
  )
  expect(kindOf({ location: measured, locations: null, from: null })).toBe('report')
  expect(kindOf({ locations: [measured], location: null })).toBe('report')
  expect(kindOf({ ...span, location: measured })).toBe('report')
  for (const refused of [{ location: null }, { locations: null }, { location: null, from: null }])
    expect(readBody(refused).success).toBe(false)
})

test('unpacking a row gives exactly the location that was packed', () => {
  fc.assert(
    fc.property(anyLocation, (value) => {
      const read = forms.bare.safeParse(value)
      if (!read.success) return
      const [location] = read.data.locations
      if (!location) throw new Error('no location in a report')
      // Through JSON and into integer and text columns, as in a report.
      const [time, lat, lon, altitude, speed, course, accuracy, battery, source, more] = JSON.parse(
        JSON.stringify(packLocation(location)),
      )
      for (const whole of [time, lat, lon]) expect(Number.isSafeInteger(whole)).toBe(true)
      for (const whole of [altitude, speed, course, accuracy, battery])
        expect(whole === null || Number.isSafeInteger(whole)).toBe(true)
      const row = {
        time,
        latitude: lat,
        longitude: lon,
        altitude,
        speed,
        course,
        accuracy,
        battery,
        source,
        rest: more,
        receivedAt: 7,
      }
      expect(unpackLocation(row)).toEqual({
        ...JSON.parse(JSON.stringify(location)),
        receivedAt: 7,
      })
    }),
    { numRuns: 1000 },
  )
})
