import { caller, openAccount, send } from '../harness/http.mjs'
import { formatCurl } from './curl.mjs'
import { HOSTILE_TEXTS, ODD_BODIES, ODD_CONTENT_TYPES, ODD_NUMBERS } from './hostile.mjs'
import { mutate } from './mutate.mjs'
import { stringify } from './references.mjs'

/*
 * Pushes to the addresses of sources. They are not in the OpenAPI document: each provider has its own
 * form. None may get a 5xx, and a reply of 200 means that all of the push is kept.
 */

const JSON_TYPE = 'application/json'
const FORM_TYPE = 'application/x-www-form-urlencoded'

/** A payload of each provider that it would send. `identifier` is the device's. */
const PAYLOADS = {
  osmand: (id, at) => ({
    type: FORM_TYPE,
    body: {
      id,
      timestamp: at,
      lat: 60.1,
      lon: 30.2,
      speed: 10,
      bearing: 5,
      batt: 87,
      alarm: 'sos',
    },
  }),
  traccar: (id, at) => ({
    type: JSON_TYPE,
    body: {
      position: {
        id: 0,
        attributes: { batteryLevel: 90, alarm: 'sos,lowBattery' },
        fixTime: new Date(at).toISOString(),
        deviceTime: new Date(at).toISOString(),
        valid: true,
        latitude: 36.8,
        longitude: 10.1,
        speed: 20,
        course: 0,
        accuracy: 0,
      },
      device: { uniqueId: id },
    },
  }),
  garmin: (id, at) => ({
    type: JSON_TYPE,
    body: {
      Version: '4.0',
      Events: [4, 7, 3].map((messageCode) => ({
        imei: id,
        messageCode,
        freeText: 'On my way.',
        timeStamp: at,
        payload: 'aGVsbG8=',
        point: { latitude: 43.8, longitude: -70.1, altitude: 45, gpsFix: 2, course: 45, speed: 50 },
        status: { lowBattery: 1 },
      })),
    },
  }),
  rockblock: (id, at) => ({
    type: FORM_TYPE,
    body: {
      imei: id,
      momsn: at % 65_536,
      transmit_time: new Date(at).toISOString().slice(2, 19).replace('T', ' '),
      iridium_latitude: 52.3,
      iridium_longitude: 0.2,
      iridium_cep: 8,
      data: '48656c6c6f',
    },
  }),
  rock7: (id, at) => ({
    type: FORM_TYPE,
    body: {
      imei: id,
      id: `r${at}`,
      transmit_time: new Date(at).toISOString(),
      at: new Date(at).toISOString(),
      lat: 51.4,
      lon: -3.1,
      source: 'GPS',
      battery: 100,
      trigger: 'BURST',
    },
  }),
  cloudloop: (id, at) => ({
    type: JSON_TYPE,
    body: {
      id: `c${at}`,
      identity: { hardware: { imei: id } },
      sbd: {
        sessionAt: { year: 2026, month: 10, day: 9, hour: 9, minute: 41, second: at % 60 },
        location: { latitude: 50.8, longitude: -1.1, cep: 4 },
      },
      message: 'SGVsbG8=',
    },
  }),
  spot: (id, at) => ({
    type: 'text/xml',
    body: `<messageList><message><id>${at}</id><esn>${id}</esn><messageType>HELP</messageType><timeInGMTSecond>${Math.floor(at / 1000)}</timeInGMTSecond><latitude>-1.2</latitude><longitude>-47.9</longitude><batteryState>LOW</batteryState></message></messageList>`,
  }),
  globalstar: (id, at) => ({
    type: 'text/xml',
    body: `<stuMessages messageID="${at}"><stuMessage><esn>${id}</esn><unixTime>${Math.floor(at / 1000)}</unixTime><gps>N</gps><payload length="9" encoding="hex">0x00C583EACD37210A00</payload></stuMessage></stuMessages>`,
  }),
  owntracks: (id, at) => ({
    type: JSON_TYPE,
    body: { _type: 'location', tid: id, lat: 48.8, lon: 2.2, tst: Math.floor(at / 1000), acc: 5 },
  }),
  overland: (id, at) => ({
    type: JSON_TYPE,
    body: {
      locations: [
        {
          type: 'Feature',
          geometry: { type: 'Point', coordinates: [2.2, 48.8] },
          properties: { device_id: id, timestamp: new Date(at).toISOString(), battery_level: 0.5 },
        },
      ],
    },
  }),
  flespi: (id, at) => ({
    type: JSON_TYPE,
    body: [
      { ident: id, timestamp: at / 1000, 'position.latitude': 53.9, 'position.longitude': 27.4 },
      { ident: id, timestamp: at / 1000 + 1, 'alarm.event.trigger': true },
    ],
  }),
}

export const PUSH_PROVIDERS = Object.keys(PAYLOADS)
const KNOWN_IDENTIFIER = 'fuzz-known'

/** Statuses that an address may answer with, whatever it gets. */
const ALLOWED = new Set([200, 404, 405, 409, 413, 429])

/** Half a surrogate pair cannot be encoded, and an object without a prototype has no text. */
const encode = (value) =>
  encodeURIComponent(
    (typeof value === 'object' ? (stringify(value) ?? '') : String(value)).toWellFormed(),
  )

const asForm = (members) =>
  Object.entries(members)
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .join('&')

/** Changes the text in one place. */
const damage = (text, random) => {
  const at = random.int(0, text.length)
  return random.pick([
    () => text.slice(0, at),
    () => text.slice(at),
    () => `${text.slice(0, at)}${random.pick(HOSTILE_TEXTS)}${text.slice(at)}`,
    () => `${text.slice(0, at)}${text.slice(at + 1)}`,
    () => `${text}${text}`,
    () => text.replace(/\d+(\.\d+)?/, () => stringify(random.pick(ODD_NUMBERS))),
    () => text.replaceAll(/[<>{}[\]":=&]/g, (character) => (random.chance(0.1) ? '' : character)),
  ])()
}

const wellFormed = (text) => (typeof text === 'string' ? text.toWellFormed() : text)

/** A push: as the provider sends it, changed in a member, damaged as text, or nothing like it. */
function makePush(provider, random) {
  const identifier = random.pick([
    KNOWN_IDENTIFIER,
    `unknown-${random.int(1, 30)}`,
    random.pick(HOSTILE_TEXTS).slice(0, 80),
  ])
  const at = Date.now() - random.int(0, 86_400_000)
  const { type, body } = PAYLOADS[provider](identifier, at)
  const kind = random.pickWeighted({ valid: 3, member: 4, text: 3, garbage: 1 })
  const tree = typeof body === 'string' ? null : structuredClone(body)
  if (kind === 'member' && tree)
    for (let times = random.int(1, 3); times > 0; times--)
      mutate(tree, { random, anything: () => random.pick(HOSTILE_TEXTS) })
  const plain = tree === null ? body : type === FORM_TYPE ? asForm(tree) : (stringify(tree) ?? '')
  const text =
    kind === 'text' ? damage(plain, random) : kind === 'garbage' ? random.pick(ODD_BODIES) : plain
  const contentType = random.chance(0.1) ? random.pick(ODD_CONTENT_TYPES) : type
  const isQuery = type === FORM_TYPE && typeof text === 'string' && random.chance(0.4)
  return { kind, contentType, body: wellFormed(text), isQuery: isQuery && text.length < 4000 }
}

const toRequest = (path, { contentType, body, isQuery }) =>
  isQuery
    ? { method: 'GET', path: encodeURI(`${path}?${body}`.toWellFormed()), headers: {} }
    : {
        method: 'POST',
        path,
        headers: contentType === '' ? {} : { 'Content-Type': contentType },
        body,
      }

let accountCount = 0

/**
 * Opens an account with sources of every provider, and returns a function that sends one push and
 * finds faults.
 */
export async function openPushes(base, adminToken, random) {
  const userName = `fuzz-push-${process.pid.toString(36)}-${(accountCount++).toString(36)}`
  const { token } = await openAccount(base, adminToken, { userName, licenses: 5, cell: 0 })
  const call = caller(base, token)
  await call('POST', '/api/devices', { name: 'Fuzz', identifier: KNOWN_IDENTIFIER })
  const paths = {}
  for (const provider of PUSH_PROVIDERS) {
    const body = { name: provider, provider, keepRaw: random.chance(0.3) }
    const { url } = await call('POST', '/api/sources', body)
    paths[provider] = new URL(url).pathname
  }
  return async () => {
    const provider = random.pick(PUSH_PROVIDERS)
    const push = makePush(provider, random)
    const request = toRequest(paths[provider], push)
    const reply = await send(base, request.path, request).catch((error) => ({ error }))
    if (reply.error) return { status: 0, fault: `push to ${provider}: ${reply.error.message}` }
    const { status, text } = reply
    const secret = paths[provider].split('/').at(-1)
    const wrong = !ALLOWED.has(status)
      ? `${status}`
      : push.kind === 'valid' && status === 404 && !push.isQuery
        ? '404 for a payload as the provider sends it'
        : text.includes(secret)
          ? 'the reply shows the secret'
          : null
    return {
      status,
      fault: wrong && `push to ${provider}: ${wrong}`,
      shown: wrong && formatCurl(request, reply).replaceAll(secret, '…'),
    }
  }
}
