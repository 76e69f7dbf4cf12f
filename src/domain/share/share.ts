import type { Resource } from '../account/resource.ts'
import type { Place } from '../message/alert.ts'

/** How exactly a share shows where devices are. */
export const PRECISIONS = ['exact', '1km', '10km'] as const
export type Precision = (typeof PRECISIONS)[number]

/** The members of a share that a client can write, without the password. */
export interface ShareRecord {
  name: string
  devices: string[]
  groups: string[]
  /** The share is open from then, and shows nothing older; null: no beginning. */
  from: number | null
  /** The share is open until then; null: until it is deleted. */
  until: number | null
  /** How many hours of their tracks are shown; 0: only where devices are. */
  history: number
  /** Locations are shown when they are this old. */
  delayMinutes: number
  precision: Precision
}

export interface Share extends ShareRecord, Resource {
  hasPassword: boolean
  views: number
  lastViewed: number | null
}

export const SHARE_PATH = '/s/'
export const MAX_SHARES = 200
export const MAX_SHARE_HOURS = 168
export const MAX_SHARE_DELAY_MINUTES = 10_080
/** Of one share. Further devices are not shown. */
export const MAX_SHARED_DEVICES = 500
/** Of all tracks of a share, and of one device at most. */
export const MAX_SHARED_POINTS = 10_000
export const MAX_TRACK_POINTS = 1000

export const isOpen = ({ from, until }: ShareRecord, now: number): boolean =>
  (from ?? now) <= now && (until === null || now < until)

/** How many rows of cells there are between the poles, each as high as the precision says. */
const ROWS: Record<Exclude<Precision, 'exact'>, number> = { '1km': 20_000, '10km': 2_000 }
const DECIMALS = 1e5

const centre = (index: number, count: number, degrees: number): number =>
  Math.round(((index + 0.5) * degrees * DECIMALS) / count) / DECIMALS - degrees / 2

const TIME_STEPS_MS: Record<Precision, number> = { exact: 1, '1km': 600_000, '10km': 3_600_000 }

/** The exact time at which a device came into a grid cell would tell where it was then. */
export const roundTime = (time: number, precision: Precision): number =>
  time - (time % TIME_STEPS_MS[precision])

/**
 * The centre of the grid cell that a place is in. All places of a cell become the same, so that the
 * mean of many tells no more than one of them.
 */
export const roundPlace = ({ latitude, longitude }: Place, precision: Precision): Place => {
  if (precision === 'exact') return { latitude, longitude }
  const rows = ROWS[precision]
  const row = Math.min(rows - 1, Math.floor(((latitude + 90) / 180) * rows))
  const middle = centre(row, rows, 180)
  const columns = Math.max(1, Math.floor(2 * rows * Math.cos((middle * Math.PI) / 180)))
  const column = Math.min(columns - 1, Math.floor(((longitude + 180) / 360) * columns))
  const round = (degrees: number) => Math.round(degrees * DECIMALS) / DECIMALS
  return { latitude: round(middle), longitude: round(centre(column, columns, 360)) }
}
