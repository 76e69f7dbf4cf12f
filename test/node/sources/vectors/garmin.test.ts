import { describe, expect, test } from 'vitest'
import { itemsOf, jsonPush, kindsOf, locationsOf } from '../push.ts'

describe('Garmin IPC Outbound', () => {
  const event = (changes: object) => ({
    imei: '100000000000001',
    messageCode: 3,
    freeText: 'On my way.',
    timeStamp: 1323784607376,
    addresses: [{ address: '2075752244' }],
    point: { latitude: 43.8, longitude: -70.16, altitude: 45, gpsFix: 2, course: 45, speed: 50 },
    status: { autonomous: 0, lowBattery: 1, intervalChange: 0, resetDetected: 0 },
    ...changes,
  })
  const push = (...events: object[]) => jsonPush({ Version: '2.0', Events: events })

  test('a text with a position and a low battery', async () => {
    const items = await itemsOf('garmin', push(event({})))
    expect(kindsOf(items)).toEqual(['location', 'alert', 'message'])
    expect(locationsOf(items)).toEqual([
      {
        identifier: '100000000000001',
        dateTime: '2011-12-13T13:56:47.376Z',
        latitude: 43.8,
        longitude: -70.16,
        altitude: 45,
        speed: 50,
        course: 45,
        source: 'gnss',
      },
    ])
    expect(items[1]).toMatchObject({ alertName: 'LowBattery' })
    expect(items[2]).toMatchObject({ text: 'On my way.', dateTime: 1323784607376, format: 'Text' })
  })

  test('the check-in codes 14 to 16 carry the time of the check-in, and no other code', async () => {
    for (const messageCode of [0, 3, 13, 14, 15, 16, 17, 24, '15']) {
      const isOk = [14, 15, 16].includes(Number(messageCode))
      for (const changes of [{}, { point: undefined }]) {
        const [located] = await itemsOf('garmin', push(event({ messageCode, ...changes })))
        expect(located && 'okAt' in located && located.okAt).toBe(isOk && 1323784607376)
      }
    }
  })

  test('a binary event without a position', async () => {
    const items = await itemsOf(
      'garmin',
      jsonPush({
        Version: '4.0',
        Events: [
          {
            transportMode: 'Satellite',
            payload: 'aGVsbG8=',
            imei: '300052030105900',
            messageCode: 66,
            timeStamp: 1740406683953,
            status: { lowBattery: 0 },
          },
        ],
      }),
    )
    expect(kindsOf(items)).toEqual(['none', 'message'])
    expect(items[1]).toMatchObject({
      identifier: '300052030105900',
      text: 'hello',
      dateTime: Date.parse('2025-02-24T14:18:03.953Z'),
    })
  })

  test.each([
    [4, ['location', 'alert', 'message']],
    [6, ['location', 'message']],
    [7, ['location', 'cancel', 'message']],
    [8, ['none', 'message']],
    [0, ['location', 'message']],
  ])('message code %i', async (messageCode, kinds) => {
    const items = await itemsOf('garmin', push(event({ messageCode, status: { lowBattery: 0 } })))
    expect(kindsOf(items)).toEqual(kinds)
  })

  test('a course below 0, several devices in one event, and a point of zeros', async () => {
    const point = { latitude: 1, longitude: 2, course: -90 }
    const several = await itemsOf(
      'garmin',
      push(event({ imei: '1,2', freeText: '', point, status: {} })),
    )
    expect(locationsOf(several)).toMatchObject([
      { identifier: '1', course: 270 },
      { identifier: '2', course: 270 },
    ])
    const zeros = { latitude: 0, longitude: 0, altitude: 0, gpsFix: 0 }
    const items = await itemsOf('garmin', push(event({ point: zeros, freeText: '', status: {} })))
    expect(kindsOf(items)).toEqual(['none'])
  })

  test('a time as text is a time, and what is none is that of the arrival', async () => {
    const timeOf = async (timeStamp: unknown) =>
      locationsOf(await itemsOf('garmin', push(event({ timeStamp }))))[0]?.dateTime
    expect(await timeOf('2026-03-04T05:06:07Z')).toBe('2026-03-04T05:06:07.000Z')
    expect(await timeOf('2026-03-04T07:06:07.5+02:00')).toBe('2026-03-04T05:06:07.500Z')
    expect(await timeOf('1772600767000')).toBe('2026-03-04T05:06:07.000Z')
    expect(await timeOf('soon')).toBe('2026-11-15T12:00:00.000Z')
  })

  test('an altitude of −422 is none', async () => {
    const altitudeOf = async (altitude: number) => {
      const point = { latitude: 31.5, longitude: 35.5, altitude, gpsFix: 2 }
      return locationsOf(await itemsOf('garmin', push(event({ point }))))[0]?.altitude
    }
    expect(await altitudeOf(-422)).toBeUndefined()
    expect(await altitudeOf(-421.5)).toBe(-421.5)
  })
})
