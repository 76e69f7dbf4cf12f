import type { Place } from '../message/alert.ts'

export const MAP = 'https://www.openstreetmap.org/?mlat='

/** Five decimals are about a metre. */
const formatDegrees = (value: number): string => value.toFixed(5)

export const formatCoordinates = ({ latitude, longitude }: Place): string =>
  `${formatDegrees(latitude)}, ${formatDegrees(longitude)}`

export const mapLink = ({ latitude, longitude }: Place): string => {
  const [lat, lon] = [formatDegrees(latitude), formatDegrees(longitude)]
  return `${MAP}${lat}&mlon=${lon}#map=14/${lat}/${lon}`
}

/** For an SMS. */
export const shortCoordinates = ({ latitude, longitude }: Place): string =>
  `${formatDegrees(latitude)},${formatDegrees(longitude)}`
