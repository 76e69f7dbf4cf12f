// The zones and rules of the demo: what the service notices by itself.
import { distanceKm, locationAt } from '../../src/domain/sandbox/travel.ts'

const MINUTE_MS = 60_000
const EVERY_DAY = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']
/** This aircraft flies into the firing area soon after the first start. */
const INTRUDER = 'CS-DVP'

const circle = (latitude, longitude, km) => ({
  type: 'Circle',
  center: [longitude, latitude],
  radius: km * 1000,
})

const ZONES = [
  { name: 'Harbour', color: '#2563eb', shape: circle(38.6, -9.5, 14) },
  { name: 'Leixões', color: '#0f766e', shape: circle(41.17, -8.85, 9) },
  { name: 'Lisbon control zone', color: '#7c3aed', shape: circle(38.78, -9.13, 40) },
  {
    name: 'Date line',
    color: '#b45309',
    description: 'A box across the antimeridian',
    shape: {
      type: 'Polygon',
      coordinates: [
        [
          [176, 42],
          [-176, 42],
          [-176, 48],
          [176, 48],
          [176, 42],
        ],
      ],
    },
  },
]

/** A circle whose border the aircraft reaches in about a minute. */
const firingArea = (members, now) => {
  const one = members.find(({ name }) => name === INTRUDER)
  if (!one) return []
  const placeAt = (minutes) => {
    const { latitude, longitude } = locationAt(one, now + minutes * MINUTE_MS)
    return [latitude, longitude]
  }
  const center = placeAt(6)
  // On the ground it stays where it is; the area then has a size all the same.
  const km = Math.max(20, distanceKm(center, placeAt(1.2)))
  return [
    {
      name: 'Firing area',
      color: '#dc2626',
      description: 'Closed to all traffic',
      shape: circle(...center.map((degrees) => Math.round(degrees * 1e5) / 1e5), Math.round(km)),
    },
  ]
}

const RULES = [
  {
    name: 'Keep out',
    groups: ['Aircraft'],
    when: { type: 'enters', zones: ['Firing area'] },
    alertName: 'ForbiddenArea',
    notifications: ['Email'],
  },
  {
    name: 'Night watch',
    devices: ['Tern 7'],
    when: { type: 'leaves', zones: ['Harbour'] },
    schedule: [{ days: EVERY_DAY, from: '20:00', to: '06:00' }],
  },
  {
    name: 'Road speed',
    groups: ['Trucks'],
    when: { type: 'speed', above: 90 },
    notifications: [],
    cooldownMinutes: 60,
  },
  {
    name: 'Leaves Lisbon',
    groups: ['Aircraft'],
    when: { type: 'leaves', zones: ['Lisbon control zone'] },
    notifications: [],
  },
  {
    name: 'Battery of a team',
    groups: ['Field teams'],
    when: { type: 'value', member: 'battery', below: 30 },
    notifications: ['Email'],
    cooldownMinutes: 720,
  },
  {
    name: 'Lost truck',
    devices: ['Truck 21'],
    when: { type: 'silent', minutes: 10 },
    notifications: ['Email'],
  },
  {
    name: 'Crossing the date line',
    groups: ['Ships'],
    enabled: false,
    when: { type: 'enters', zones: ['Date line'] },
    notifications: [],
  },
]

/** Creates the zones and rules that are missing. Needs the devices and groups. */
export async function createWatch(client, members) {
  const idsOf = async (path, name) =>
    new Map((await client.list(path, name)).map((one) => [one.name, one.id]))
  const zones = await idsOf('/api/zones', 'zones')
  for (const zone of [...ZONES, ...firingArea(members, Date.now())])
    if (!zones.has(zone.name)) zones.set(zone.name, (await client.post('/api/zones', zone)).zone.id)
  const rules = await idsOf('/api/rules', 'rules')
  const groups = await idsOf('/api/groups', 'groups')
  const devices = new Map(members.map(({ name, id }) => [name, id]))
  for (const rule of RULES) {
    const found = {
      devices: (rule.devices ?? []).flatMap((name) => devices.get(name) ?? []),
      groups: (rule.groups ?? []).flatMap((name) => groups.get(name) ?? []),
    }
    // Without its devices and groups a rule would be for all.
    if (rules.has(rule.name) || found.devices.length + found.groups.length === 0) continue
    const { zones: named } = rule.when
    const when = named ? { ...rule.when, zones: named.map((name) => zones.get(name)) } : rule.when
    await client.post('/api/rules', { ...rule, ...found, when })
  }
}
