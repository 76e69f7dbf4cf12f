import { afterEach, expect, test, vi } from 'vitest'
import { areaToShape } from '../../../scripts/import/traccar/areas.ts'
import { readTraccar } from '../../../scripts/import/traccar/traccar.ts'
import { callerWith, fetchToken } from '../../support/accounts.ts'
import { gzip, importArchive } from '../../support/db/archive.ts'

/* A stand-in for a Traccar server, with the shapes that its API documents. */

const POSITION = {
  id: 1,
  deviceId: 7,
  protocol: 'teltonika',
  deviceTime: '2026-10-02T10:00:00.000+00:00',
  fixTime: '2026-10-02T10:00:00.000+00:00',
  serverTime: '2026-10-02T10:00:05.000+00:00',
  outdated: false,
  valid: true,
  latitude: 41.1496,
  longitude: -8.611,
  altitude: 104,
  speed: 10,
  course: 270,
  address: null,
  accuracy: 0,
  network: null,
  geofenceIds: null,
  attributes: { batteryLevel: 83, motion: true, distance: 12.5 },
}
const later = (id: number, fixTime: string) => ({ ...POSITION, id, fixTime })

const REPLIES: Record<string, object[]> = {
  devices: [
    { id: 8, name: 'Spare', uniqueId: 'unit-8', status: 'offline', disabled: true, groupId: 0 },
    {
      id: 7,
      name: 'Van 7',
      uniqueId: '862045030000017',
      status: 'online',
      disabled: false,
      lastUpdate: '2026-10-02T10:00:05.000+00:00',
      positionId: 1,
      groupId: 3,
      phone: '+351910000007',
      model: 'FMB920',
      contact: 'Depot',
      category: 'van',
      attributes: {},
    },
  ],
  groups: [
    { id: 2, name: 'Fleet', groupId: 0, attributes: {} },
    { id: 3, name: 'Vans', groupId: 2, attributes: {} },
  ],
  users: [
    { id: 1, name: 'Admin', email: 'admin@example.com', administrator: true, attributes: {} },
    { id: 3, name: 'Login without an address', email: 'admin', administrator: true },
    { id: 2, name: 'Eva', email: 'eva@example.com', readonly: true, disabled: true },
  ],
  geofences: [
    { id: 1, name: 'Depot', description: 'Gate 2', area: 'CIRCLE (41.15 -8.61, 250.5)' },
    { id: 2, name: 'Yard', area: 'POLYGON ((41.1 -8.6, 41.2 -8.6, 41.2 -8.5, 41.1 -8.6))' },
    { id: 3, name: 'Road', area: 'LINESTRING (41.1 -8.6, 41.2 -8.6)' },
  ],
}

const answer = async (input: URL | RequestInfo, init?: RequestInit): Promise<Response> => {
  const url = new URL(String(input))
  if (new Headers(init?.headers).get('Authorization') !== 'Bearer tr-token')
    return new Response('', { status: 401 })
  const path = url.pathname.replace('/api/', '')
  if (path !== 'positions') return Response.json(REPLIES[path])
  const { deviceId = '', from = '', to = '' } = Object.fromEntries(url.searchParams)
  const track = [
    POSITION,
    later(2, '2026-10-02T10:00:00.000+00:00'),
    later(3, '2026-10-20T10:00:00.000+00:00'),
    { ...later(4, '2026-10-21T10:00:00.000+00:00'), valid: false },
    { ...later(5, '2026-10-22T10:00:00.000+00:00'), course: 720, altitude: -99_999 },
    { ...later(6, '2026-10-23T10:00:00.000+00:00'), latitude: 91 },
  ]
  const isWithin = ({ fixTime }: { fixTime: string }) =>
    Date.parse(fixTime) >= Date.parse(from) && Date.parse(fixTime) < Date.parse(to)
  return Response.json(deviceId === '7' ? track.filter(isWithin) : [])
}

afterEach(() => vi.unstubAllGlobals())

const readAll = async (token: string, userName: string) => {
  vi.stubGlobal('fetch', answer)
  const notes: string[] = []
  const chunks = await Array.fromAsync(
    readTraccar({
      server: 'https://traccar.example/',
      token,
      userName,
      timeZone: 'Europe/Lisbon',
      country: 'PT',
      from: '2026-10-01T00:00:00Z',
      onProgress: (text) => notes.push(text),
    }),
  )
  vi.unstubAllGlobals()
  return { archive: new Uint8Array(await new Blob(chunks).arrayBuffer()), notes }
}

test('devices, groups, users, geofences and positions of Traccar become an account', async () => {
  const userName = `vans-${crypto.randomUUID().slice(0, 8)}`
  const { archive, notes } = await readAll('tr-token', userName)
  expect(notes.join('\n')).toContain('Road is left out')
  expect(notes.join('\n')).toContain('The user admin is left out')
  const reply = await importArchive(await gzip(archive))
  expect(reply.status, reply.text).toBe(201)
  const { call } = callerWith(await fetchToken(userName, reply.body.apiKey))
  const { devices } = (await call('GET', '/api/devices')).body
  const van = devices.find(({ name }: { name: string }) => name === 'Van 7')
  expect(van).toMatchObject({
    identifier: '862045030000017',
    min: '+351910000007',
    model: 'FMB920',
    state: 'active',
    tags: { category: 'van', traccarId: '7' },
  })
  expect(devices).toHaveLength(2)
  const { locations } = (await call('GET', `/api/devices/${van.id}/locations`)).body
  expect(locations).toHaveLength(3)
  expect(locations[2]).not.toHaveProperty('course')
  expect(notes.join('\n')).toContain('Van 7: 3 positions, 1 left out')
  expect(locations[0]).toMatchObject({
    dateTime: '2026-10-02T10:00:00.000Z',
    latitude: 41.1496,
    longitude: -8.611,
    speed: 18.52,
    course: 270,
    battery: 83,
    source: 'teltonika',
    receivedAt: '2026-10-02T10:00:05.000Z',
    attributes: POSITION.attributes,
  })
  const { groups } = (await call('GET', '/api/groups')).body
  const members = groups.map(({ name, devices }: { name: string; devices: string[] }) => [
    name,
    devices,
  ])
  expect(Object.fromEntries(members)).toEqual({ Fleet: [van.id], Vans: [van.id] })
  const { zones } = (await call('GET', '/api/zones')).body
  expect(zones.map(({ shape }: { shape: object }) => shape)).toEqual(
    expect.arrayContaining([{ type: 'Circle', center: [-8.61, 41.15], radius: 250.5 }]),
  )
  expect(zones).toHaveLength(2)
  const { users } = (await call('GET', '/api/users')).body
  const eva = users.find(({ name }: { name: string }) => name === 'Eva')
  expect(eva).toMatchObject({ privileges: ['read'], disabled: true })
  // Later edits work.
  const renamed = await call('PATCH', `/api/users/${eva.id}`, { body: { message: 'Hello' } })
  expect(renamed.status, renamed.text).toBe(200)
})

test('a wrong token of Traccar is said', async () => {
  await expect(readAll('wrong', 'nobody')).rejects.toThrow('Traccar answered 401 to /api/devices')
})

test('areas that are neither circles nor polygons are no zones', () => {
  expect(areaToShape('CIRCLE (1 2, x)')).toBeNull()
  expect(areaToShape('POLYGON ((1 2, 3))')).toBeNull()
  expect(areaToShape('LINESTRING (1 2, 3 4)')).toBeNull()
  expect(areaToShape('POLYGON((0 0, 0 1, 1 1))')).toEqual({
    type: 'Polygon',
    coordinates: [
      [
        [0, 0],
        [1, 0],
        [1, 1],
        [0, 0],
      ],
    ],
  })
})
