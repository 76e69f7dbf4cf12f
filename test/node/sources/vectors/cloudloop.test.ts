import { describe, expect, test } from 'vitest'
import { itemsOf, jsonPush, kindsOf, locationsOf } from '../push.ts'

describe('Cloudloop', () => {
  const lingo = (changes: object) => ({
    id: 'c0eb3dd4-0ab5-41f2-8fbd-b71083161fba',
    identity: { hardware: { imei: '300234065366010' } },
    sbd: {
      imei: '300234065366010',
      sessionAt: { year: 2023, month: 10, day: 9, hour: 9, minute: 41, second: 12 },
      status: 'SESSION_STATUS_OK',
      location: { latitude: 50.87023333333333, longitude: -1.1934833333333335, cep: 4 },
    },
    ...changes,
  })

  test('a session', async () => {
    const items = await itemsOf('cloudloop', jsonPush(lingo({})))
    expect(items[0]?.key).toBe('c0eb3dd4-0ab5-41f2-8fbd-b71083161fba')
    expect(locationsOf(items)).toEqual([
      {
        identifier: '300234065366010',
        dateTime: '2023-10-09T09:41:12.000Z',
        latitude: 50.87023333333333,
        longitude: -1.1934833333333335,
        accuracy: 4000,
        source: 'network',
      },
    ])
  })

  test('a message', async () => {
    const items = await itemsOf(
      'cloudloop',
      jsonPush(
        lingo({
          id: '38f132ed-73e7-4488-a743-ec00fe7d7879',
          sbd: {
            sessionAt: { year: 2023, month: 10, day: 2, hour: 15, minute: 37, second: 8 },
            location: { latitude: 50.898133333333334, longitude: -1.1946666666666665, cep: 3 },
          },
          message: 'SGVsbG8gV29ybGQ=',
        }),
      ),
    )
    expect(locationsOf(items)).toMatchObject([
      { dateTime: '2023-10-02T15:37:08.000Z', latitude: 50.898133333333334, accuracy: 3000 },
    ])
    expect(items[1]).toMatchObject({ kind: 'message', text: 'Hello World' })
  })

  test('alerts of a tracking device, at its own fix', async () => {
    const mo = {
      type: 'MO_MESSAGE_ALERT_HIGH_PRIORITY',
      position: { standard: { latlng: { latitude: 1, longitude: 2 } } },
    }
    const items = await itemsOf('cloudloop', jsonPush(lingo({ p6: { messages: [{ mo }] } })))
    expect(kindsOf(items)).toEqual(['location', 'alert'])
    expect(items[1]).toMatchObject({ alertName: 'SOSButton', latitude: 1 })
    const noFix = { type: 'MO_MESSAGE_ALERT_POWER_LOSS_NO_FIX' }
    const other = await itemsOf('cloudloop', jsonPush(lingo({ p6: { messages: [{ mo: noFix }] } })))
    expect(other[1]).toMatchObject({ kind: 'alert', alertName: 'PowerLoss', latitude: null })
    expect(locationsOf(other)).toMatchObject([{ source: 'network' }])
  })

  test.each([
    ['MO_MESSAGE_ALERT_HIGH_PRIORITY_NO_FIX', { latitude: 1, longitude: 2 }],
    ['MO_MESSAGE_ALERT_HIGH_PRIORITY_NO_FIX', { latitude: 0, longitude: 0 }],
    ['MO_MESSAGE_ALERT_DEAD_MAN', { latitude: 0, longitude: 0 }],
    ['MO_MESSAGE_ALERT_DEAD_MAN', {}],
  ])('an SOS of %s at %j is where Iridium has found the device', async (type, latlng) => {
    const mo = { type, position: { standard: { latlng } } }
    const items = await itemsOf('cloudloop', jsonPush(lingo({ p6: { messages: [{ mo }] } })))
    expect(kindsOf(items)).toEqual(['location', 'alert'])
    expect(locationsOf(items)).toMatchObject([{ latitude: 50.87023333333333, source: 'network' }])
    expect(items[1]).toMatchObject({ alertName: 'SOSButton', latitude: null, longitude: null })
  })

  test('a fix on the equator is one', async () => {
    const mo = { position: { standard: { latlng: { latitude: 0, longitude: 9.5 } } } }
    const items = await itemsOf('cloudloop', jsonPush(lingo({ p6: { messages: [{ mo }] } })))
    expect(locationsOf(items)).toMatchObject([{ latitude: 0, longitude: 9.5, source: 'gnss' }])
  })

  const smartOne = (standard: object, changes: object = {}) => ({
    id: 'a-7',
    receivedAt: { year: 2026, month: 2, day: 3, hour: 10, minute: 30, second: 9 },
    identity: { hardware: { esn: '0-4455667' }, thingId: 'ThingOfTheAccount' },
    message: 'AAECAwQFBgcI',
    globalstarMessage: {
      message: {
        mo: {
          at: { date: { Year: 2026, Month: 2, Day: 3 }, time: { Hour: 10, Minute: 28 } },
          standard: {
            batteryState: 'BATTERY_STATE_GOOD',
            gpsStatus: 'GPS_STATUS_VALID',
            position: { lat: -12.5, lon: 131.25, moving: true },
            ...standard,
          },
        },
      },
    },
    ...changes,
  })

  test('a SmartOne is named by its ESN, reports at its own time and sends no message', async () => {
    const items = await itemsOf('cloudloop', jsonPush(smartOne({})))
    expect(kindsOf(items)).toEqual(['location'])
    expect(locationsOf(items)).toEqual([
      {
        identifier: '0-4455667',
        dateTime: '2026-02-03T10:28:00.000Z',
        latitude: -12.5,
        longitude: 131.25,
        attributes: { moving: true },
        source: 'gnss',
      },
    ])
  })

  test.each([
    [{ batteryState: 'BATTERY_STATE_LOW' }, ['location', 'alert']],
    [{ batteryState: 'REPLACE' }, ['location', 'alert']],
    [{ batteryState: 'BATTERY_STATE_UNKNOWN' }, ['location']],
    [{ gpsStatus: 'GPS_STATUS_INVALID', position: { lat: 0, lon: 0 } }, ['none']],
    [{ gpsStatus: 'GPS_STATUS_INVALID' }, ['none']],
    [{ gpsStatus: undefined, position: { lat: 0, lon: 0 } }, ['none']],
    [{ position: { lat: 0, lon: 12 } }, ['location']],
  ])('a SmartOne with %j', async (standard, kinds) => {
    expect(kindsOf(await itemsOf('cloudloop', jsonPush(smartOne(standard))))).toEqual(kinds)
  })

  test.each([
    [{ cellular: { imei: '350000000000017' } }, '350000000000017'],
    [{ identity: { identifier: '0-11', thingId: 'Thing' } }, '0-11'],
    [{ identity: { thingId: 'Thing' } }, 'Thing'],
    [{ identity: { hardware: { imei: '' }, thingId: 'Thing' } }, 'Thing'],
  ])('%j is of the device %s', async (members, identifier) => {
    const push = jsonPush({ id: 'a-8', message: 'SGk=', ...members })
    expect(await itemsOf('cloudloop', push)).toMatchObject([{ identifier, text: 'Hi' }])
  })

  test.each([
    [{ identity: { hardware: { esn: '0-1' }, thingId: 'Thing' } }, 'Thing'],
    [{ identity: { thingId: 'Thing' }, cellular: { imei: '35' } }, 'Thing'],
    [{ identity: { hardware: { imei: '30' }, thingId: 'Thing' } }, undefined],
    [{ identity: { thingId: 'Thing' }, sbd: { imei: '30' } }, undefined],
    [{ identity: { hardware: { esn: '0-1' }, thingId: 'x'.repeat(65) } }, undefined],
  ])('%j was formerly named %s', async (members, former) => {
    const [item] = await itemsOf('cloudloop', jsonPush({ id: 'a-9', message: 'SGk=', ...members }))
    expect(item?.formerIdentifier).toBe(former)
  })

  test('bytes of a report are no message; what Cloudloop has not decoded is one', async () => {
    const send = async (type: string) =>
      kindsOf(
        await itemsOf(
          'cloudloop',
          jsonPush(lingo({ message: 'AAEC', p6: { messages: [{ mo: { type } }] } })),
        ),
      )
    expect(await send('MO_MESSAGE_AUTO_POSITION_REPORT_NO_FIX')).toEqual(['location'])
    expect(await send('MO_MESSAGE_ALERT_COLLISION_NO_FIX')).toEqual(['location', 'alert'])
    expect(await send('MO_MESSAGE_SERIAL_DATA')).toEqual(['location', 'message'])
  })
})
