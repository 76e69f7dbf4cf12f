import type { Source } from '../../api/types.ts'

/* An invented push of each provider, for a first try. */

export type Provider = Source['provider']

export interface Sample {
  contentType?: string
  query?: string
  headers?: Record<string, string>
  body?: string
}

const FORM = 'application/x-www-form-urlencoded'
const JSON_TYPE = 'application/json'
const XML = 'text/xml'

const json = (value: unknown): Sample => ({ contentType: JSON_TYPE, body: JSON.stringify(value) })
const form = (fields: Record<string, string>): Sample => ({
  contentType: FORM,
  body: String(new URLSearchParams(fields)),
})
const xml = (body: string): Sample => ({ contentType: XML, body })

const seconds = (now: number): number => Math.floor(now / 1000)
const iso = (now: number): string => new Date(now).toISOString()

const cloudloop = (now: number): Sample => {
  const at = new Date(now)
  return json({
    id: `try-${seconds(now)}`,
    identity: { hardware: { imei: '300234065366010' } },
    sbd: {
      sessionAt: {
        year: at.getUTCFullYear(),
        month: at.getUTCMonth() + 1,
        day: at.getUTCDate(),
        hour: at.getUTCHours(),
        minute: at.getUTCMinutes(),
        second: at.getUTCSeconds(),
      },
      location: { latitude: 50.87, longitude: -1.19, cep: 4 },
    },
    message: 'SGVsbG8=',
  })
}

const SAMPLES: Record<Provider, (now: number) => Sample> = {
  osmand: (now) => ({
    query: `id=my-phone&lat=60.0&lon=30.0&timestamp=${seconds(now)}&speed=10&batt=87`,
  }),
  traccar: (now) =>
    json({
      position: {
        id: 0,
        attributes: { batteryLevel: 90 },
        fixTime: iso(now),
        deviceTime: iso(now),
        valid: true,
        latitude: 36.8165,
        longitude: 10.1915,
        altitude: 0,
        speed: 20,
        course: 0,
        accuracy: 0,
      },
      device: { uniqueId: '865000000000001' },
    }),
  garmin: (now) =>
    json({
      Version: '2.0',
      Events: [
        {
          imei: '100000000000001',
          messageCode: 3,
          freeText: 'On my way.',
          timeStamp: now,
          point: {
            latitude: 43.8,
            longitude: -70.16,
            altitude: 45,
            gpsFix: 2,
            course: 45,
            speed: 50,
          },
          status: { lowBattery: 0 },
        },
      ],
    }),
  rockblock: (now) =>
    form({
      imei: '300234010753370',
      momsn: String(seconds(now) % 65_536),
      transmit_time: iso(now).slice(2, 19).replace('T', ' '),
      iridium_latitude: '52.3867',
      iridium_longitude: '0.2938',
      iridium_cep: '8',
      data: '48656c6c6f',
    }),
  rock7: (now) =>
    form({
      imei: '300434062929540',
      id: `try${seconds(now)}`,
      transmit_time: `${iso(now).slice(0, 19)}Z`,
      at: `${iso(now).slice(0, 19)}Z`,
      lat: '51.49530',
      lon: '-3.17030',
      source: 'GPS',
      cog: '51',
      alt: '0',
      battery: '100',
      trigger: 'BURST',
    }),
  cloudloop,
  spot: (now) =>
    xml(
      `<messageList><message><id>${seconds(now)}</id><esn>0-3112123</esn><messageType>TRACK</messageType><timeInGMTSecond>${seconds(now)}</timeInGMTSecond><latitude>-1.28781</latitude><longitude>-47.93042</longitude><batteryState>GOOD</batteryState></message></messageList>`,
    ),
  globalstar: (now) =>
    xml(
      `<stuMessages messageID="${seconds(now)}"><stuMessage><esn>0-2682225</esn><unixTime>${seconds(now)}</unixTime><gps>N</gps><payload length="9" encoding="hex">0x00C583EACD37210A00</payload></stuMessage></stuMessages>`,
    ),
  owntracks: (now) => ({
    ...json({
      _type: 'location',
      tid: 'JJ',
      lat: 48.85,
      lon: 2.29,
      tst: seconds(now),
      acc: 5,
      batt: 67,
    }),
    headers: { 'X-Limit-U': 'ann', 'X-Limit-D': 'phone' },
  }),
  overland: (now) =>
    json({
      locations: [
        {
          type: 'Feature',
          geometry: { type: 'Point', coordinates: [2.29, 48.85] },
          properties: {
            timestamp: iso(now),
            device_id: 'my-iphone',
            horizontal_accuracy: 5,
            battery_level: 0.67,
          },
        },
      ],
    }),
  flespi: (now) =>
    json([
      {
        ident: '605630',
        timestamp: seconds(now),
        'position.latitude': 53.905569,
        'position.longitude': 27.455986,
        'position.speed': 0,
      },
    ]),
}

export const PROVIDERS = Object.keys(SAMPLES) as Provider[]

export const sampleOf = (provider: Provider, now: number): Sample => SAMPLES[provider](now)

/** For a shell: nothing in single quotes has a meaning to it. */
const quoted = (value: string): string => `'${value.replaceAll("'", "'\\''")}'`

/** A command that sends the sample to an address. */
export const curlOf = (url: string, { contentType, query, headers, body }: Sample): string =>
  [
    `curl ${quoted(query ? `${url}?${query}` : url)}`,
    // It is what curl sends by itself.
    ...(contentType && contentType !== FORM
      ? [`-H ${quoted(`Content-Type: ${contentType}`)}`]
      : []),
    ...Object.entries(headers ?? {}).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${quoted(body)}`]),
  ].join(' ')
