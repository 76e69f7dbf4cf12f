import { send } from '../harness/http.mjs'

const MINUTE = 60_000
const LONG_PAST = '2020-01-01'
const reportsFrom = Date.now() - 30 * 86_400_000

let numbered = 0

/** One thing that is asked of the service. With a key it can be asked again; without, asking again must do no harm. */
const deed = (kind, device, method, path, body, withKey) => ({
  kind,
  device,
  method,
  path,
  body: body === undefined ? undefined : JSON.stringify(body),
  key: withKey ? `chaos-${++numbered}` : undefined,
  reply: null,
})

/** Low, so that a storm reaches them. */
export const LIMITS = { dailyEmailLimit: 5, dailySmsLimit: 3 }

const record = ({ name, description }, expired) => ({
  name,
  description,
  limits: {
    ...LIMITS,
    ...(expired ? { expires: true, expirationDate: LONG_PAST } : { expires: false }),
  },
})

/** Each kind of deed, and what must be true of its device once it has been acknowledged. */
export const KINDS = {
  create: {
    ask: (device) => deed('create', device, 'POST', '/api/devices', record(device, false), true),
    done(device, { json }) {
      device.id = json.device.id
    },
  },
  edit: {
    ask(device) {
      const description = `edit ${++numbered}`
      return {
        ...deed(
          'edit',
          device,
          'PUT',
          `/api/devices/${device.id}`,
          record({ ...device, description }, device.expired),
        ),
        description,
      }
    },
    done(device, _, { description }) {
      device.description = description
    },
  },
  expire: {
    ask: (device) =>
      deed('expire', device, 'PUT', `/api/devices/${device.id}`, record(device, true)),
    done(device) {
      device.expired = true
    },
  },
  reactivate: {
    ask: (device) =>
      deed(
        'reactivate',
        device,
        'POST',
        `/api/devices/${device.id}/reactivate`,
        { expirationDate: null },
        true,
      ),
    done(device) {
      device.expired = false
    },
  },
  report: {
    ask(device, count = 3) {
      const times = Array.from({ length: count }, () => reportsFrom + ++numbered * 1000)
      const locations = times.map((at) => ({
        dateTime: new Date(at).toISOString(),
        latitude: 38.7,
        longitude: -9.1,
      }))
      return {
        ...deed(
          'report',
          device,
          'POST',
          `/api/devices/${device.id}/locations`,
          { locations },
          true,
        ),
        times,
      }
    },
    done(device, _, { times }) {
      for (const at of times) device.times.add(new Date(at).toISOString())
    },
  },
  alert: {
    ask: (device) =>
      deed(
        'alert',
        device,
        'POST',
        `/api/devices/${device.id}/alerts`,
        { alertName: 'SpeedLimit', text: `alert ${++numbered}` },
        true,
      ),
    done(device, { json }) {
      device.alerts.add(json.alert.id)
    },
  },
  remove: {
    ask: (device) => deed('remove', device, 'DELETE', `/api/devices/${device.id}`),
    done(device) {
      device.gone = true
    },
  },
}

export const newDevice = (name) => ({
  name,
  id: null,
  description: '',
  expired: false,
  gone: false,
  times: new Set(),
  alerts: new Set(),
})

/** A definite answer, or null: the connection broke, or whoever tries again later will learn what became of it. */
export async function attempt(base, token, { method, path, body, key }) {
  const headers = {
    Authorization: `Bearer ${token}`,
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
    ...(key && { 'Idempotency-Key': key }),
  }
  const reply = await send(base, path, {
    method,
    headers,
    body,
    again: false,
    patience: MINUTE,
  }).catch(() => null)
  if (!reply) return null
  const json = JSON.parse(reply.text)
  const passing = reply.status === 503 || json.code === 'request-in-progress'
  return passing ? null : { ...reply, json }
}

/** Enters an answer in the device's page of the books. What was refused changes nothing. */
export function enter(asked, reply) {
  asked.reply = reply
  const happenedBefore = asked.kind === 'remove' && reply.status === 404
  if (reply.status < 300 || happenedBefore) KINDS[asked.kind].done(asked.device, reply, asked)
  else if (reply.json.code !== 'no-license-available')
    throw new Error(`${asked.kind}: ${reply.status} ${reply.text}`)
}
