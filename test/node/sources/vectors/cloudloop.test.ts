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
})
