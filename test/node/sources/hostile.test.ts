import fc from 'fast-check'
import { SaxesParser } from 'saxes'
import { describe, expect, test, vi } from 'vitest'
import { SOURCE_PROVIDERS } from '../../../src/domain/account/source.ts'
import { isObject } from '../../../src/domain/text/json.ts'
import { newLocation } from '../../../src/locations/forms.ts'
import { decodePush, replyTo } from '../../../src/sources/decoding/decode.ts'
import { jsonPush, pushOf, xmlPush } from './push.ts'

/* Whatever arrives, decoding gives items that can be stored, or reasons; it never throws. */

const NAMES = [
  'id',
  'device_id',
  'lat',
  'lon',
  'timestamp',
  'location',
  'coords',
  'latitude',
  'longitude',
  'position',
  'device',
  'uniqueId',
  'fixTime',
  'attributes',
  'event',
  'Events',
  'imei',
  'timeStamp',
  'point',
  'messageCode',
  'payload',
  'data',
  'momsn',
  'transmit_time',
  'iridium_latitude',
  'JWT',
  'sbd',
  'identity',
  'hardware',
  'sessionAt',
  'p6',
  'messages',
  'mo',
  '_type',
  'tst',
  'tid',
  'ident',
  'position.latitude',
  'position.longitude',
  'messageList',
  'message',
  'stuMessages',
  '__proto__',
  'constructor',
  'year',
  'month',
]
const scalar = fc.oneof(
  fc.constantFrom(
    null,
    true,
    false,
    '',
    '0',
    '1',
    '-0',
    '1e400',
    'NaN',
    '2026-01-01T00:00:00Z',
    'location',
    '\0',
    '\ud800',
  ),
  fc.double(),
  fc.integer(),
  fc.string(),
)
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom(...NAMES), tie('value'), { maxKeys: 8 }),
  ),
})).value

const check = async (body: string | Uint8Array, contentType: string) => {
  for (const provider of SOURCE_PROVIDERS) {
    const push = pushOf({ body, contentType, query: new URLSearchParams('id=7&lat=1') })
    const { items, failures } = await decodePush(provider, push)
    for (const reason of failures) expect(reason).toMatch(/^[A-Z`].{5,}\.$/)
    for (const item of items) {
      expect(item.key.length).toBeLessThanOrEqual(200)
      expect(item.identifier).toMatch(/^.{1,64}$/u)
      expect(JSON.stringify(item)).toBe(JSON.stringify(item).toWellFormed())
      if (item.kind !== 'location') continue
      // Only the time may be one that a report refuses: the quarantine checks it.
      const dateTime = '2026-01-01T00:00:00Z'
      expect(newLocation.safeParse({ ...item.location, dateTime }).error).toBeUndefined()
    }
    expect(replyTo(provider, push).status).toBe(200)
  }
}

describe('hostile payloads', () => {
  test('random bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), (bytes) => check(bytes, '')),
      { numRuns: 200 },
    )
  })

  test('JSON with the members that decoders read, and the wrong values', async () => {
    await fc.assert(
      fc.asyncProperty(json, (value) => check(JSON.stringify(value) ?? '', 'application/json')),
      { numRuns: 1000 },
    )
  })

  test('XML that is cut or nested', async () => {
    const whole =
      '<stuMessages messageID="1"><stuMessage><esn>0-1</esn><unixTime>1585105370</unixTime><payload>0x00C583EACD37210A00</payload></stuMessage></stuMessages>'
    for (let length = 0; length < whole.length; length += 3)
      await check(whole.slice(0, length), 'text/xml')
    await check('<a>'.repeat(80_000), 'text/xml')
    await check(`${'<a>'.repeat(50)}${'</a>'.repeat(50)}`, 'text/xml')
  })

  test('XML is parsed once, for its items and the reply to it', async () => {
    const parse = vi.spyOn(SaxesParser.prototype, 'close')
    const push = xmlPush('<stuMessages messageID="1"><stuMessage/></stuMessages>')
    await decodePush('globalstar', push)
    expect(replyTo('globalstar', push).body).toContain('correlationID="1"')
    expect(parse).toHaveBeenCalledTimes(1)
    parse.mockRestore()
  })

  test('XML bombs and external entities are refused before they are parsed', async () => {
    const bomb = `<!DOCTYPE lolz [<!ENTITY a "${'a'.repeat(100)}"><!ENTITY b "&a;&a;&a;&a;">]><messageList><message><esn>&b;</esn></message></messageList>`
    const external = '<!doctype x SYSTEM "file:///etc/passwd"><messageList/>'
    for (const body of [bomb, external, ` ${bomb}`])
      for (const provider of ['spot', 'globalstar'] as const)
        expect(await decodePush(provider, xmlPush(body))).toEqual({
          items: [],
          failures: ['XML with entities, or a DOCTYPE that defines anything, is refused.'],
        })
  })

  test('a part that cannot be read does not lose the others', async () => {
    const good = {
      ident: 'a',
      timestamp: 1506695785,
      'position.latitude': 1,
      'position.longitude': 2,
    }
    const wrong = { ...good, 'position.latitude': 91 }
    const { items, failures } = await decodePush('flespi', jsonPush([good, wrong, good]))
    expect(items.map(({ kind }) => kind)).toEqual(['location', 'none', 'location'])
    expect(failures).toEqual(['Message 2: `latitude` is out of range.'])
  })

  test('an alert is not lost with a position or a payload that cannot be read', async () => {
    const time = '2026-11-15T11:00:00.000+00:00'
    const pushes = {
      // SPOT's coordinates of a message without a fix.
      spot: xmlPush(
        '<messageList><message><id>1</id><esn>0-1</esn><messageType>HELP</messageType><timeInGMTSecond>1514380778</timeInGMTSecond><latitude>-99999.0</latitude><longitude>-99999.0</longitude></message></messageList>',
      ),
      garmin: jsonPush({
        Events: [
          {
            imei: '1',
            messageCode: 4,
            timeStamp: 1323784607376,
            payload: '%',
            point: { latitude: 91, longitude: 0 },
          },
        ],
      }),
      traccar: jsonPush({
        device: { uniqueId: '1' },
        position: {
          fixTime: time,
          valid: true,
          latitude: null,
          longitude: null,
          attributes: { alarm: 'sos' },
        },
      }),
      osmand: pushOf({ query: new URLSearchParams('id=1&lat=abc&lon=1&alarm=sos') }),
      cloudloop: jsonPush({
        id: 'c',
        identity: { hardware: { imei: '1' } },
        message: '%',
        p6: {
          messages: [
            {
              mo: {
                type: 'MO_MESSAGE_ALERT_HIGH_PRIORITY',
                position: { standard: { latlng: { latitude: 200 } } },
              },
            },
          ],
        },
      }),
    }
    for (const [provider, push] of Object.entries(pushes)) {
      const { items, failures } = await decodePush(provider as keyof typeof pushes, push)
      const alerts = items.flatMap((item) => (item.kind === 'alert' ? [item.alertName] : []))
      expect([provider, alerts]).toEqual([provider, ['SOSButton']])
      expect(failures.join(' ')).toMatch(/latitude/)
    }
  })

  test('a small payload becomes no large number of items', async () => {
    const names = Array.from({ length: 5000 }, (_, index) => `n${index}`).join(',')
    const event = { imei: names, messageCode: 3, timeStamp: 1, freeText: 'x'.repeat(10_000) }
    const garmin = await decodePush('garmin', jsonPush({ Events: [event] }))
    // Six of the texts fit into 64 KB.
    expect(garmin.items).toHaveLength(20 + 6)
    expect(garmin.failures).toEqual([
      'The texts have more than 64 KB; the rest is not stored.',
      'Event 1: `imei` must name at most 20 devices.',
    ])
    const query = new URLSearchParams({ id: '1', lat: '1', lon: '1', alarm: names })
    expect((await decodePush('osmand', pushOf({ query }))).items).toHaveLength(1 + 50)
  })

  const many = (count: number, part: string) => Array.from({ length: count }, () => part).join()

  test.each([
    ['owntracks', '[', '1', ']'],
    ['overland', '{"locations":[', '{}', ']}'],
    ['flespi', '[', '{}', ']'],
    ['osmand', '{"device_id":"a","location":[', '1', ']}'],
    ['spot', '{"response":{"feedMessageResponse":{"messages":{"message":[', '1', ']}}}}'],
  ] as const)('%s: more than 10,000 parts are one failure', async (provider, open, part, end) => {
    const push = (count: number) =>
      pushOf({ contentType: 'application/json', body: `${open}${many(count, part)}${end}` })
    const { failures } = await decodePush(provider, push(10_000))
    expect(failures).not.toContain('The payload has more than 10,000 parts.')
    expect(await decodePush(provider, push(10_001))).toEqual({
      items: [],
      failures: ['The payload has more than 10,000 parts.'],
    })
  })

  test('XML with more than 10,000 parts is one failure', async () => {
    const push = xmlPush(`<stuMessages>${'<stuMessage/>'.repeat(10_001)}</stuMessages>`)
    expect((await decodePush('globalstar', push)).failures).toEqual([
      'The payload has more than 10,000 parts.',
    ])
  })

  test('20 failures are listed, the others are counted', async () => {
    const { failures } = await decodePush('owntracks', pushOf({ body: `[${many(1234, '1')}]` }))
    expect(failures).toHaveLength(21)
    expect(failures[19]).toBe('Message 20: A message must be a JSON object.')
    expect(failures[20]).toBe('And 1,214 more.')
    const exact = await decodePush('owntracks', pushOf({ body: `[${many(20, '1')}]` }))
    expect(exact.failures).toHaveLength(20)
  })

  test('a list within a part has a limit, which loses no alert before it', async () => {
    const mo = { type: 'MO_MESSAGE_ALERT_HIGH_PRIORITY' }
    const messages = [{ mo }, ...Array.from({ length: 5000 }, () => 1)]
    const identity = { hardware: { imei: '1' } }
    const decoded = await decodePush('cloudloop', jsonPush({ identity, p6: { messages } }))
    expect(decoded.items).toMatchObject([{ kind: 'alert', alertName: 'SOSButton' }])
    expect(decoded.failures).toEqual(['Message 1: `p6.messages` must have at most 500 members.'])
  })

  test('parts that each become many items are refused before they take the memory', async () => {
    const alarm = Array.from({ length: 50 }, (_, index) => `a${index}`).join()
    const body = `{"device_id":"a","alarm":"${alarm}","location":[${many(9000, '{}')}]}`
    expect(await decodePush('osmand', pushOf({ body }))).toEqual({
      items: [],
      failures: ['The payload becomes more than 20,000 items.'],
    })
  })

  test('a form of very many fields is refused before it is parsed', async () => {
    const fields = 'id=7&lat=1&lon=2&'
    const decode = (count: number) =>
      decodePush('osmand', pushOf({ body: `${fields}${'a=1&'.repeat(count - 4)}b=2` }))
    expect((await decode(1000)).items).toHaveLength(1)
    expect((await decode(1001)).failures).toEqual(['The form has more than 1,000 fields.'])
  })

  test.each([
    ['long', { x: 'y'.repeat(9000) }],
    ['many', Object.fromEntries(Array.from({ length: 90_000 }, (_, index) => [`x${index}`, 1]))],
    ['nested', { x: Array.from({ length: 200_000 }, () => ({})) }],
  ])('attributes that are too %s are left out, the position stays', async (_, attributes) => {
    const place = { 'position.latitude': 1, 'position.longitude': 2 }
    const push = jsonPush([{ ident: 'a', timestamp: 1, ...place, ...attributes }])
    const [item] = (await decodePush('flespi', push)).items
    expect(item?.kind === 'location' && !isObject(item.location.attributes)).toBe(true)
  })
})
