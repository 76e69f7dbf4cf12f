import { eq } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { nameOf } from '../db/queries/namedDevices.ts'
import type { Viewer } from '../db/queries/visibility.ts'
import { accounts } from '../db/schema.ts'
import { readAll } from '../db/statement.ts'
import { keptSince } from '../domain/account/account.ts'
import { CHANNELS } from '../domain/message/alert.ts'
import { parseEmergencySettings } from '../domain/message/emergency.ts'
import type { PendingRaise, Press } from '../domain/message/pendingRaise.ts'
import { findEmergencies, mayCarryEmergency } from '../domain/message/reportedEmergency.ts'
import { digestOf } from '../domain/text/sha256.ts'
import { isClockWrong } from '../domain/track/credible.ts'
import type { Location } from '../domain/track/location.ts'
import { derivedAlertId } from '../ids.ts'
import type { Batch, DeviceArrivals, NamedDevice } from './arrival.ts'
import { selectDevices } from './state.ts'

/* The emergencies that locations carry. */

type Named = Pick<DeviceArrivals, 'deviceId' | 'identifier'>

/** The devices that some names are of, with the positions of the names. */
export const findNamedDevices = async (
  db: Database,
  { accountId, groupId }: Viewer,
  named: Named[],
): Promise<NamedDevice[]> => {
  const refs = JSON.stringify(named.map(nameOf))
  return readAll(selectDevices(db, { accountId, groupId, refs }))
}

const MAX_TEXT_LENGTH = 2000

/** What the device says about its alerts, as one line. */
const textOf = ({ alertTexts = [] }: Location): string =>
  alertTexts
    .join(', ')
    .replaceAll(/\p{Cc}+/gu, ' ')
    .slice(0, MAX_TEXT_LENGTH)

interface Reported {
  emergencyAlerts: readonly string[]
  origin: string
  receivedAt: number
  /** Alerts before this time would not be stored. */
  keptSince: number
}

/** Reports may be sent again at any time, unless their clock says nothing. */
const toPress = async (
  { deviceId, alert: { id, name } }: Pick<PendingRaise, 'deviceId' | 'alert'>,
  location: Location,
  { receivedAt, keptSince }: Pick<Reported, 'receivedAt' | 'keptSince'>,
): Promise<Press> => {
  const { dateTime } = location
  const isWrong = isClockWrong(dateTime, receivedAt) || dateTime < keptSince
  const digest = await digestOf(JSON.stringify(location))
  return {
    id: `${id}.${digest}`,
    sourceId: null,
    digest,
    receivedAt,
    arrivalId: await derivedAlertId(deviceId, name, receivedAt),
    isClockWrong: isWrong,
    isAlwaysRepeat: !isWrong,
    isOld: false,
  }
}

/** One alert for each name, at the place of the location that carries it. */
const raisesOf = (
  deviceId: string,
  locations: Location[],
  { emergencyAlerts, origin, ...arrival }: Reported,
): Promise<PendingRaise>[] =>
  findEmergencies(locations, emergencyAlerts).map(async ({ name, location }) => {
    const { latitude, longitude, speed, course, accuracy } = location
    const id = await derivedAlertId(deviceId, name, location.dateTime)
    // An alert that is too old to be stored is raised with the time of its arrival.
    const isStored = location.dateTime >= arrival.keptSince
    const dateTime = isStored ? location.dateTime : arrival.receivedAt
    const alert = { id, name, text: textOf(location), dateTime }
    return {
      deviceId,
      alert,
      emergency: true,
      reported: { time: dateTime, latitude, longitude, speed, course, accuracy },
      notifications: [...CHANNELS],
      origin,
      press: await toPress({ deviceId, alert }, location, arrival),
    }
  })

/** How a batch raises the emergencies that its locations carry; null when it can have none. */
export const raisesInLocations = async (
  db: Database,
  viewer: Viewer,
  devices: DeviceArrivals[],
  originOf: () => string,
): Promise<Batch['raisesBy']> => {
  const urgent = devices
    .filter(({ arrivals }) => arrivals.some(({ location }) => mayCarryEmergency(location)))
    .map((device) => ({ ...device, locations: device.arrivals.map(({ location }) => location) }))
  if (urgent.length === 0) return null
  // Alerts are raised by the device's id, which one that is named by its identifier does not have.
  const ids = urgent.map(({ deviceId }) => deviceId)
  if (ids.includes(null))
    for (const { part, id } of await findNamedDevices(db, viewer, urgent)) ids[part] = id
  const origin = originOf()
  const now = urgent[0]?.arrivals[0]?.receivedAt ?? Date.now()
  const [account] = await db
    .select({ retentionDays: accounts.retentionDays })
    .from(accounts)
    .where(eq(accounts.id, viewer.accountId))
  const since = account ? keptSince(now, account.retentionDays) : 0
  return async (emergency) => {
    const { emergencyAlerts } = parseEmergencySettings(emergency)
    const raises = urgent.flatMap(({ locations, contact: receivedAt }, part) => {
      const id = ids[part]
      if (!id) return []
      return raisesOf(id, locations, { emergencyAlerts, origin, receivedAt, keptSince: since })
    })
    return Promise.all(raises)
  }
}
