export interface Place {
  latitude: number
  longitude: number
}

export const MAP = 'https://www.openstreetmap.org/?mlat='
const SHORT_MAP = 'https://osm.org/?mlat='

/** About a metre. */
const degrees = (value: number): string => value.toFixed(5)

export const coordinates = ({ latitude, longitude }: Place): string =>
  `${degrees(latitude)}, ${degrees(longitude)}`

export const mapLink = ({ latitude, longitude }: Place): string => {
  const [lat, lon] = [degrees(latitude), degrees(longitude)]
  return `${MAP}${lat}&mlon=${lon}#map=14/${lat}/${lon}`
}

export const shortMapLink = ({ latitude, longitude }: Place): string =>
  `${SHORT_MAP}${degrees(latitude)}&mlon=${degrees(longitude)}`
