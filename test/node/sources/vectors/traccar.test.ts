import { describe, expect, test } from 'vitest'
import { itemsOf, jsonPush, kindsOf, locationsOf } from '../push.ts'

describe('Traccar forwarding', () => {
  const body = (changes: object = {}, attributes: object = {}) => ({
    position: {
      id: 0,
      attributes: { odometer: 5.0012345e7, fuel: 60, ignition: true, motion: true, ...attributes },
      deviceId: 1,
      protocol: 'osmand',
      serverTime: '2026-09-24T15:10:44.721+00:00',
      deviceTime: '2026-09-24T08:10:00.000+00:00',
      fixTime: '2026-09-24T08:10:00.000+00:00',
      valid: true,
      latitude: 36.8165,
      longitude: 10.1915,
      altitude: 0,
      speed: 20,
      course: 0,
      address: null,
      accuracy: 0,
      network: null,
      geofenceIds: null,
      ...changes,
    },
    device: {
      id: 1,
      attributes: {},
      name: 'unit 1',
      uniqueId: '865000000000001',
      status: 'online',
    },
  })

  test('a position', async () => {
    const items = await itemsOf('traccar', jsonPush(body()))
    expect(locationsOf(items)).toEqual([
      {
        identifier: '865000000000001',
        dateTime: '2026-09-24T08:10:00.000Z',
        latitude: 36.8165,
        longitude: 10.1915,
        altitude: 0,
        speed: 37.04,
        course: 0,
        attributes: { odometer: 50012345, fuel: 60, ignition: true, motion: true },
        source: 'gnss',
      },
    ])
    const retried = await itemsOf('traccar', jsonPush(body({ id: 77 })))
    expect(retried).toEqual(items)
  })

  test('an event without a position', async () => {
    const pushOf = (type: string) =>
      jsonPush({
        event: {
          id: 43334,
          attributes: {},
          deviceId: 385,
          type,
          eventTime: '2024-05-10T10:45:34.984+00:00',
          positionId: 0,
          geofenceId: 0,
          maintenanceId: 0,
        },
        device: { id: 385, name: '868618052108909', uniqueId: '868618052108909' },
      })
    expect(await itemsOf('traccar', pushOf('deviceOnline'))).toEqual([
      { kind: 'none', identifier: '868618052108909', key: '868618052108909:event:43334' },
    ])
    // That a device does not report is no sign of life.
    expect(await itemsOf('traccar', pushOf('deviceOffline'))).toEqual([])
  })

  test('alarms, of a position and of its event alike', async () => {
    const ofPosition = await itemsOf('traccar', jsonPush(body({}, { alarm: 'sos,lowBattery' })))
    expect(ofPosition.flatMap((item) => ('alertName' in item ? item.alertName : []))).toEqual([
      'SOSButton',
      'LowBattery',
    ])
    const event = {
      id: 5,
      type: 'alarm',
      attributes: { alarm: 'sos' },
      eventTime: '2026-09-24T08:10:01Z',
    }
    const ofEvent = await itemsOf('traccar', jsonPush({ ...body(), event }))
    expect(ofEvent[1]).toEqual(ofPosition[1])
  })

  test('a device that never had a fix keeps its alarm and has no location', async () => {
    const never = { fixTime: '1980-01-06T00:00:00.000+00:00', latitude: 0, longitude: 0 }
    const items = await itemsOf('traccar', jsonPush(body(never, { alarm: 'sos' })))
    expect(kindsOf(items)).toEqual(['none', 'alert'])
    expect(items[1]).toMatchObject({ latitude: null, dateTime: Date.parse('2026-09-24T08:10:00Z') })
  })
})
