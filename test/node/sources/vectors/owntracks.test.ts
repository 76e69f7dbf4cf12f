import { xsalsa20poly1305 } from '@noble/ciphers/salsa.js'
import { describe, expect, test } from 'vitest'
import { decodePush, replyTo } from '../../../../src/sources/decoding/decode.ts'
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

  test('the address names the device where headers and topic do not', async () => {
    const sent = { _type: 'location', tid: 'KB', lat: 47.5, lon: 8.7, tst: 1760000000, cog: -1 }
    const query = new URLSearchParams('u=kim&d=tablet')
    const [byAddress] = await itemsOf('owntracks', { ...jsonPush(sent), query })
    expect(byAddress).toMatchObject({ kind: 'location', identifier: 'kim/tablet' })
    expect(byAddress).not.toHaveProperty('location.course')
    const topic = 'owntracks/lee/phone'
    expect(await itemsOf('owntracks', { ...jsonPush({ ...sent, topic }), query })).toMatchObject([
      { identifier: 'lee/phone' },
    ])
    // Earlier releases named it by its tid.
    expect(byAddress?.formerIdentifier).toBe('KB')
    const [byTopic] = await itemsOf('owntracks', { ...jsonPush({ ...sent, topic }), query })
    expect(byTopic?.formerIdentifier).toBeUndefined()
    const [byLetters] = await itemsOf('owntracks', jsonPush(sent))
    expect(byLetters).not.toHaveProperty('formerIdentifier')
  })

  test.each([
    [{ locations: [] }, 'Message 1: `_type` is missing or is none of OwnTracks.'],
    [{ _type: 'position', lat: 1 }, 'Message 1: `_type` is missing or is none of OwnTracks.'],
    [[{ _type: 'lwt' }, 7], 'Message 2: A message must be a JSON object.'],
  ])('%j is no message of the app', async (sent, failure) => {
    const decoded = await decodePush('owntracks', jsonPush(sent))
    expect(decoded).toEqual({ items: [], failures: [failure] })
  })
})

describe('OwnTracks with a key', () => {
  const LOCATION = { _type: 'location', tid: 'KB', lat: 47.5, lon: 8.7, tst: 1760000000 }
  const bytesOf = (text: string) => new TextEncoder().encode(text)
  const base64Of = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')

  const seal = (message: unknown, key: string): { _type: string; data: string } => {
    const padded = new Uint8Array(32)
    padded.set(bytesOf(key))
    const nonce = Uint8Array.from({ length: 24 }, (_, index) => index * 7)
    const box = xsalsa20poly1305(padded, nonce).encrypt(bytesOf(JSON.stringify(message)))
    return { _type: 'encrypted', data: base64Of(Uint8Array.from([...nonce, ...box])) }
  }

  const decode = (sent: unknown, encryptionKey?: string) =>
    decodePush('owntracks', {
      ...jsonPush(sent),
      settings: encryptionKey === undefined ? {} : { encryptionKey },
    })

  test.each(['x', 'blåbär', 'k'.repeat(32)])('the key %s opens what it has closed', async (key) => {
    const { items, failures } = await decode(
      [seal(LOCATION, key), seal({ _type: 'lwt' }, key)],
      key,
    )
    expect(failures).toEqual([])
    expect(items).toMatchObject([
      { identifier: 'KB', location: { latitude: 47.5, longitude: 8.7 } },
    ])
  })

  test('a box of libsodium is opened', async () => {
    // crypto_secretbox_easy('{"_type":"lwt"}') with nonce 0…23 and the key "perigee", by PyNaCl.
    const data = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYX5Uyyz00lkGWlMVvqY4JQYm0ucck+5XzONfYjAcBtpA=='
    expect(await decode({ _type: 'encrypted', data }, 'perigee')).toEqual({
      items: [],
      failures: [],
    })
  })

  test.each([
    ['no key', seal(LOCATION, 'right'), undefined, /the source has no `encryptionKey`/],
    ['another key', seal(LOCATION, 'right'), 'wrong', /cannot be decrypted/],
    ['a plain location', LOCATION, 'right', /is not encrypted, though/],
    ['another plain message', { _type: 'lwt' }, 'right', /is not encrypted, though/],
    [
      'a changed box',
      { _type: 'encrypted', data: base64Of(new Uint8Array(60)) },
      'right',
      /decrypted/,
    ],
    ['a short box', { _type: 'encrypted', data: 'AAAA' }, 'right', /cannot be decrypted/],
    ['no box', { _type: 'encrypted' }, 'right', /cannot be decrypted/],
    ['no base64', { _type: 'encrypted', data: '?' }, 'right', /`data` is not base64/],
    ['a box of no object', seal([LOCATION], 'right'), 'right', /not a JSON object/],
    ['a box in a box', seal(seal(LOCATION, 'right'), 'right'), 'right', /none of OwnTracks/],
  ])('%s is a failure that says why', async (_, sent, key, reason) => {
    const { items, failures } = await decode(sent, key)
    expect(items).toEqual([])
    expect(failures).toEqual([expect.stringMatching(reason)])
    expect(failures.join()).not.toContain('right')
  })
})
