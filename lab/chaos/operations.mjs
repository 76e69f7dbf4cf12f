import { send } from '../harness/http.mjs'
import { crossingsFrom, placeAt } from './zone.mjs'

const REPLY_TIMEOUT_MS = 60_000
const PAST_DATE = '2020-01-01'
const reportsFrom = Date.now() - 30 * 86_400_000

/** Numbers keys, edits, alerts and reported times, so that each is unique. */
let lastNumber = 0

/**
 * One request to the API. With an idempotency key it can be repeated; without, a repeat must do no
 * harm.
 */
const request = (kind, device, { method, path, body, hasKey = false }) => ({
  kind,
  device,
  method,
  path,
  body: body === undefined ? undefined : JSON.stringify(body),
  key: hasKey ? `chaos-${++lastNumber}` : undefined,
  reply: null,
})

export const SOS = 'SOSButton'

/** Low, so that a run reaches them. */
export const LIMITS = { dailyEmailLimit: 5, dailySmsLimit: 3 }

const record = ({ name, description }, isExpired) => ({
  name,
  description,
  limits: {
    ...LIMITS,
    ...(isExpired ? { expires: true, expirationDate: PAST_DATE } : { expires: false }),
  },
})
const pathOf = ({ id }) => `/api/devices/${id}`

/**
 * The operations: how each is requested, and how the expected device changes once it is
 * acknowledged.
 */
export const OPERATIONS = {
  create: {
    prepare: (device) =>
      request('create', device, {
        method: 'POST',
        path: '/api/devices',
        body: record(device, false),
        hasKey: true,
      }),
    apply(device, { json }) {
      device.id = json.device.id
    },
  },
  edit: {
    prepare(device) {
      const description = `edit ${++lastNumber}`
      const body = record({ ...device, description }, device.isExpired)
      return {
        ...request('edit', device, { method: 'PUT', path: pathOf(device), body }),
        description,
      }
    },
    apply(device, _, { description }) {
      device.description = description
    },
  },
  expire: {
    prepare: (device) =>
      request('expire', device, {
        method: 'PUT',
        path: pathOf(device),
        body: record(device, true),
      }),
    apply(device) {
      device.isExpired = true
    },
  },
  reactivate: {
    prepare: (device) =>
      request('reactivate', device, {
        method: 'POST',
        path: `${pathOf(device)}/reactivate`,
        body: { expirationDate: null },
        hasKey: true,
      }),
    apply(device) {
      device.isExpired = false
    },
  },
  report: {
    prepare(device, count = 3) {
      const times = Array.from({ length: count }, () =>
        new Date(reportsFrom + ++lastNumber * 1000).toISOString(),
      )
      const locations = times.map((dateTime) => ({ dateTime, latitude: 38.7, longitude: -9.1 }))
      return {
        ...request('report', device, {
          method: 'POST',
          path: `${pathOf(device)}/locations`,
          body: { locations },
          hasKey: true,
        }),
        times,
      }
    },
    apply(device, _, { times }) {
      for (const time of times) device.times.add(time)
    },
  },
  alert: {
    prepare: (device) =>
      request('alert', device, {
        method: 'POST',
        path: `${pathOf(device)}/alerts`,
        body: { alertName: 'SpeedLimit', text: `alert ${++lastNumber}` },
        hasKey: true,
      }),
    apply(device, { json }) {
      device.alerts.add(json.alert.id)
    },
  },
  emergency: {
    prepare(device) {
      const time = new Date(reportsFrom + ++lastNumber * 1000).toISOString()
      const location = { dateTime: time, latitude: 38.7, longitude: -9.1, alerts: [SOS] }
      return {
        ...request('emergency', device, {
          method: 'POST',
          path: `${pathOf(device)}/locations`,
          body: { location },
          hasKey: true,
        }),
        time,
      }
    },
    apply(device, _, { time }) {
      device.times.add(time)
      device.emergencies.add(time)
    },
  },
  cross: {
    prepare(device) {
      const times = [1, 2].map(() => new Date(crossingsFrom() + ++lastNumber).toISOString())
      const locations = times.map((dateTime, index) => placeAt(dateTime, index === 1))
      return {
        ...request('cross', device, {
          method: 'POST',
          path: `${pathOf(device)}/locations`,
          body: { locations },
          hasKey: true,
        }),
        times,
      }
    },
    apply(device, _, { times }) {
      for (const time of times) device.times.add(time)
      device.crossings++
    },
  },
  remove: {
    prepare: (device) => request('remove', device, { method: 'DELETE', path: pathOf(device) }),
    apply(device) {
      device.isDeleted = true
    },
  },
}

/** The state that a device must have, by what has been acknowledged. */
export const expectedDevice = (name) => ({
  name,
  id: null,
  description: '',
  isExpired: false,
  isDeleted: false,
  times: new Set(),
  alerts: new Set(),
  /** The times of reports with an emergency. */
  emergencies: new Set(),
  /** How often it has entered the zone that a rule watches. */
  crossings: 0,
})

/**
 * Sends a request once. Null when the outcome is unknown: the connection broke, or a later retry
 * will tell.
 */
export async function sendOnce(base, token, { method, path, body, key }) {
  const headers = {
    Authorization: `Bearer ${token}`,
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
    ...(key && { 'Idempotency-Key': key }),
  }
  const reply = await send(base, path, {
    method,
    headers,
    body,
    reuseConnection: false,
    timeoutMs: REPLY_TIMEOUT_MS,
  }).catch(() => null)
  if (!reply) return null
  const json = JSON.parse(reply.text)
  const isTemporary = reply.status === 503 || json.code === 'request-in-progress'
  return isTemporary ? null : { ...reply, json }
}

/** Updates the expected device with an acknowledgement. A refusal changes nothing. */
export function recordReply(sent, reply) {
  sent.reply = reply
  const wasRemovedBefore = sent.kind === 'remove' && reply.status === 404
  if (reply.status < 300 || wasRemovedBefore) OPERATIONS[sent.kind].apply(sent.device, reply, sent)
  else if (reply.json.code !== 'no-license-available')
    throw new Error(`${sent.kind}: ${reply.status} ${reply.text}`)
}
