import { describe, expect, test } from 'vitest'
import { decodePush, replyTo } from '../../../src/sources/decoding/decode.ts'
import { itemsOf, jsonPush, kindsOf, locationsOf, NOW, pushOf, xmlPush } from './push.ts'

/* Payloads of the networks' own documents and of public recordings, decoded to the digit. */

const query = (text: string) => pushOf({ query: new URLSearchParams(text) })

describe('OsmAnd and Traccar Client', () => {
  test('a query', async () => {
    const items = await itemsOf(
      'osmand',
      query(
        'id=123456&timestamp=1377177267&lat=60.0&lon=30.0&speed=0.0&bearing=0.0&altitude=0&hdop=0.0&batt=87',
      ),
    )
    expect(locationsOf(items)).toEqual([
      {
        identifier: '123456',
        dateTime: '2013-08-22T13:14:27.000Z',
        latitude: 60,
        longitude: 30,
        speed: 0,
        course: 0,
        altitude: 0,
        battery: 87,
        attributes: { hdop: 0 },
        source: 'gnss',
      },
    ])
    expect(items[0]?.key).toBe('123456:1377177267000')
  })

  test('speed in knots, and attributes of three types', async () => {
    const text =
      'id=123456789012345&timestamp=1504763810&lat=40.7232948571&lon=-74.0061408571&bearing=7.19889788244&speed=40&ignition=true&rpm=933&fuel=24'
    const expected = {
      identifier: '123456789012345',
      dateTime: '2017-09-07T05:56:50.000Z',
      latitude: 40.7232948571,
      longitude: -74.0061408571,
      speed: 74.08,
      course: 7.19889788244,
      attributes: { ignition: true, rpm: 933, fuel: 24 },
      source: 'gnss',
    }
    expect(locationsOf(await itemsOf('osmand', query(text)))).toEqual([expected])
    const form = pushOf({ contentType: 'application/x-www-form-urlencoded', body: text })
    expect(locationsOf(await itemsOf('osmand', form))).toEqual([expected])
  })

  test('JSON, with speed in m/s and a battery level of 0 to 1', async () => {
    const push = jsonPush({
      location: {
        timestamp: '2021-07-21T08:06:34.444Z',
        coords: {
          latitude: -6.11,
          longitude: 106.68,
          accuracy: 3.8,
          speed: 18.67,
          heading: 63,
          altitude: 35.7,
        },
        is_moving: false,
        odometer: 0,
        event: 'motionchange',
        battery: { is_charging: false, level: 0.79 },
        activity: { type: 'still' },
        extras: {},
      },
      device_id: '8737767034',
    })
    expect(locationsOf(await itemsOf('osmand', push))).toEqual([
      {
        identifier: '8737767034',
        dateTime: '2021-07-21T08:06:34.444Z',
        latitude: -6.11,
        longitude: 106.68,
        speed: 67.212,
        course: 63,
        altitude: 35.7,
        accuracy: 3.8,
        battery: 79,
        source: 'gnss',
      },
    ])
  })

  test.each([
    ['timestamp=1377177267444', '2013-08-22T13:14:27.444Z'],
    ['timestamp=2013-08-22T13:14:27Z', '2013-08-22T13:14:27.000Z'],
    ['timestamp=2013-08-22 13:14:27', '2013-08-22T13:14:27.000Z'],
    ['', new Date(NOW).toISOString()],
  ])('reads the time %s', async (time, expected) => {
    const items = await itemsOf('osmand', query(`deviceid=7&location=1.5,2.5&heading=9&${time}`))
    expect(locationsOf(items)).toMatchObject([
      { identifier: '7', dateTime: expected, latitude: 1.5, longitude: 2.5, course: 9 },
    ])
  })

  test('unknown values of −1, no fix, and an alarm', async () => {
    const push = jsonPush({
      location: {
        timestamp: '2021-07-21T08:06:34.444Z',
        coords: { latitude: 1, longitude: 2, speed: -1, heading: -1, accuracy: -1 },
        battery: { level: -1 },
        alarm: 'sos',
      },
      device_id: '8',
    })
    const items = await itemsOf('osmand', push)
    expect(locationsOf(items)[0]).toEqual({
      identifier: '8',
      dateTime: '2021-07-21T08:06:34.444Z',
      latitude: 1,
      longitude: 2,
      source: 'gnss',
    })
    expect(items[1]).toMatchObject({ kind: 'alert', alertName: 'SOSButton', latitude: 1 })
    expect(kindsOf(await itemsOf('osmand', query('id=8&timestamp=1377177267')))).toEqual(['none'])
  })
})

describe('a list of stored positions of Traccar Client', () => {
  const at = (timestamp: unknown) => ({ timestamp, coords: { latitude: 1, longitude: 2 } })

  test('loses none with one that cannot be read', async () => {
    const location = [at('2021-07-21T08:06:34Z'), at('yesterday'), at('2021-07-21T08:06:36Z')]
    const { items, failures } = await decodePush('osmand', jsonPush({ device_id: '7', location }))
    expect(kindsOf(items)).toEqual(['location', 'location'])
    expect(failures).toEqual(['Position 2: `timestamp` is no time.'])
  })

  test('that has none is a sign of life, with its alarm', async () => {
    const items = await itemsOf('osmand', jsonPush({ device_id: '7', alarm: 'sos' }))
    expect(kindsOf(items)).toEqual(['none', 'alert'])
  })
})

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
})

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
})

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

describe('SPOT', () => {
  const xml = (type: string, battery = 'GOOD') =>
    xmlPush(
      `<messageList xmlns="http://v2.shared.globalstar.com"><message><id>891801957</id><esn>0-3112123</esn><esnName>0-3112123a</esnName><messageType>${type}</messageType><messageDetail>moved</messageDetail><timestamp>2017-12-27T13:19:38.000Z</timestamp><timeInGMTSecond>1514380778</timeInGMTSecond><latitude>-1.28781</latitude><longitude>-47.93042</longitude><batteryState>${battery}</batteryState></message></messageList>`,
    )

  test('a message of the XML push', async () => {
    const items = await itemsOf('spot', xml('NEWMOVEMENT'))
    expect(locationsOf(items)).toEqual([
      {
        identifier: '0-3112123',
        dateTime: '2017-12-27T13:19:38.000Z',
        latitude: -1.28781,
        longitude: -47.93042,
        source: 'gnss',
      },
    ])
    expect(items[0]?.key).toBe('891801957')
    expect(items[1]).toMatchObject({ kind: 'alert', alertName: 'Movement', text: 'moved' })
  })

  test('a text with references to characters', async () => {
    const detail = 'It&#39;s &#xe9;t&#233; &lt;5&#176; &amp;lt; &#0; &#xD800; &#9999999;'
    const push = xmlPush(
      `<messageList><message><id>1</id><esn>0-1</esn><messageType>OK</messageType><messageDetail>${detail}</messageDetail><timeInGMTSecond>1514380778</timeInGMTSecond></message></messageList>`,
    )
    const [, message] = await itemsOf('spot', push)
    expect(message).toMatchObject({
      kind: 'message',
      text: "It's été <5° &lt; &#0; &#xD800; &#9999999;",
    })
  })

  test('help, its cancellation and a low battery', async () => {
    expect((await itemsOf('spot', xml('HELP')))[1]).toMatchObject({
      kind: 'alert',
      alertName: 'SOSButton',
    })
    expect((await itemsOf('spot', xml('HELP-CANCEL')))[1]).toMatchObject({
      kind: 'cancel',
      alertName: 'SOSButton',
    })
    expect((await itemsOf('spot', xml('TRACK', 'LOW')))[1]).toMatchObject({
      alertName: 'LowBattery',
    })
  })

  test('a message of the feed', async () => {
    const message = {
      id: 823677113,
      messengerId: '0-3049668',
      messengerName: 'svcatsaway',
      unixTime: 1504560201,
      messageType: 'UNLIMITED-TRACK',
      latitude: 44.26,
      longitude: -76.37,
      modelId: 'SPOT3',
      showCustomMsg: 'Y',
      dateTime: '2017-09-04T21:23:21+0000',
      batteryState: 'GOOD',
      hidden: 0,
      altitude: 74,
    }
    const expected = [
      {
        identifier: '0-3049668',
        dateTime: '2017-09-04T21:23:21.000Z',
        latitude: 44.26,
        longitude: -76.37,
        altitude: 74,
        source: 'gnss',
      },
    ]
    expect(locationsOf(await itemsOf('spot', jsonPush(message)))).toEqual(expected)
    const feed = { response: { feedMessageResponse: { messages: { message } } } }
    expect(locationsOf(await itemsOf('spot', jsonPush(feed)))).toEqual(expected)
  })
})

describe('Globalstar SmartOne', () => {
  const envelope = (payload: string, unixTime = 1585105370) =>
    xmlPush(
      `<?xml version="1.0" encoding="utf-8"?><stuMessages timeStamp="25/03/2020 03:02:32 GMT" messageID="300421a0fd2a100585bdde409d6f601a"><stuMessage><esn>0-2682225</esn><unixTime>${unixTime}</unixTime><gps>N</gps><payload length="9" source="pc" encoding="hex">${payload}</payload></stuMessage></stuMessages>`,
    )
  const AT_REST = {
    subtype: 0,
    vibrationTriggered: false,
    vibrating: false,
    fix2D: false,
    inMotion: false,
    reducedConfidence: false,
  }
  const OPEN = [
    { triggered: false, open: true },
    { triggered: false, open: true },
  ]

  test('a standard message at rest', async () => {
    const items = await itemsOf('globalstar', envelope('0x00C583EACD37210A00'))
    expect(locationsOf(items)).toEqual([
      {
        identifier: '0-2682225',
        dateTime: '2020-03-25T03:02:50.000Z',
        latitude: -41.122062,
        longitude: -71.415918,
        inputs: OPEN,
        attributes: AT_REST,
        source: 'gnss',
      },
    ])
    expect(items[0]?.key).toBe('300421a0fd2a100585bdde409d6f601a:0-2682225:1585105370')
  })

  test('positive coordinates', async () => {
    const items = await itemsOf('globalstar', envelope('0x00337BA619B7250A00', 1550440592))
    expect(locationsOf(items)).toMatchObject([
      { dateTime: '2019-02-17T21:56:32.000Z', latitude: 36.198986, longitude: 36.162293 },
    ])
  })

  test('a low battery, an area that was left, vibration and motion', async () => {
    const items = await itemsOf('globalstar', envelope('0x04493E94FFE93F2A58'))
    expect(locationsOf(items)).toMatchObject([
      {
        latitude: 51.500001,
        longitude: -0.124991,
        attributes: {
          ...AT_REST,
          subtype: 2,
          vibrationTriggered: true,
          vibrating: true,
          inMotion: true,
        },
      },
    ])
    expect(items.flatMap((item) => ('alertName' in item ? item.alertName : []))).toEqual([
      'LowBattery',
      'Movement',
    ])
  })

  test('a message without a position that asks for a battery', async () => {
    const items = await itemsOf('globalstar', envelope(`0x${(22 * 4 + 3).toString(16)}`))
    expect(kindsOf(items)).toEqual(['none', 'alert'])
  })

  test('is answered with a receipt in XML', () => {
    const { contentType, body } = replyTo('globalstar', envelope('0x00C583EACD37210A00'))
    expect(contentType).toBe('text/xml')
    expect(body).toBe(
      `<?xml version="1.0" encoding="utf-8"?><stuResponseMsg deliveryTimeStamp="15/11/2026 12:00:00 GMT" messageID="${'0'.repeat(32)}" correlationID="300421a0fd2a100585bdde409d6f601a"><state>pass</state><stateMessage>Store OK</stateMessage></stuResponseMsg>`,
    )
  })

  test('provisioning gets a receipt of its own', async () => {
    const push = xmlPush('<prvmsgs prvMessageID="7"><prvmsg><esn>0-1</esn></prvmsg></prvmsgs>')
    expect(await itemsOf('globalstar', push)).toEqual([])
    expect(replyTo('globalstar', push).body).toMatch(/<prvResponseMsg .*correlationID="7">/)
  })
})

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
})
