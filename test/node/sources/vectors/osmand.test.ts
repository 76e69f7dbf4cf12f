import { describe, expect, test } from 'vitest'
import { decodePush } from '../../../../src/sources/decoding/decode.ts'
import { itemsOf, jsonPush, kindsOf, locationsOf, NOW, pushOf } from '../push.ts'

/* Payloads of the networks' own documents and of public recordings, decoded to the digit. */

const query = (text: string) => pushOf({ query: new URLSearchParams(text) })

describe('OsmAnd and Traccar Client', () => {
  test('a query', async () => {
    const items = await itemsOf(
      'osmand',
      query(
        'id=123456&timestamp=1377177267&lat=60.0&lon=30.0&speed=0.0&bearing=0.0&altitude=0&hdop=0.0&batt=87',
      ),
    )
    expect(locationsOf(items)).toEqual([
      {
        identifier: '123456',
        dateTime: '2013-08-22T13:14:27.000Z',
        latitude: 60,
        longitude: 30,
        speed: 0,
        course: 0,
        altitude: 0,
        battery: 87,
        attributes: { hdop: 0 },
        source: 'gnss',
      },
    ])
    expect(items[0]?.key).toBe('123456:1377177267000')
  })

  test('speed in knots, and attributes of three types', async () => {
    const text =
      'id=123456789012345&timestamp=1504763810&lat=40.7232948571&lon=-74.0061408571&bearing=7.19889788244&speed=40&ignition=true&rpm=933&fuel=24'
    const expected = {
      identifier: '123456789012345',
      dateTime: '2017-09-07T05:56:50.000Z',
      latitude: 40.7232948571,
      longitude: -74.0061408571,
      speed: 74.08,
      course: 7.19889788244,
      attributes: { ignition: true, rpm: 933, fuel: 24 },
      source: 'gnss',
    }
    expect(locationsOf(await itemsOf('osmand', query(text)))).toEqual([expected])
    const form = pushOf({ contentType: 'application/x-www-form-urlencoded', body: text })
    expect(locationsOf(await itemsOf('osmand', form))).toEqual([expected])
  })

  test.each([
    [undefined, 37.04],
    ['kn', 37.04],
    ['m/s', 72],
    ['km/h', 20],
  ] as const)('speed in the source’s unit %s', async (speedUnit, speed) => {
    const push = query('id=7&lat=47.1&lon=8.2&speed=20&bearing=-1')
    const [read] = locationsOf(await itemsOf('osmand', { ...push, settings: { speedUnit } }))
    expect(read).toMatchObject({ speed })
    expect(read).not.toHaveProperty('course')
  })

  test('the names that Locus sends', async () => {
    const sent = 'id=7&lat=47.1&lon=8.2&alt=410&acc=6&time=1760000000&speed=2&bearing=12'
    const push = { ...query(sent), settings: { speedUnit: 'm/s' as const } }
    expect(locationsOf(await itemsOf('osmand', push))).toEqual([
      {
        identifier: '7',
        dateTime: '2025-10-09T08:53:20.000Z',
        latitude: 47.1,
        longitude: 8.2,
        altitude: 410,
        accuracy: 6,
        speed: 7.2,
        course: 12,
        source: 'gnss',
      },
    ])
  })

  test('the SOS of Traccar Client 9 is an alert, and one beside the extras comes first', async () => {
    const send = (members: object) =>
      itemsOf(
        'osmand',
        jsonPush({
          device_id: '55',
          location: {
            timestamp: '2026-02-03T04:05:06.700Z',
            coords: { latitude: 61.5, longitude: 23.8 },
            extras: { alarm: 'sos', gear: 2 },
            ...members,
          },
        }),
      )
    expect(await send({})).toMatchObject([
      { kind: 'location', location: { attributes: { gear: 2 } } },
      { kind: 'alert', alertName: 'SOSButton', latitude: 61.5, longitude: 23.8 },
    ])
    expect(await send({ alarm: 'tow' })).toMatchObject([{}, { alertName: 'Movement' }])
    expect(kindsOf(await send({ extras: { alarm: '' } }))).toEqual(['location'])
    for (const alarm of ['', ' ', null])
      expect(await send({ alarm })).toMatchObject([{}, { alertName: 'SOSButton' }])
    const query = new URLSearchParams('id=55&lat=1&lon=2&alarm=&alarm=sos')
    expect(await itemsOf('osmand', pushOf({ query }))).toMatchObject([
      {},
      { alertName: 'SOSButton' },
    ])
  })

  test('JSON, with speed in m/s and a battery level of 0 to 1', async () => {
    const push = jsonPush({
      location: {
        timestamp: '2021-07-21T08:06:34.444Z',
        coords: {
          latitude: -6.11,
          longitude: 106.68,
          accuracy: 3.8,
          speed: 18.67,
          heading: 63,
          altitude: 35.7,
        },
        is_moving: false,
        odometer: 0,
        event: 'motionchange',
        battery: { is_charging: false, level: 0.79 },
        activity: { type: 'still' },
        extras: {},
      },
      device_id: '8737767034',
    })
    expect(locationsOf(await itemsOf('osmand', push))).toEqual([
      {
        identifier: '8737767034',
        dateTime: '2021-07-21T08:06:34.444Z',
        latitude: -6.11,
        longitude: 106.68,
        speed: 67.212,
        course: 63,
        altitude: 35.7,
        accuracy: 3.8,
        battery: 79,
        source: 'gnss',
      },
    ])
  })

  test.each([
    ['timestamp=1377177267444', '2013-08-22T13:14:27.444Z'],
    ['timestamp=2013-08-22T13:14:27Z', '2013-08-22T13:14:27.000Z'],
    ['timestamp=2013-08-22 13:14:27', '2013-08-22T13:14:27.000Z'],
    ['', new Date(NOW).toISOString()],
  ])('reads the time %s', async (time, expected) => {
    const items = await itemsOf('osmand', query(`deviceid=7&location=1.5,2.5&heading=9&${time}`))
    expect(locationsOf(items)).toMatchObject([
      { identifier: '7', dateTime: expected, latitude: 1.5, longitude: 2.5, course: 9 },
    ])
  })

  test('unknown values of −1, no fix, and an alarm', async () => {
    const push = jsonPush({
      location: {
        timestamp: '2021-07-21T08:06:34.444Z',
        coords: { latitude: 1, longitude: 2, speed: -1, heading: -1, accuracy: -1 },
        battery: { level: -1 },
        alarm: 'sos',
      },
      device_id: '8',
    })
    const items = await itemsOf('osmand', push)
    expect(locationsOf(items)[0]).toEqual({
      identifier: '8',
      dateTime: '2021-07-21T08:06:34.444Z',
      latitude: 1,
      longitude: 2,
      source: 'gnss',
    })
    expect(items[1]).toMatchObject({ kind: 'alert', alertName: 'SOSButton', latitude: 1 })
    expect(kindsOf(await itemsOf('osmand', query('id=8&timestamp=1377177267')))).toEqual(['none'])
  })
})

describe('a list of stored positions of Traccar Client', () => {
  const at = (timestamp: unknown) => ({ timestamp, coords: { latitude: 1, longitude: 2 } })

  test('loses none with one that cannot be read', async () => {
    const location = [at('2021-07-21T08:06:34Z'), at('yesterday'), at('2021-07-21T08:06:36Z')]
    const { items, failures } = await decodePush('osmand', jsonPush({ device_id: '7', location }))
    expect(kindsOf(items)).toEqual(['location', 'location'])
    expect(failures).toEqual(['Position 2: `timestamp` is no time.'])
  })

  test('that has none is a sign of life, with its alarm', async () => {
    const items = await itemsOf('osmand', jsonPush({ device_id: '7', alarm: 'sos' }))
    expect(kindsOf(items)).toEqual(['none', 'alert'])
  })
})
