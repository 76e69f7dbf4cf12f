/* What a network's push becomes. Decoders are pure: they neither store nor look anything up. */

import type { Location } from '../track/location.ts'
import type { Resource } from './resource.ts'

/** The networks and programs whose pushes are understood. */
export const SOURCE_PROVIDERS = [
  'osmand',
  'traccar',
  'garmin',
  'rockblock',
  'rock7',
  'cloudloop',
  'spot',
  'globalstar',
  'owntracks',
  'overland',
  'flespi',
] as const
export type SourceProvider = (typeof SOURCE_PROVIDERS)[number]

export const MAX_PUSH_BYTES = 262_144
/** Of a push that was sent with gzip. */
export const MAX_UNPACKED_PUSH_BYTES = 1_048_576
export const MAX_IDENTIFIER_LENGTH = 64
/** Of all texts that a push becomes, in bytes. */
export const MAX_PUSH_TEXT_BYTES = 65_536

interface ItemOf<Kind extends string> {
  kind: Kind
  /** How the network names the device. */
  identifier: string
  /** By which it was named before: a device that has it takes the item while none has the other. */
  formerIdentifier?: string
  /** The same for a repeat of the same item, and for nothing else of the source. */
  key: string
}

/** What is received of a device, whatever else it says. */
interface Received {
  /** When its button or code for “all is well” was pressed; absent for any other report. */
  okAt?: number
}

/** Where a device was when it raised or cancelled an alert; null when the push does not say. */
interface Placed {
  dateTime: number
  latitude: number | null
  longitude: number | null
}

export type LocationItem = ItemOf<'location'> & Received & { location: Location }
export type AlertItem = ItemOf<'alert'> &
  Placed & {
    alertName: string
    text: string
    /** Whether the key has an id that the provider gave the message. */
    isMessageId?: boolean
  }
export type CancelItem = ItemOf<'cancel'> & Placed & { alertName: string }
/** What was written on a device, or sent by a program on it. */
export type MessageItem = ItemOf<'message'> & {
  dateTime: number
  text: string
  /** `Hex` when the bytes are not text. */
  format: 'Text' | 'Hex'
}
/** A sign of life without a position. */
export type ContactItem = ItemOf<'none'> & Received

export type SourceItem = LocationItem | AlertItem | CancelItem | MessageItem | ContactItem

/** What a payload becomes. `failures` says what of it could not be understood, in words. */
export interface Decoded {
  items: SourceItem[]
  failures: string[]
}

/** Why a location of a source is kept apart. */
export const QUARANTINE_REASONS = ['zero-coordinates', 'speed', 'clock'] as const
export type QuarantineReason = (typeof QUARANTINE_REASONS)[number]

export interface SourceRecord {
  name: string
  provider: SourceProvider
  enabled: boolean
  /** Secrets among them are null. */
  settings: Record<string, unknown>
  /** What becomes of identifiers that no device has. */
  newDevices: 'hold' | 'create'
  keepRaw: boolean
}

export interface Source extends SourceRecord, Resource {
  lastReceived: number | null
}

/** What waits for somebody, each counted to at most `MAX_COUNTED.ofSource`. */
export interface SourceCounts {
  unclaimed: number
  failures: number
}
/** A page has at most 50 sources, but 1,000 devices, whose locations in quarantine are counted. */
export const MAX_COUNTED = { ofSource: 100, ofDevice: 10 }

export const MAX_SOURCES = 50
export const MAX_UNCLAIMED_IDENTIFIERS = 1000
export const MAX_UNCLAIMED_REPORTS = 100
export const MAX_QUARANTINED = 1000
export const MAX_RAW_BYTES = 65_536
export const MAX_SOURCE_RAW_BYTES = 20_000_000
