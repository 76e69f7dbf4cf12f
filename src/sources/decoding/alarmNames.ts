import { SOS } from '../../domain/message/alert.ts'

/* Networks' names of alarms, and ours. */

export const LOW_BATTERY = 'LowBattery'
export const MOVEMENT = 'Movement'
export const SPEED_LIMIT = 'SpeedLimit'

const NAMES: Readonly<Record<string, string>> = {
  sos: SOS,
  lowBattery: LOW_BATTERY,
  overspeed: SPEED_LIMIT,
  movement: MOVEMENT,
  tow: MOVEMENT,
}

/** `powerCut` and `POWER_LOSS` become `PowerCut` and `PowerLoss`. */
const toPascalCase = (name: string): string => {
  const words = /^[A-Z0-9_]+$/.test(name)
    ? name.toLowerCase().split('_')
    : name.split(/[^A-Za-z0-9]+/)
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

/** Ours for an alarm of a network; null for what is no name. */
export const alertNameOf = (alarm: string): string | null => {
  const own = Object.hasOwn(NAMES, alarm) ? NAMES[alarm] : toPascalCase(alarm)
  return own || null
}

/** More than Traccar has names for: each becomes an alert. */
const MAX_ALARMS = 50

/** Traccar separates several alarms by commas. */
export const alertNamesOf = (alarms: string): string[] => [
  ...new Set(alarms.split(',', MAX_ALARMS).flatMap((alarm) => alertNameOf(alarm.trim()) ?? [])),
]
