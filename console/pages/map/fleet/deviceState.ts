import type { Device } from '../../../api/types.ts'
import { DAY_MS, HOUR_MS } from '../../../format/time.ts'

/* What a device looks like on the map and in the list. */

export type DeviceState = 'emergency' | 'fresh' | 'quiet' | 'silent' | 'expired' | 'none'

/** The states that a map may show, the most urgent last: it is drawn on top. */
export const STATES: readonly DeviceState[] = ['expired', 'silent', 'quiet', 'fresh', 'emergency']

/** On a light and on a dark map. */
export const STATE_COLOURS: Record<DeviceState, string> = {
  emergency: '#e02431',
  fresh: '#0fa968',
  quiet: '#e39a12',
  silent: '#7a86a6',
  expired: '#a06bd0',
  none: '#7a86a6',
}

export const stateOf = (device: Device, now: number, isEmergency: boolean): DeviceState => {
  if (isEmergency) return 'emergency'
  if (device.state === 'expired') return 'expired'
  if (!device.lastLocation) return 'none'
  const age = now - Date.parse(device.lastLocation.dateTime)
  return age < HOUR_MS ? 'fresh' : age < DAY_MS ? 'quiet' : 'silent'
}
