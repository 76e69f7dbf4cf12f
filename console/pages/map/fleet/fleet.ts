import { batch, computed, signal } from '@preact/signals'
import type { PerigeeError } from '../../../../clients/typescript/src/error.ts'
import { call } from '../../../api/client.ts'
import { isOffline, onBack } from '../../../api/connection.ts'
import { readDevices } from '../../../api/devices.ts'
import { toError } from '../../../api/errors.ts'
import { rememberNames } from '../../../api/names.ts'
import type { Device, Location } from '../../../api/types.ts'
import { devicesInEmergency } from '../../../app/emergencies.ts'
import { now } from '../../../format/time.ts'
import { type LiveEvent, live } from '../../../live/stream.ts'
import { type DeviceState, stateOf } from './deviceState.ts'

/* All devices of the account with their last positions, kept current by the stream. */

export interface Member {
  device: Device
  state: DeviceState
}

const PAGE_SIZE = 1000
/** Changes are shown together: a busy fleet reports many times a second. */
const FLUSH_MS = 250

const devices = signal<ReadonlyMap<string, Device>>(new Map())
export const isLoading = signal(true)
export const loadError = signal<PerigeeError | null>(null)

/** Members by their devices: of 10,000 devices few change at a time. */
const members = new WeakMap<Device, { member: Member; at: number; isInEmergency: boolean }>()

const memberOf = (device: Device, at: number, isInEmergency: boolean): Member => {
  const known = members.get(device)
  if (known?.at === at && known.isInEmergency === isInEmergency) return known.member
  const state = stateOf(device, at, isInEmergency)
  const member = known?.member.state === state ? known.member : { device, state }
  members.set(device, { member, at, isInEmergency })
  return member
}

export const fleet = computed<readonly Member[]>(() => {
  const inEmergency = devicesInEmergency.value
  const at = now.value
  return Array.from(devices.value.values(), (device) =>
    memberOf(device, at, inEmergency.has(device.id)),
  )
})

export const findMember = (id: string): Member | null => {
  const device = devices.value.get(id)
  if (!device) return null
  return memberOf(device, now.value, devicesInEmergency.value.has(id))
}

/** Changes from events that the fleet does not show yet. */
let moved = new Map<string, Location>()
let changed = new Set<string>()
let deleted = new Set<string>()
let timer: ReturnType<typeof setTimeout> | undefined
let flushing: Promise<void> = Promise.resolve()
/** Loads that have begun. Of several, the last one counts. */
let lastLoad = 0

const isNewer = (location: Location, device: Device): boolean =>
  !device.lastLocation || location.dateTime > device.lastLocation.dateTime

const move = (id: string, location: Location): void => {
  const known = moved.get(id)
  if (!known || location.dateTime > known.dateTime) moved.set(id, location)
}

/** Shown once more after what is being read, which may be older. */
const keepForLater = (
  laterMoved: ReadonlyMap<string, Location>,
  laterChanged: Iterable<string>,
  laterDeleted: Iterable<string>,
): void => {
  for (const [id, location] of laterMoved) move(id, location)
  for (const id of laterChanged) changed.add(id)
  for (const id of laterDeleted) deleted.add(id)
}

const flush = async (): Promise<void> => {
  const [movedNow, changedNow, deletedNow] = [moved, changed, deleted]
  moved = new Map()
  changed = new Set()
  deleted = new Set()
  // While the whole fleet is read, single devices are not.
  const isWanted = changedNow.size > 0 && !isLoading.peek()
  const read = isWanted ? await readDevices([...changedNow]).catch(() => null) : []
  if (isLoading.peek()) keepForLater(movedNow, changedNow, deletedNow)
  else if (!read) keepForLater(new Map(), changedNow, [])
  const next = new Map(devices.peek())
  for (const device of read ?? []) next.set(device.id, device)
  for (const [id, location] of movedNow) {
    const device = next.get(id)
    if (device && isNewer(location, device))
      next.set(id, { ...device, lastLocation: location, lastContact: location.receivedAt })
  }
  for (const id of deletedNow) next.delete(id)
  rememberNames(read ?? [])
  devices.value = next
}

const schedule = (): void => {
  timer ??= setTimeout(() => {
    timer = undefined
    // One after the other: an older answer must not replace a newer one.
    flushing = flushing.then(flush)
  }, FLUSH_MS)
}

const receive = ({ type, data }: LiveEvent): void => {
  const id = String(data.deviceId ?? '')
  if (type === 'location.reported') {
    const location = data.location as Location | null
    if (location) move(id, location)
  } else if (type === 'device.deleted') deleted.add(id)
  else if (id) changed.add(id)
  else void load()
  schedule()
}

/** Reads a device again, for what has no events, such as its quarantine. */
export const refreshDevice = (id: string): void => {
  changed.add(id)
  schedule()
}

const load = async (): Promise<void> => {
  const number = ++lastLoad
  isLoading.value = true
  await live.opened()
  loadError.value = null
  const found = new Map<string, Device>()
  try {
    let cursor: string | null = null
    do {
      const query: Record<string, unknown> = { limit: PAGE_SIZE, cursor, sort: 'name' }
      const page: { devices: Device[]; nextCursor: string | null } = await call(
        'GET /api/devices',
        {
          query,
        },
      )
      if (number !== lastLoad) return
      for (const device of page.devices) found.set(device.id, device)
      rememberNames(page.devices)
      cursor = page.nextCursor
      // The first page is shown at once; a reload replaces the list when it is complete.
      if (devices.peek().size < found.size) devices.value = new Map(found)
    } while (cursor)
    batch(() => {
      devices.value = found
      isLoading.value = false
    })
  } catch (error) {
    if (number !== lastLoad) return
    loadError.value = toError(error)
    isLoading.value = false
  }
  schedule()
}

export const reloadFleet = (): void => void load()

/** Loads the fleet and follows it until the returned function is called. */
export const startFleet = (): (() => void) => {
  const stop = [
    // Before the list is read, so that nothing between the two is missed.
    live.on(['location.reported', 'device.*'], receive),
    live.onGap(reloadFleet),
    onBack(() => isOffline(loadError.peek()) && reloadFleet()),
  ]
  void load()
  return () => {
    for (const one of stop) one()
    clearTimeout(timer)
    timer = undefined
  }
}
