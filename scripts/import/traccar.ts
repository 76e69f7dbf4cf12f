import { countryCode } from '../../src/domain/account/countries.ts'
import { type RowSource, writeArchive } from '../../src/domain/archive/archive.ts'
import { base32, base32Time } from '../../src/domain/text/base32.ts'
import { sha256 } from '../../src/domain/text/sha256.ts'
import { areaToShape } from './traccarAreas.ts'

/*
 * Reads a Traccar server by its REST API, and writes the archive of an account from it: devices,
 * groups, users, geofences and positions.
 */

interface TraccarDevice {
  id: number
  name: string
  uniqueId: string
  disabled?: boolean
  groupId?: number
  phone?: string | null
  model?: string | null
  contact?: string | null
  category?: string | null
}
interface TraccarGroup {
  id: number
  name: string
}
interface TraccarUser {
  name: string
  email: string
  phone?: string | null
  administrator?: boolean
  readonly?: boolean
  disabled?: boolean
  expirationTime?: string | null
}
interface TraccarGeofence {
  id: number
  name: string
  description?: string | null
  area: string
}
interface TraccarPosition {
  id: number
  protocol?: string
  fixTime: string
  serverTime: string
  valid?: boolean
  latitude: number
  longitude: number
  altitude?: number
  /** In knots. */
  speed?: number
  course?: number
  accuracy?: number
  attributes?: Record<string, unknown>
}

export interface TraccarOptions {
  server: string
  token: string
  userName: string
  timeZone: string
  /** Traccar does not know that of users. */
  country: string
  /** Positions before this time are left out. */
  from: string
  onProgress?: (text: string) => void
  now?: number
}

const KM_PER_NAUTICAL_MILE = 1.852
const DAY_MS = 86_400_000
/** A server answers a month of positions at a time. */
const SPAN_MS = 30 * DAY_MS
const PHONE = /^\+[1-9]\d{6,14}$/

const iso = (at: number): string => new Date(at).toISOString()

export async function* readTraccar(options: TraccarOptions): AsyncGenerator<Uint8Array> {
  const { server, token, userName, timeZone, onProgress = () => {} } = options
  const country = countryCode(options.country)
  if (country === null) throw new Error('The country must be one of ISO 3166-1, such as PT.')
  const now = options.now ?? Date.now()
  const get = async <T>(path: string, query: Record<string, string> = {}): Promise<T[]> => {
    const url = new URL(`${server.replace(/\/$/, '')}/api/${path}?${new URLSearchParams(query)}`)
    const headers = { Authorization: `Bearer ${token}`, Accept: 'application/json' }
    const response = await fetch(url, { headers })
    if (!response.ok) throw new Error(`Traccar answered ${response.status} to /api/${path}.`)
    return (await response.json()) as T[]
  }
  /** The same server gives the same ids, so that nothing is imported twice. */
  const idOf = async (prefix: string, seed: string | number): Promise<string> =>
    `${prefix}_${base32Time(now)}${base32(await sha256(`${server} ${prefix} ${seed}`), 13)}`
  const edited = { creation: iso(now), lastModified: iso(now), version: 1 }

  const all = { all: 'true' }
  const devices = (await get<TraccarDevice>('devices', all)).sort((a, b) => a.id - b.id)
  const groups = (await get<TraccarGroup>('groups', all)).sort((a, b) => a.id - b.id)
  const users = await get<TraccarUser>('users')
  const geofences = await get<TraccarGeofence>('geofences', all)
  onProgress(`${devices.length} devices, ${groups.length} groups, ${users.length} users`)

  const deviceIds = new Map<number, string>()
  for (const { id } of devices) deviceIds.set(id, await idOf('dev', id))
  const groupIds = new Map<number, string>()
  for (const { id } of groups) groupIds.set(id, await idOf('grp', id))

  const toDevice = (device: TraccarDevice) => {
    const { name, uniqueId, phone, model, contact, category } = device
    const tags = { traccarId: String(device.id), ...(category && { category }) }
    return {
      id: deviceIds.get(device.id),
      recorded: false,
      record: {
        name: name.slice(0, 200) || uniqueId,
        description: contact ?? '',
        min: phone && PHONE.test(phone) ? phone : '',
        identifier: uniqueId,
        model: model ?? '',
        tags,
        limits: {
          expires: false,
          expirationDate: null,
          dailyEmailLimit: 100,
          dailySmsLimit: 20,
        },
      },
      createdBy: null,
      ...edited,
      expiredEmergencyAt: null,
      sourceId: null,
      lastContact: null,
    }
  }

  /** Names of groups are unique in an account. */
  const taken = new Set<string>()
  const uniqueName = (name: string, id: number): string => {
    const chosen = taken.has(name.toLowerCase()) ? `${name} (${id})` : name
    taken.add(chosen.toLowerCase())
    return chosen
  }

  const toUser = async (user: TraccarUser) => {
    const { name, email, phone, administrator, readonly, disabled, expirationTime } = user
    const privileges = ['read', ...(readonly ? [] : ['write']), ...(administrator ? ['admin'] : [])]
    return {
      id: await idOf('usr', email),
      name: name || email,
      email,
      country,
      timeZone,
      phone: phone && PHONE.test(phone) ? phone : null,
      notifyEmail: true,
      notifySms: false,
      notifyPush: true,
      notifyVoice: false,
      description: '',
      message: '',
      disabled: disabled ?? false,
      disabledMessage: '',
      tags: {},
      privileges,
      groupId: null,
      deviceId: null,
      adminDevices: null,
      fromTime: null,
      expires: expirationTime ? iso(Date.parse(expirationTime)) : null,
      creation: iso(now),
      modification: iso(now),
      lastLogin: null,
      lastRefresh: null,
      invitedAt: null,
      version: 1,
      lastDisabled: null,
    }
  }

  const toZone = async ({ id, name, description, area }: TraccarGeofence) => {
    const shape = areaToShape(area)
    if (!shape) {
      onProgress(`the geofence ${name} is left out: its area is no circle and no polygon`)
      return []
    }
    const isCircle = shape.type === 'Circle'
    const properties = { name, description: description ?? '', color: '#2563eb', ...edited }
    const feature = {
      type: 'Feature',
      id: await idOf('zon', id),
      geometry: isCircle ? { type: 'Point', coordinates: shape.center } : shape,
      properties: { ...properties, ...(isCircle && { radius: shape.radius }) },
    }
    return [JSON.stringify(feature)]
  }

  const toLocation = (deviceId: string | undefined, position: TraccarPosition): string => {
    const { longitude, latitude, fixTime, serverTime, protocol, attributes } = position
    const { altitude, speed, course, accuracy } = position
    const battery = attributes?.batteryLevel
    return JSON.stringify({
      type: 'Feature',
      geometry: { type: 'Point', coordinates: [longitude, latitude] },
      properties: {
        deviceId,
        dateTime: iso(Date.parse(fixTime)),
        ...(altitude !== undefined && { altitude }),
        ...(speed !== undefined && {
          speed: Math.round(speed * KM_PER_NAUTICAL_MILE * 100) / 100,
        }),
        ...(course !== undefined && { course }),
        ...(accuracy && { accuracy }),
        ...(typeof battery === 'number' && battery >= 0 && battery <= 100 && { battery }),
        ...(attributes && Object.keys(attributes).length > 0 && { attributes }),
        ...(protocol && { source: protocol.slice(0, 64) }),
        receivedAt: iso(Date.parse(serverTime)),
      },
    })
  }

  /** One location for each time of a device. */
  async function* positionPages(): AsyncGenerator<string[]> {
    for (const { id, name } of devices) {
      let last = Number.NEGATIVE_INFINITY
      let count = 0
      for (let from = Date.parse(options.from); from < now; from += SPAN_MS) {
        const query = { deviceId: String(id), from: iso(from), to: iso(from + SPAN_MS) }
        const found = await get<TraccarPosition>('positions', query)
        const sorted = found.sort((a, b) => Date.parse(a.fixTime) - Date.parse(b.fixTime))
        const fresh = sorted.filter(({ fixTime, valid }) => {
          const at = Date.parse(fixTime)
          if (valid === false || at <= last) return false
          last = at
          return true
        })
        count += fresh.length
        yield fresh.map((position) => toLocation(deviceIds.get(id), position))
      }
      onProgress(`${name}: ${count} positions`)
    }
  }

  const lines = (values: unknown[]) => values.map((value) => JSON.stringify(value))
  const source = (
    name: string,
    type: RowSource['type'],
    read: () => string[] | Promise<string[]>,
  ): RowSource => ({
    name,
    type,
    pages: async function* () {
      yield await read()
    },
  })
  const memberships = devices.flatMap(({ id, groupId }) =>
    groupId && groupIds.has(groupId)
      ? [{ deviceId: deviceIds.get(id), groupId: groupIds.get(groupId) }]
      : [],
  )
  const head = {
    account: {
      id: await idOf('acc', userName),
      userName,
      name: userName,
      timeZone,
      status: 'active',
      statusMessage: '',
      supportMayWrite: false,
      retentionDays: 3650,
      version: 1,
      budgets: {
        locationsPerDay: null,
        storageBytes: null,
        maxUsers: null,
        requestsPerMinute: null,
        maxRetentionDays: null,
        maxZones: null,
        messagesPerDay: { Email: null, SMS: null, Push: null, Voice: null },
      },
      emergencyContacts: [],
      escalation: null,
      emergencyAlerts: ['SOSButton'],
      dailyNoticeLimit: { email: 200, sms: 50 },
      licenses: devices.length,
      creation: iso(now),
      lastModified: iso(now),
      events: 0,
    },
  }
  yield* writeArchive(head, [
    source('devices', 'ndjson', () => lines(devices.map(toDevice))),
    source('groups', 'ndjson', () =>
      lines(
        groups.map(({ id, name }) => ({
          id: groupIds.get(id),
          name: uniqueName(name, id),
          description: '',
          ...edited,
        })),
      ),
    ),
    source('groupDevices', 'ndjson', () => lines(memberships)),
    source('users', 'ndjson', async () => lines(await Promise.all(users.map(toUser)))),
    source('zones', 'geojson', async () => (await Promise.all(geofences.map(toZone))).flat()),
    { name: 'tracks', type: 'geojson', pages: positionPages },
  ])
}
