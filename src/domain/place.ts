export interface Place {
  latitude: number
  longitude: number
}

export const MAP = 'https://www.openstreetmap.org/?mlat='
const SHORT_MAP = 'https://osm.org/?mlat='

/** Five decimals are about a metre. */
const formatDegrees = (value: number): string => value.toFixed(5)

export const formatCoordinates = ({ latitude, longitude }: Place): string =>
  `${formatDegrees(latitude)}, ${formatDegrees(longitude)}`

export const mapLink = ({ latitude, longitude }: Place): string => {
  const [lat, lon] = [formatDegrees(latitude), formatDegrees(longitude)]
  return `${MAP}${lat}&mlon=${lon}#map=14/${lat}/${lon}`
}

export const shortMapLink = ({ latitude, longitude }: Place): string =>
  `${SHORT_MAP}${formatDegrees(latitude)}&mlon=${formatDegrees(longitude)}`
