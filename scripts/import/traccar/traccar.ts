import { zoneFeature } from '../../../src/archive/zoneFeature.ts'
import { countryCode } from '../../../src/domain/account/countries.ts'
import { type RowSource, writeArchive } from '../../../src/domain/archive/archive.ts'
import { base32, base32Time } from '../../../src/domain/text/base32.ts'
import { fold } from '../../../src/domain/text/fold.ts'
import { sha256 } from '../../../src/domain/text/sha256.ts'
import { iso } from '../../../src/domain/time/iso.ts'
import { toDevice, toLocation, toUser, toZone } from './rows.ts'
import { type TraccarDevice, type TraccarGroup, TraccarServer } from './server.ts'

/*
 * Reads a Traccar server by its REST API, and writes the archive of an account from it: devices,
 * groups, users, geofences and positions.
 */

export interface TraccarOptions {
  server: string
  /** The token of an administrator, or `e-mail:password`. */
  token: string
  userName: string
  timeZone: string
  /** Traccar does not know that of users. */
  country: string
  /** Positions before this time are left out. */
  from: string
  onProgress?: (text: string) => void
}

const BUDGETS = {
  locationsPerDay: null,
  storageBytes: null,
  maxUsers: null,
  requestsPerMinute: null,
  maxRetentionDays: null,
  maxZones: null,
  messagesPerDay: { Email: null, SMS: null, Push: null, Voice: null },
}

const SETTINGS = {
  status: 'active',
  statusMessage: '',
  supportMayWrite: false,
  retentionDays: 3650,
  budgets: BUDGETS,
  emergencyContacts: [],
  escalation: null,
  emergencyAlerts: ['SOSButton'],
  dailyNoticeLimit: { email: 200, sms: 50 },
  events: 0,
}

/** A group with those that it is in: Traccar's groups are a tree, and those of an account are not. */
const groupsOf = (groups: Map<number, TraccarGroup>, device: TraccarDevice): number[] => {
  const ids = new Set<number>()
  for (let id = device.groupId; id && groups.has(id) && !ids.has(id); id = groups.get(id)?.groupId)
    ids.add(id)
  return [...ids].sort((a, b) => a - b)
}

/** A value that is taken already gets the id behind it. */
const distinct = (taken: Set<string>, name: string, id: number): string => {
  const chosen = taken.has(fold(name)) ? `${name.slice(0, 180)} (${id})` : name.slice(0, 200)
  taken.add(fold(chosen))
  return chosen
}

const source = (name: string, lines: object[], type: RowSource['type'] = 'ndjson'): RowSource => ({
  name,
  type,
  pages: async function* () {
    yield lines.map((line) => JSON.stringify(line))
  },
})

export async function* readTraccar(options: TraccarOptions): AsyncGenerator<Uint8Array> {
  const { server, token, userName, timeZone, onProgress = () => {} } = options
  const country = countryCode(options.country)
  if (country === null) throw new Error('The country must be one of ISO 3166-1, such as PT.')
  const [from, now] = [Date.parse(options.from), Date.now()]
  if (Number.isNaN(from)) throw new Error('The first time must be a date-time, such as 2026-01-01.')
  const traccar = new TraccarServer(server, token)
  const idOf = async (prefix: string, seed: string | number): Promise<string> =>
    `${prefix}_${base32Time(now)}${base32(await sha256(`${server} ${prefix} ${seed}`), 13)}`
  const made = { creation: iso(now), lastModified: iso(now), version: 1 }
  const leaveOut = (what: string): [] => {
    onProgress(`${what} is left out: it has values that are not valid here`)
    return []
  }

  const devices = (await traccar.devices()).sort((a, b) => a.id - b.id)
  const groups = (await traccar.groups()).sort((a, b) => a.id - b.id)
  const [users, geofences] = [await traccar.users(), await traccar.geofences()]
  onProgress(`${devices.length} devices, ${groups.length} groups, ${users.length} users`)

  const deviceIds = new Map<number, string>()
  const deviceLines: object[] = []
  const identifiers = new Set<string>()
  for (const device of devices) {
    const { id, name, uniqueId } = device
    const row = toDevice(device, identifiers.has(fold(uniqueId)))
    identifiers.add(fold(uniqueId))
    if (!row) leaveOut(`The device ${name}`)
    else {
      deviceIds.set(id, await idOf('dev', id))
      deviceLines.push({ id: deviceIds.get(id), ...row, ...made })
    }
  }

  const groupIds = new Map<number, string>()
  const groupLines: object[] = []
  const names = new Set<string>()
  for (const { id, name } of groups) {
    groupIds.set(id, await idOf('grp', id))
    const chosen = distinct(names, name.trim() || String(id), id)
    groupLines.push({ id: groupIds.get(id), name: chosen, description: '', ...made })
  }
  const groupById = new Map(groups.map((group) => [group.id, group]))
  const memberships = devices.flatMap((device) =>
    groupsOf(groupById, device).flatMap((groupId) => {
      const deviceId = deviceIds.get(device.id)
      return deviceId ? [{ deviceId, groupId: groupIds.get(groupId) }] : []
    }),
  )

  const userLines: object[] = []
  const { creation, lastModified: modification, version } = made
  for (const user of users) {
    const row = toUser(user, country, timeZone)
    const edited = { creation, modification, version }
    if (row) userLines.push({ id: await idOf('usr', user.email), ...row, ...edited })
    else leaveOut(`The user ${user.email}`)
  }

  const zoneLines: object[] = []
  for (const geofence of geofences) {
    const row = toZone(geofence)
    if (row) zoneLines.push(zoneFeature({ id: await idOf('zon', geofence.id), ...row, ...made }))
    else leaveOut(`The geofence ${geofence.name}`)
  }

  /** One location for each time of a device. */
  async function* positionPages(): AsyncGenerator<string[]> {
    for (const { id, name } of devices) {
      const deviceId = deviceIds.get(id)
      if (!deviceId) continue
      let last = Number.NEGATIVE_INFINITY
      const counts = { stored: 0, leftOut: 0 }
      for await (const page of traccar.positions(id, from, now)) {
        yield page.flatMap((position) => {
          const at = Date.parse(position.fixTime)
          if (position.valid === false || at <= last) return []
          last = at
          const location = toLocation(position)
          counts[location ? 'stored' : 'leftOut']++
          if (!location) return []
          const { latitude, longitude, ...properties } = location
          const received = Date.parse(position.serverTime)
          const receivedAt = iso(Number.isNaN(received) ? at : received)
          return [
            JSON.stringify({
              type: 'Feature',
              geometry: { type: 'Point', coordinates: [longitude, latitude] },
              properties: { deviceId, ...properties, receivedAt },
            }),
          ]
        })
      }
      const leftOut = counts.leftOut > 0 ? `, ${counts.leftOut} left out` : ''
      onProgress(`${name}: ${counts.stored} positions${leftOut}`)
    }
  }

  const account = { id: await idOf('acc', userName), userName, name: userName, timeZone }
  const head = { account: { ...account, ...SETTINGS, licenses: deviceLines.length, ...made } }
  yield* writeArchive(head, [
    source('devices', deviceLines),
    source('groups', groupLines),
    source('groupDevices', memberships),
    source('users', userLines),
    source('zones', zoneLines, 'geojson'),
    { name: 'tracks', type: 'geojson', pages: positionPages },
  ])
}
