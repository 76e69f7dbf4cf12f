import { describe, expect, test } from 'vitest'
import { decodePush, replyTo } from '../../../../src/sources/decoding/decode.ts'
import { itemsOf, jsonPush, locationsOf } from '../push.ts'

const feature = (properties: object, coordinates: unknown = [8.7, 47.5]) => ({
  type: 'Feature',
  geometry: { type: 'Point', coordinates },
  properties: { timestamp: '2026-05-02T09:15:30-0700', device_id: 'kim-phone', ...properties },
})
const overlandPush = (...locations: unknown[]) => jsonPush({ locations, current: {} })

describe('Overland', () => {
  test('a location, with speed in m/s and a battery level of 0 to 1', async () => {
    const push = overlandPush(
      feature({
        altitude: 412,
        speed: 5,
        course: 90,
        horizontal_accuracy: 12,
        vertical_accuracy: 4,
        battery_state: 'unplugged',
        battery_level: 0.57,
        motion: ['cycling'],
        wifi: 'home',
      }),
    )
    expect(locationsOf(await itemsOf('overland', push))).toEqual([
      {
        identifier: 'kim-phone',
        dateTime: '2026-05-02T16:15:30.000Z',
        latitude: 47.5,
        longitude: 8.7,
        altitude: 412,
        speed: 18,
        course: 90,
        accuracy: 12,
        battery: 57,
        attributes: { motion: ['cycling'], battery_state: 'unplugged' },
        source: 'gnss',
      },
    ])
    expect(replyTo('overland', push)).toEqual({
      status: 200,
      contentType: 'application/json',
      body: '{"result":"ok"}',
    })
  })

  test('−1 is unknown, and the device’s own id names one without a device id', async () => {
    const unknown = { speed: -1, course: -1, horizontal_accuracy: -1, battery_level: -1 }
    const named = { device_id: '', unique_id: 'F00D-1' }
    const push = overlandPush(feature({ ...unknown, ...named }))
    expect(locationsOf(await itemsOf('overland', push))).toEqual([
      {
        identifier: 'F00D-1',
        dateTime: '2026-05-02T16:15:30.000Z',
        latitude: 47.5,
        longitude: 8.7,
        source: 'gnss',
      },
    ])
  })

  test('what is wrong with one location does not lose the others', async () => {
    const { items, failures } = await decodePush(
      'overland',
      overlandPush(
        feature({ device_id: '' }),
        feature({ timestamp: 'yesterday' }),
        feature({}, 'here'),
        feature({}),
      ),
    )
    expect(items.map(({ kind }) => kind)).toEqual(['none', 'location'])
    expect(failures).toEqual([
      'Location 1: `device_id` is missing.',
      'Location 2: `timestamp` is missing or is no time.',
      'Location 3: `latitude` is missing or is no number.',
    ])
  })

  test('an empty list is nothing, and a body of another app a failure', async () => {
    expect(await itemsOf('overland', overlandPush())).toEqual([])
    for (const body of [{ _type: 'location' }, [], { locations: [1] }, { locations: {} }])
      expect(await decodePush('overland', jsonPush(body))).toEqual({
        items: [],
        failures: ['`locations` is missing or is no list of features.'],
      })
  })
})
