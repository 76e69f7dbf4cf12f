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

/** Opens the place in the app that a phone has for maps (RFC 5870). */
export const geoLink = ({ latitude, longitude }: Place): string =>
  `geo:${formatDegrees(latitude)},${formatDegrees(longitude)}`

/** For an SMS. */
export const shortCoordinates = ({ latitude, longitude }: Place): string =>
  `${formatDegrees(latitude)},${formatDegrees(longitude)}`
