import type { JsonObject } from '../text/json.ts'

/* The fields of a location, for the contract, the fast reader of reports and the storage alike. */

interface NumberField {
  min: number
  max: number
  description: string
  /** Stored as an integer of this fraction of the unit: 1e7 gives tenths of a microdegree. */
  scale?: number
}

export const NUMBER_FIELDS = {
  latitude: { min: -90, max: 90, scale: 1e7, description: 'Degrees, WGS 84.' },
  longitude: { min: -180, max: 180, scale: 1e7, description: 'Degrees, WGS 84.' },
  altitude: { min: -20_000, max: 1_000_000, scale: 100, description: 'Metres.' },
  speed: { min: 0, max: 100_000, scale: 100, description: 'km/h.' },
  course: { min: 0, max: 360, scale: 100, description: 'Degrees from north, clockwise.' },
  accuracy: {
    min: 0,
    max: 50_000_000,
    scale: 100,
    description: 'Metres. Large when a network derived the position.',
  },
  battery: { min: 0, max: 100, scale: 100, description: 'Percent.' },
  fuel: { min: 0, max: 1e9, description: 'Level of the first tank.' },
  fuel2: { min: 0, max: 1e9, description: 'Level of the second tank.' },
  temperature: { min: -273.15, max: 10_000, description: '°C.' },
  temperature2: { min: -273.15, max: 10_000, description: '°C.' },
  inactiveSeconds: { min: 0, max: 1e12, description: 'Seconds since the device last moved.' },
  rpm: { min: 0, max: 1e9, description: 'Revolutions per minute.' },
  milleage: {
    min: 0,
    max: 1e12,
    description: 'Distance travelled, as the device counts it. The name is spelled so.',
  },
} as const satisfies Record<string, NumberField>
export type NumberName = keyof typeof NUMBER_FIELDS

/** A number, or a date-time, which is stored in UTC. */
export const SENSOR_TIMES = ['sensorTime1', 'sensorTime2', 'sensorTime3', 'sensorTime4'] as const
export const MAX_SENSOR_TIME = 1e15
export const TEXT_LISTS = ['warningTexts', 'alertTexts'] as const
/** Names or numbers of alerts, as the device sends them. */
export const CODE_LISTS = ['alerts', 'warnings'] as const
export const FREE_LISTS = ['accessoriesAttributes', 'inputs', 'outputs'] as const
export const MAX_SOURCE_LENGTH = 64

export type Location = { dateTime: number; latitude: number; longitude: number } & {
  [N in NumberName]?: number
} & {
  [N in (typeof SENSOR_TIMES)[number]]?: number | string
} & { [N in (typeof TEXT_LISTS)[number]]?: string[] } & {
  [N in (typeof CODE_LISTS)[number]]?: (string | number)[]
} & {
  [N in (typeof FREE_LISTS)[number]]?: unknown[]
} & { hasCriticalAlert?: boolean; attributes?: JsonObject; source?: string }

export type StoredLocation = Location & { receivedAt: number }

/** In the order of the contract, between `dateTime` and `receivedAt`. */
export const FIELD_NAMES = [
  'latitude',
  'longitude',
  'altitude',
  'speed',
  'course',
  'accuracy',
  'battery',
  'fuel',
  'fuel2',
  'temperature',
  'temperature2',
  ...SENSOR_TIMES,
  'inactiveSeconds',
  'rpm',
  'milleage',
  ...TEXT_LISTS,
  ...CODE_LISTS,
  'hasCriticalAlert',
  'attributes',
  ...FREE_LISTS,
  'source',
] as const satisfies readonly (keyof Location)[]

const EARLIEST = Date.UTC(2000, 0, 1)
const MAX_AHEAD_MS = 600_000

/**
 * A device's clock may run up to ten minutes ahead. Anything later, or before 2000, is a mistake.
 */
export const isPlausible = (dateTime: number, now: number): boolean =>
  dateTime >= EARLIEST && dateTime <= now + MAX_AHEAD_MS

export const MAX_REPORT_LOCATIONS = 1000
/** How many locations the reply to a query without `limit` may have. */
export const MAX_SPAN_LOCATIONS = 100_000

/** Why a location of a report was not accepted. */
export const REJECTIONS = ['duplicate', 'conflict', 'tooOld'] as const
/** The same for a report of many devices: some are unknown, others expired. */
export const MIXED_REJECTIONS = [...REJECTIONS, 'unknown', 'refused'] as const
export type Rejection = (typeof REJECTIONS)[number]
/** How many locations that were not accepted the reply to a report names. */
export const MAX_REJECTIONS = 100
