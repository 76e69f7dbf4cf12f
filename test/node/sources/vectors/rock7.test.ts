import { describe, expect, test } from 'vitest'
import { itemsOf, jsonPush, locationsOf, pushOf } from '../push.ts'

describe('Rock 7 Core', () => {
  test('a form with a GPS position', async () => {
    const body =
      'imei=300434062929540&device_type=GRIFFIN&serial=100015&momsn=70153268&transmit_time=2023-03-14T09%3A00%3A14Z&id=abgrGXzpmLqPnyqrDDoMnOyoKJdkeVNv&transport=GPRS&txAt=2023-03-14T09%3A00%3A14Z&at=2023-03-14T09%3A00%3A00Z&lat=51.49530&lon=-3.17030&source=GPS&sog=0.2&cog=51&averageSog=0.2&averageCog=51&alt=0&temp=0.0&battery=100&power=false&trigger=BURST'
    const push = pushOf({ contentType: 'application/x-www-form-urlencoded', body })
    const items = await itemsOf('rock7', push)
    expect(items[0]?.key).toBe('abgrGXzpmLqPnyqrDDoMnOyoKJdkeVNv')
    expect(locationsOf(items)).toEqual([
      {
        identifier: '300434062929540',
        dateTime: '2023-03-14T09:00:00.000Z',
        latitude: 51.4953,
        longitude: -3.1703,
        course: 51,
        altitude: 0,
        temperature: 0,
        battery: 100,
        attributes: {
          sog: 0.2,
          averageSog: 0.2,
          averageCog: 51,
          power: false,
          trigger: 'BURST',
          transport: 'GPRS',
        },
        source: 'gnss',
      },
    ])
  })

  test('a position of the network, and a GPS report of the same session', async () => {
    const session = { imei: '300534060257450', momsn: 33, battery: 88 }
    const network = await itemsOf(
      'rock7',
      jsonPush({
        ...session,
        id: 'first',
        source: 'IRIDIUM',
        at: '2020-09-03T20:16:15Z',
        iridium_latitude: 37.8192,
        iridium_longitude: -122.2655,
        cep: 2,
      }),
    )
    expect(locationsOf(network)).toEqual([
      {
        identifier: '300534060257450',
        dateTime: '2020-09-03T20:16:15.000Z',
        latitude: 37.8192,
        longitude: -122.2655,
        accuracy: 2000,
        battery: 88,
        source: 'network',
      },
    ])
    const own = await itemsOf(
      'rock7',
      jsonPush({
        ...session,
        id: 'second',
        source: 'GPS',
        at: '2020-09-03T20:00:00Z',
        lat: 37.82519,
        lon: -122.27662,
      }),
    )
    expect(locationsOf(own)).toMatchObject([{ latitude: 37.82519, source: 'gnss' }])
    expect(own[0]?.key).not.toBe(network[0]?.key)
  })

  test('an acknowledgement has no battery', async () => {
    const sent = { imei: '300534060999990', id: 'ack', at: '2026-01-03T21:10:47Z', battery: 0 }
    const place = { lat: 12.5, lon: -61.5, temp: 21 }
    const send = async (trigger: string) =>
      locationsOf(await itemsOf('rock7', jsonPush({ ...sent, ...place, trigger })))[0]
    expect(await send('ACKNOWLEDGE')).toEqual({
      identifier: '300534060999990',
      dateTime: '2026-01-03T21:10:47.000Z',
      latitude: 12.5,
      longitude: -61.5,
      temperature: 21,
      attributes: { trigger: 'ACKNOWLEDGE' },
      source: 'gnss',
    })
    expect(await send('ROUTINE')).toMatchObject({ battery: 0 })
  })
})
