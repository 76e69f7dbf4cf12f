import { type Units, units } from './preferences.ts'

/* Numbers of the API (km/h, metres) in the units that the viewer chose. */

interface Unit {
  factor: number
  symbol: string
}

const SPEED: Record<Units, Unit> = {
  metric: { factor: 1, symbol: 'km/h' },
  nautical: { factor: 1 / 1.852, symbol: 'kn' },
  imperial: { factor: 1 / 1.609344, symbol: 'mph' },
}
const HEIGHT: Record<Units, Unit> = {
  metric: { factor: 1, symbol: 'm' },
  nautical: { factor: 1 / 0.3048, symbol: 'ft' },
  imperial: { factor: 1 / 0.3048, symbol: 'ft' },
}
const DISTANCE: Record<Units, Unit> = {
  metric: { factor: 1 / 1000, symbol: 'km' },
  nautical: { factor: 1 / 1852, symbol: 'nmi' },
  imperial: { factor: 1 / 1609.344, symbol: 'mi' },
}

const formatters = new Map<number, Intl.NumberFormat>()

export const formatNumber = (value: number, digits = 0): string => {
  let formatter = formatters.get(digits)
  if (!formatter) {
    formatter = new Intl.NumberFormat('en', { maximumFractionDigits: digits })
    formatters.set(digits, formatter)
  }
  return formatter.format(value)
}

const withUnit = (value: number, { factor, symbol }: Unit, digits: number): string =>
  `${formatNumber(value * factor, digits)} ${symbol}`

export const speedUnit = (): Unit => SPEED[units.value]
export const heightUnit = (): Unit => HEIGHT[units.value]

export const formatSpeed = (kmh: number): string =>
  withUnit(kmh, SPEED[units.value], kmh < 100 ? 1 : 0)
export const formatHeight = (metres: number): string => withUnit(metres, HEIGHT[units.value], 0)
export const formatDistance = (metres: number): string =>
  withUnit(metres, DISTANCE[units.value], metres < 100_000 ? 1 : 0)

/** A distance to somebody who may be very near. */
export const formatRange = (metres: number): string =>
  withUnit(metres, DISTANCE[units.value], metres < 10_000 ? 2 : metres < 100_000 ? 1 : 0)

const ordinate = (value: number, [positive, negative]: [string, string]): string =>
  `${Math.abs(value).toFixed(5)}° ${value < 0 ? negative : positive}`

export const formatPosition = (latitude: number, longitude: number): string =>
  `${ordinate(latitude, ['N', 'S'])}, ${ordinate(longitude, ['E', 'W'])}`

const POINTS = ['N', 'NE', 'E', 'SE', 'S', 'SW', 'W', 'NW']

export const formatCourse = (degrees: number): string =>
  `${Math.round(degrees)}° ${POINTS[Math.round(degrees / 45) % 8]}`
