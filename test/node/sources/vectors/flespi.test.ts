import { describe, expect, test } from 'vitest'
import { itemsOf, jsonPush, locationsOf } from '../push.ts'

describe('flespi', () => {
  test('a position', async () => {
    const push = jsonPush([
      {
        ident: '605630',
        timestamp: 1506695785,
        'position.latitude': 53.905569,
        'position.longitude': 27.455986,
        'position.speed': 0,
        'position.direction': 262.643854,
        'position.altitude': 233.48,
      },
    ])
    expect(locationsOf(await itemsOf('flespi', push))).toEqual([
      {
        identifier: '605630',
        dateTime: '2017-09-29T14:36:25.000Z',
        latitude: 53.905569,
        longitude: 27.455986,
        speed: 0,
        course: 262.643854,
        altitude: 233.48,
        source: 'gnss',
      },
    ])
  })

  test('a time with a fraction, and an alarm', async () => {
    const push = jsonPush([
      {
        ident: 'namo:namo',
        timestamp: 1508508510.013227,
        'position.latitude': 53.90821,
        'position.longitude': 27.524165,
        'position.speed': 0,
        'alarm.event.trigger': true,
      },
    ])
    const items = await itemsOf('flespi', push)
    expect(locationsOf(items)).toMatchObject([
      { dateTime: '2017-10-20T14:08:30.013Z', latitude: 53.90821, longitude: 27.524165 },
    ])
    expect(items[1]).toMatchObject({ kind: 'alert', alertName: 'Alarm' })
  })

  test('towing and overspeeding are alarms, while they are true', async () => {
    const at = (timestamp: number, members: object) => ({ ident: 'van-3', timestamp, ...members })
    const items = await itemsOf(
      'flespi',
      jsonPush([
        at(1770000000, { 'towing.event.trigger': true, 'overspeeding.event.trigger': true }),
        at(1770000060, { 'towing.event.trigger': false, 'overspeeding.event.trigger': false }),
      ]),
    )
    expect(items.map((item) => ('alertName' in item ? item.alertName : item.kind))).toEqual([
      'none',
      'Movement',
      'SpeedLimit',
      'none',
    ])
  })
})
