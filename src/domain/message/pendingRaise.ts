import type { Alert, Channel, Position } from './alert.ts'

/** What the ledger has to know of the rule that raises an alert. */
export interface RuleRaise {
  ruleId: string
  zoneId: string | null
  cooldownMinutes: number
  /** The event that is logged with it, whether or not the cooldown lets the alert through. */
  event: 'zone.entered' | 'zone.left' | 'device.silent' | 'device.returned' | null
  /** The latest arrival of anything from the device, for the events about silence. */
  lastContact?: number
  /** Whether the event is all there is to it. */
  isEventOnly?: boolean
}

/** An alert to raise, in full: it is stored until the ledger has decided on it. */
export interface PendingRaise {
  deviceId: string
  alert: Pick<Alert, 'id' | 'name' | 'text' | 'dateTime'>
  /** Whether it is an emergency, whatever its name. */
  emergency: boolean
  /** The alert's own position; without one it gets the device's last location. */
  reported: Position | null
  notifications: Channel[]
  /** An old alert that is stored only: it is no emergency and nobody is notified. */
  isQuiet?: boolean
  /** The service's public origin, for links in the messages. */
  origin: string
  rule?: RuleRaise
}

/** How many alerts the ledger raises in one call. */
export const MAX_RAISES_PER_CALL = 50
