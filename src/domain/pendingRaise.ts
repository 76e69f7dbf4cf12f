import type { Alert, Channel, Position } from './alert.ts'

/** An alert to raise, in full: it is stored until the ledger has decided on it. */
export interface PendingRaise {
  deviceId: string
  alert: Pick<Alert, 'id' | 'name' | 'text' | 'dateTime'>
  /** Whether it is an emergency, whatever its name. */
  emergency: boolean
  /** The alert's own position; without one it gets the device's last location. */
  reported: Position | null
  notifications: Channel[]
  /** The service's public origin, for links in the messages. */
  origin: string
}

/** How many alerts the ledger raises in one call. */
export const MAX_RAISES_PER_CALL = 50
