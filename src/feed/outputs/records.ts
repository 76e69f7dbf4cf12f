import { sql } from 'drizzle-orm'
import type { Database } from '../../db/open.ts'
import { parseLocation, selectLastLocation } from '../../db/queries/locations.ts'
import { select } from '../../db/query.ts'
import { devices, groupDevices } from '../../db/schema.ts'
import { compile, literal, type Placeholders, readAll } from '../../db/statement.ts'
import { isAlertEvent, type OutputDevice, type OutputRecord } from '../../domain/output/output.ts'
import type { StoredLocation } from '../../domain/track/location.ts'
import type { LoggedEvent } from '../../events/store.ts'

/* The positions in events, with the devices that they are of. */

const DEVICE_COLUMNS = {
  id: devices.id,
  name: devices.name,
  identifier: devices.identifier,
  model: devices.model,
  tags: devices.tags,
}

const selectDevices = compile((p: Placeholders<{ accountId: string; ids: string }>) =>
  select(
    DEVICE_COLUMNS,
    sql`FROM json_each(${p.ids}) listed
      CROSS JOIN ${devices} ON ${devices.id} = listed.value AND ${devices.accountId} = ${p.accountId}`,
  ),
)

type EventKey = Pick<OutputRecord, 'id' | 'sequence'>

const ofLocation = (
  device: OutputDevice,
  { id, sequence }: EventKey,
  location: StoredLocation,
): OutputRecord => {
  const { dateTime, latitude, longitude, altitude, speed, course, accuracy, battery } = location
  const motion = { altitude, speed, course, accuracy, battery }
  return { device, id, sequence, time: dateTime, latitude, longitude, ...motion }
}

/** Null for an event without a position, or whose device is deleted. */
const toRecord = (event: LoggedEvent, device: OutputDevice | undefined): OutputRecord | null => {
  const { id, sequence, type, data, location } = event
  if (!device) return null
  if (type === 'location.reported') return location && ofLocation(device, event, location)
  const { latitude, longitude, alertName, text, dateTime, positionTime } = data
  if (!isAlertEvent(type) || typeof latitude !== 'number' || typeof longitude !== 'number')
    return null
  const timeOf = (text: unknown): number => {
    const time = Date.parse(String(text))
    return Number.isNaN(time) ? event.time : time
  }
  return {
    device,
    id,
    sequence,
    time: timeOf(positionTime ?? dateTime),
    latitude,
    longitude,
    alert: {
      name: String(alertName),
      text: typeof text === 'string' ? text : '',
      time: timeOf(dateTime),
      isEmergency: data.emergency === true,
      isTest: data.test === true,
    },
  }
}

export const recordsOf = async (
  db: Database,
  accountId: string,
  events: LoggedEvent[],
): Promise<OutputRecord[]> => {
  const ids = [...new Set(events.flatMap(({ deviceId }) => deviceId ?? []))]
  const found = await readAll(selectDevices(db, { accountId, ids: JSON.stringify(ids) }))
  const byId = new Map(found.map((device) => [device.id, device]))
  return events.flatMap((event) => toRecord(event, byId.get(event.deviceId ?? '')) ?? [])
}

const MAX_TRIED = 50
interface Tried {
  accountId: string
  ids: string
  groups: string
}
const selectTried = compile((p: Placeholders<Tried>) =>
  select(
    { ...DEVICE_COLUMNS, location: selectLastLocation(devices.key) },
    sql`FROM ${devices} WHERE ${devices.accountId} = ${p.accountId}
      AND ((${p.ids} = '[]' AND ${p.groups} = '[]')
        OR ${devices.id} IN (SELECT value FROM json_each(${p.ids}))
        OR ${devices.key} IN (SELECT ${groupDevices.deviceKey} FROM ${groupDevices}
          WHERE ${groupDevices.groupId} IN (SELECT value FROM json_each(${p.groups}))))
      ORDER BY ${devices.nameKey}, ${devices.key} LIMIT ${literal(MAX_TRIED)}`,
  ),
)

/** What a test sends: where one of the webhook's devices really is. Null before the first location. */
export const testRecord = async (
  db: Database,
  accountId: string,
  webhook: { devices: string[]; groups: string[] },
): Promise<OutputRecord | null> => {
  const [ids, groups] = [JSON.stringify(webhook.devices), JSON.stringify(webhook.groups)]
  for (const { location, ...device } of await readAll(
    selectTried(db, { accountId, ids, groups }),
  )) {
    const last = parseLocation(location)
    if (last) return ofLocation(device, { id: 'test', sequence: 0 }, last)
  }
  return null
}
