import * as z from 'zod'
import type { device as deviceSchema } from '../devices/forms.ts'
import { fold } from '../domain/text/fold.ts'
import type { Api } from './api.ts'
import { ToolError } from './tool.ts'

/* Devices in the arguments and results of tools. */

export type Device = z.output<typeof deviceSchema>
export interface DevicePage {
  devices: Device[]
  nextCursor: string | null
}

export const deviceArgument = z
  .string()
  .min(1)
  .max(128)
  .describe('The device: its id (dev_…), its identifier or its exact name.')

export const labelOf = ({ name, id }: Pick<Device, 'name' | 'id'>): string => `“${name}” (${id})`

const MAX_SIMILAR = 5

/** The device that an agent names, or throws a `ToolError` that says which ones there are. */
export const findDevice = async (api: Api, given: string): Promise<Device> => {
  if (/^dev_[0-9a-z]+$/.test(given))
    return (await api<{ device: Device }>('GET', `/api/devices/${given}`)).device
  const list = (query: Record<string, string | number>) =>
    api<DevicePage>('GET', '/api/devices', { query })
  const [byIdentifier, byName] = await Promise.all([
    given.length <= 64 ? list({ identifier: given }) : { devices: [] },
    list({ q: given, limit: 50 }),
  ])
  const withName = byName.devices.filter(({ name }) => fold(name) === fold(given))
  // Whoever chooses an identifier must not take the place of a device that has it as its name.
  const both = [...byIdentifier.devices, ...withName]
  const named = [...new Map(both.map((device) => [device.id, device])).values()]
  const [only, second] = named
  if (only && !second) return only
  const shown = (named.length > 0 ? named : byName.devices).slice(0, MAX_SIMILAR).map(labelOf)
  const hint = shown.length > 0 ? ` Use the id of one of these: ${shown.join(', ')}.` : ''
  throw new ToolError(
    named.length > 0
      ? `Several devices have this name or identifier.${hint}`
      : `No device has this id, identifier or name.${hint}`,
  )
}

/** What a list shows of a device. */
export const toRow = ({ id, name, identifier, state, expires, lastContact, ...rest }: Device) => ({
  id,
  name,
  identifier,
  state,
  expires,
  lastContact,
  lastLocation: rest.lastLocation && toPosition(rest.lastLocation),
})

export const toPosition = (location: NonNullable<Device['lastLocation']>) => {
  const { dateTime, latitude, longitude, altitude, speed, course, accuracy, battery } = location
  return { dateTime, latitude, longitude, altitude, speed, course, accuracy, battery }
}
