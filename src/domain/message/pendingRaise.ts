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

/** The report that raises an alert: a tracker's clock may give two of them the same `dateTime`. */
export interface Press {
  /** The same for a repeat with the same content. Those stored before presses had ids lack it. */
  id?: string
  /** The source that it came by; null for a report by the API. */
  sourceId: string | null
  /** Of its content, or of the id that the provider gave it. */
  digest: string
  receivedAt: number
  /** The alert's id where it is raised by its arrival and not by its `dateTime`. */
  arrivalId: string
  /** The `dateTime` cannot be right, or is too old to be stored: the arrival stands for it. */
  isClockWrong: boolean
  /** Whether the same digest is a repeat whenever it comes; else within an hour. */
  isAlwaysRepeat: boolean
  /** It arrived long ago and is read again: it raises nothing a second time. */
  isOld: boolean
}

/** An alert to raise, in full: it is stored until the ledger has decided on it. */
export interface PendingRaise {
  deviceId: string
  /** A press may have another id in the end. */
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
  press?: Press
}

/** What the cell keeps it by until it is decided on: two presses may be of the same alert. */
export const pendingIdOf = ({ alert, press }: PendingRaise): string => press?.id ?? alert.id

/** How many alerts the ledger raises in one call. */
export const MAX_RAISES_PER_CALL = 50
