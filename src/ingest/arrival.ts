import type { Viewer } from '../db/queries/visibility.ts'
import type { PendingRaise } from '../domain/message/pendingRaise.ts'
import type { Location, MIXED_REJECTIONS, StoredLocation } from '../domain/track/location.ts'
import type { Quarantined } from './quarantine.ts'

/* What arrives, and what becomes of it. */

export interface Arrival {
  location: Location
  receivedAt: number
}

/** What arrived of one device, which is named by its id or its identifier. */
export interface DeviceArrivals {
  deviceId: string | null
  identifier: string | null
  /** The id of its `location.reported`, if that is logged. */
  eventId: string
  /** The latest arrival of anything from the device: its `lastContact`. */
  contact: number
  /** May be empty: then only `lastContact` moves. */
  arrivals: Arrival[]
}

/** What is assumed of an account. The statements that store arrivals check it. */
export interface AssumedState {
  timeZone: string
  /** Someone wants `location.reported`. */
  hasSubscribers: boolean
  /** The account's settings for emergencies, as they are stored. Only some arrivals need them. */
  emergency: string | null
  /** The token of the account's rules for reports; null without any. */
  rulesVersion: string | null
}

export const INITIAL_STATE: AssumedState = {
  timeZone: 'UTC',
  hasSubscribers: false,
  emergency: null,
  rulesVersion: null,
}

export interface Batch {
  viewer: Viewer
  devices: DeviceArrivals[]
  /** The alerts that come with it, by the account's settings for emergencies; null without any. */
  raisesBy: ((emergency: string | null) => Promise<PendingRaise[]>) | null
  /** Quarantines locations that cannot be true. */
  checksCredibility: boolean
  /** Rules read no longest window, so that the queries stay few. */
  skipsLongWindows?: boolean
  assumed: AssumedState
  /** The service's public origin, for the messages of alerts. */
  readonly origin: string
  /** Counts what evaluating rules has cost, in the units of slices. */
  countWork?: (units: number) => void
  now: number
}

export type Status = 'accepted' | 'quarantined' | (typeof MIXED_REJECTIONS)[number]

/** A device that was found by its name. */
export interface NamedDevice {
  /** The position of its name. */
  part: number
  key: number
  id: string
  sourceId: string | null
}

export type Outcome =
  | {
      ok: true
      /** Of each device's arrivals, the status of each. */
      statuses: Status[][]
      devices: NamedDevice[]
      accepted: number
      /** An estimate of what the accepted locations take. */
      storedBytes: number
      /** What the device has at the time of a batch's only location. */
      stored: StoredLocation | null
      quarantined: Quarantined[]
      /** Stored, and still to be handed to the ledger. */
      raises: PendingRaise[]
      /** What rules have found: stored, and handed to the ledger after the reply. */
      hits: PendingRaise[]
      actual: AssumedState
    }
  | { ok: false; refusal: 'body-too-large' | 'unavailable' | 'account-not-found' }
