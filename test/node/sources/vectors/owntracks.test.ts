import { describe, expect, test } from 'vitest'
import { replyTo } from '../../../../src/sources/decoding/decode.ts'
import { itemsOf, jsonPush, locationsOf, pushOf } from '../push.ts'

describe('OwnTracks', () => {
  test('a location', async () => {
    const push = jsonPush({
      _type: 'location',
      tid: 'JJ',
      lat: 48.85,
      lon: 2.29,
      tst: 1497349316,
      acc: 5,
      alt: 167,
      vel: 61,
      cog: 271,
      batt: 67,
      t: 'u',
    })
    expect(locationsOf(await itemsOf('owntracks', push))).toEqual([
      {
        identifier: 'JJ',
        dateTime: '2017-06-13T10:21:56.000Z',
        latitude: 48.85,
        longitude: 2.29,
        accuracy: 5,
        altitude: 167,
        speed: 61,
        course: 271,
        battery: 67,
        source: 'gnss',
      },
    ])
    expect(replyTo('owntracks', push)).toEqual({
      status: 200,
      contentType: 'application/json',
      body: '[]',
    })
  })

  test('a location of a newer app, of the user and device in the headers', async () => {
    const sent = {
      _type: 'location',
      acc: 15,
      alt: 440,
      batt: 46,
      conn: 'w',
      lat: 46.0681247,
      lon: 11.1512805,
      t: 'u',
      tid: '5t',
      tst: 1551874878,
      vac: 2,
      vel: 0,
    }
    const headers = new Headers({ 'X-Limit-U': 'ann', 'X-Limit-D': 'phone' })
    expect(locationsOf(await itemsOf('owntracks', { ...jsonPush(sent), headers }))).toEqual([
      {
        identifier: 'ann/phone',
        dateTime: '2019-03-06T12:21:18.000Z',
        latitude: 46.0681247,
        longitude: 11.1512805,
        accuracy: 15,
        altitude: 440,
        speed: 0,
        battery: 46,
        source: 'gnss',
      },
    ])
    const byTopic = jsonPush({ ...sent, topic: 'owntracks/ann/phone', t: '9' })
    expect(await itemsOf('owntracks', byTopic)).toMatchObject([
      { identifier: 'ann/phone' },
      { alertName: 'LowBattery' },
    ])
  })

  test('anything else is ignored', async () => {
    expect(await itemsOf('owntracks', jsonPush({ _type: 'lwt', tst: 1 }))).toEqual([])
    expect(await itemsOf('owntracks', pushOf({}))).toEqual([])
  })
})
