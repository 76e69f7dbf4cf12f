import type { JsonObject } from './json.ts'

/*
 * The fields of a location: the one table that the contract, the quick reader of reports and the storage are made from.
 * With a `scale`, a number is stored as a whole number of that part (1e7: tenths of a microdegree).
 */
interface NumberField {
  least: number
  most: number
  about: string
  scale?: number
}

export const NUMBERS = {
  latitude: { least: -90, most: 90, scale: 1e7, about: 'Degrees, WGS 84.' },
  longitude: { least: -180, most: 180, scale: 1e7, about: 'Degrees, WGS 84.' },
  altitude: { least: -20_000, most: 1_000_000, scale: 100, about: 'Metres.' },
  speed: { least: 0, most: 100_000, scale: 100, about: 'km/h.' },
  course: { least: 0, most: 360, scale: 100, about: 'Degrees from north, clockwise.' },
  accuracy: {
    least: 0,
    most: 50_000_000,
    scale: 100,
    about: 'Metres; large for fixes that a network derived.',
  },
  battery: { least: 0, most: 100, scale: 100, about: 'Percent.' },
  fuel: { least: 0, most: 1e9, about: 'Level of the first tank.' },
  fuel2: { least: 0, most: 1e9, about: 'Level of the second tank.' },
  temperature: { least: -273.15, most: 10_000, about: '°C.' },
  temperature2: { least: -273.15, most: 10_000, about: '°C.' },
  inactiveSeconds: { least: 0, most: 1e12, about: 'How long the device has not moved.' },
  rpm: { least: 0, most: 1e9, about: 'Revolutions a minute.' },
  milleage: { least: 0, most: 1e12, about: 'Distance travelled.' },
} as const satisfies Record<string, NumberField>
export type NumberName = keyof typeof NUMBERS

/** Either a number or a date-time, which is kept in UTC. */
export const SENSOR_TIMES = ['sensorTime1', 'sensorTime2', 'sensorTime3', 'sensorTime4'] as const
export const MAX_SENSOR_TIME = 1e15
export const TEXT_LISTS = ['warningTexts', 'alertTexts'] as const
/** Names or numbers of alerts, as the device has them. */
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

/** In the order in which the contract lists them; `dateTime` stands before and `receivedAt` after. */
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
const MAX_AHEAD = 600_000

/** A device's clock may run a little ahead, but a fix from last century or from tomorrow is a mistake. */
export const isPlausible = (dateTime: number, now: number): boolean =>
  dateTime >= EARLIEST && dateTime <= now + MAX_AHEAD

export const MAX_REPORT_LOCATIONS = 1000
