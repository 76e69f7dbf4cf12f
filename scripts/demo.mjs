// The content of the demo account: a small mixed fleet with tracks of the last day, groups and users.

const HOUR_MS = 3_600_000

/** Each device travels from `from` to `to` and back; one way takes `hours`. */
const FLEET = [
  {
    name: 'Tern 7',
    model: 'Trawler terminal',
    group: 'Ships',
    from: [38.69, -9.42],
    to: [37.74, -25.66],
    hours: 40,
  },
  {
    name: 'Gannet',
    model: 'Trawler terminal',
    group: 'Ships',
    from: [41.18, -8.7],
    to: [43.36, -8.41],
    hours: 14,
  },
  {
    name: 'Storm Petrel',
    model: 'Coaster terminal',
    group: 'Ships',
    from: [32.64, -16.91],
    to: [28.14, -15.43],
    hours: 22,
  },
  {
    name: 'Atlântida',
    model: 'Coaster terminal',
    group: 'Ships',
    from: [51.95, 1.25],
    to: [51.98, 4.0],
    hours: 8,
  },
  {
    name: 'Truck 12',
    model: 'Vehicle tracker',
    group: 'Trucks',
    from: [38.74, -9.1],
    to: [40.42, -3.7],
    hours: 7,
  },
  {
    name: 'Truck 15',
    model: 'Vehicle tracker',
    group: 'Trucks',
    from: [41.15, -8.61],
    to: [43.26, -2.93],
    hours: 8,
  },
  {
    name: 'Truck 21',
    model: 'Vehicle tracker',
    group: 'Trucks',
    from: [48.86, 2.35],
    to: [45.76, 4.84],
    hours: 5,
  },
  {
    name: 'Field team north',
    model: 'Handheld',
    group: 'Field teams',
    from: [41.8, -8.2],
    to: [41.82, -8.14],
    hours: 6,
  },
  {
    name: 'Field team south',
    model: 'Handheld',
    group: 'Field teams',
    from: [37.02, -7.93],
    to: [37.05, -7.9],
    hours: 6,
  },
  {
    name: 'CS-DVP',
    model: 'Aircraft tracker',
    group: 'Aircraft',
    from: [38.78, -9.13],
    to: [32.69, -16.77],
    hours: 1.7,
  },
]

const USERS = [
  {
    name: 'Marta Nogueira',
    email: 'marta@demo.example',
    country: 'PT',
    timeZone: 'Europe/Lisbon',
    privileges: ['admin'],
    phone: '+351912000001',
    notify: { email: true, sms: true },
  },
  {
    name: 'Jon Ibarra',
    email: 'jon@demo.example',
    country: 'ES',
    timeZone: 'Europe/Madrid',
    privileges: ['read'],
    group: 'Trucks',
  },
]

/** The position of a device at a time, with a small deviation from the straight line. */
const positionAt = ({ from, to, hours }, at) => {
  const phase = (at / HOUR_MS / hours) % 2
  const progress = phase < 1 ? phase : 2 - phase
  const deviation = Math.sin(at / 900_000) * 0.01
  const [latitude, longitude] = [0, 1].map(
    (axis) => from[axis] + (to[axis] - from[axis]) * progress + deviation * (axis ? 1 : -1),
  )
  const [north, east] = [to[0] - from[0], (to[1] - from[1]) * Math.cos((latitude * Math.PI) / 180)]
  const heading = (Math.atan2(east, north) * 180) / Math.PI + (phase < 1 ? 0 : 180)
  const speed = (Math.hypot(north, east) * 111) / hours
  return {
    latitude: round(latitude, 5),
    longitude: round(longitude, 5),
    course: round((heading + 720) % 360, 1),
    speed: round(speed, 1),
  }
}

const round = (value, places) => Math.round(value * 10 ** places) / 10 ** places

/** Fills the account once. Users come last, so the next start completes one that was interrupted. */
export async function seedDemo({ base, userName, apiKey }) {
  const request = async (method, path, headers, body) => {
    const response = await fetch(`${base}${path}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    })
    const reply = await response.json()
    if (!response.ok) throw new Error(`${method} ${path}: ${reply.error}`)
    return reply
  }
  const { token } = await request(
    'POST',
    '/api/Auth/Token',
    { 'Content-Type': 'application/json' },
    { userName, apiKey },
  )
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  if ((await request('GET', '/api/users?limit=1', headers)).users.length > 0) return

  const create = (path, body) => {
    const key = `demo ${path} ${body.name}`.replaceAll(/[^!-~]/g, '-')
    return request('POST', path, { ...headers, 'Idempotency-Key': key }, body)
  }
  const now = Date.now()
  const groups = Map.groupBy(FLEET, ({ group }) => group)
  for (const [name, members] of groups) {
    const devices = []
    for (const member of members) {
      const identifier = `30043406${String(FLEET.indexOf(member) + 1).padStart(7, '0')}`
      const { device } = await create('/api/devices', {
        name: member.name,
        model: member.model,
        identifier,
        tags: { base: 'Lisbon' },
      })
      devices.push(device.id)
      const locations = Array.from({ length: 96 }, (_, step) => {
        const at = now - (95 - step) * HOUR_MS * 0.25
        return {
          dateTime: new Date(at).toISOString(),
          ...positionAt(member, at),
          battery: 100 - Math.round(step / 4),
          source: 'gnss',
        }
      })
      await request('POST', `/api/devices/${device.id}/locations`, headers, { locations })
    }
    await create('/api/groups', {
      name,
      description: `${devices.length} devices of the demo`,
      devices,
    })
  }
  await create('/api/devices', {
    name: 'Old buoy',
    model: 'Handheld',
    limits: { expires: true, expirationDate: '2026-01-01' },
  })
  for (const user of USERS) await create('/api/users', user)
}
