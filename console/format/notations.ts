import { forward } from 'mgrs'

/* The same place as different teams write it. */

export interface Notation {
  kind: 'decimal' | 'dms' | 'ddm' | 'utm' | 'mgrs'
  /** Null where the notation is not defined: UTM and MGRS near the poles. */
  value: string | null
}

/** About 1 cm. It keeps −1e-12° out of the southern hemisphere. */
const DIGITS = 7
const SOUTHERNMOST = -80
const NORTHERNMOST = 84

/** WGS 84, and the series of Krüger up to the third power: exact to a millimetre in a zone. */
const FLATTENING = 1 / 298.257223563
const N = FLATTENING / (2 - FLATTENING)
const RADIUS_METRES = (6_378_137 / (1 + N)) * (1 + N ** 2 / 4 + N ** 4 / 64)
const ALPHA = [
  N / 2 - (2 / 3) * N ** 2 + (5 / 16) * N ** 3,
  (13 / 48) * N ** 2 - (3 / 5) * N ** 3,
  (61 / 240) * N ** 3,
]
const SCALE = 0.9996

const radians = (degrees: number): number => (degrees * Math.PI) / 180

const projectUtm = (latitude: number, longitude: number, zone: number): [number, number] => {
  const turn = radians(longitude - (zone * 6 - 183))
  const sine = Math.sin(radians(latitude))
  const k = (2 * Math.sqrt(N)) / (1 + N)
  const t = Math.sinh(Math.atanh(sine) - k * Math.atanh(k * sine))
  const xi = Math.atan2(t, Math.cos(turn))
  const eta = Math.atanh(Math.sin(turn) / Math.sqrt(1 + t * t))
  const sum = (term: (alpha: number, twice: number) => number): number =>
    ALPHA.reduce((total, alpha, at) => total + term(alpha, 2 * (at + 1)), 0)
  const east = eta + sum((alpha, j) => alpha * Math.cos(j * xi) * Math.sinh(j * eta))
  const north = xi + sum((alpha, j) => alpha * Math.sin(j * xi) * Math.cosh(j * eta))
  return [
    500_000 + SCALE * RADIUS_METRES * east,
    (latitude < 0 ? 10_000_000 : 0) + SCALE * RADIUS_METRES * north,
  ]
}

/** UTM has the zone of MGRS, with its exceptions in Norway and Svalbard. Both cut to the metre. */
const gridsOf = (latitude: number, longitude: number): { utm: string; mgrs: string } | null => {
  if (latitude < SOUTHERNMOST || latitude >= NORTHERNMOST) return null
  const [, zone = '', band = '', square = '', east = '', north = ''] =
    /^(\d+)([A-Z])([A-Z]{2})(\d{5})(\d{5})$/.exec(forward([longitude, latitude])) ?? []
  const [easting, northing] = projectUtm(latitude, longitude, Number(zone)).map(Math.floor)
  return {
    utm: `${zone}${band} ${easting}mE ${northing}mN`,
    mgrs: `${zone}${band} ${square} ${east} ${north}`,
  }
}

/** Degrees and the smaller units, rounded together: never 60 minutes or seconds. */
const partsOf = (degrees: number, perDegree: number): [number, number] => {
  const total = Math.round(Math.abs(degrees) * perDegree)
  return [Math.floor(total / perDegree), total % perDegree]
}

const SIDES = { latitude: ['N', 'S', 2], longitude: ['E', 'W', 3] } as const

const writeDms = (degrees: number, axis: keyof typeof SIDES): string => {
  const [positive, negative, width] = SIDES[axis]
  const [whole, tenths] = partsOf(degrees, 36_000)
  const minutes = String(Math.floor(tenths / 600)).padStart(2, '0')
  const seconds = ((tenths % 600) / 10).toFixed(1).padStart(4, '0')
  const side = degrees < 0 ? negative : positive
  return `${String(whole).padStart(width, '0')}° ${minutes}′ ${seconds}″ ${side}`
}

const writeDdm = (degrees: number, axis: keyof typeof SIDES): string => {
  const [positive, negative, width] = SIDES[axis]
  const [whole, thousandths] = partsOf(degrees, 60_000)
  const minutes = (thousandths / 1000).toFixed(3).padStart(6, '0')
  return `${String(whole).padStart(width, '0')}° ${minutes}′ ${degrees < 0 ? negative : positive}`
}

export const notationsOf = (place: { latitude: number; longitude: number }): Notation[] => {
  const [latitude, longitude] = [place.latitude, place.longitude].map(
    (value) => Number(value.toFixed(DIGITS)) + 0,
  ) as [number, number]
  const grids = gridsOf(latitude, longitude)
  const both = (write: (degrees: number, axis: keyof typeof SIDES) => string): string =>
    `${write(latitude, 'latitude')}, ${write(longitude, 'longitude')}`
  return [
    { kind: 'decimal', value: `${latitude.toFixed(5)}, ${longitude.toFixed(5)}` },
    { kind: 'dms', value: both(writeDms) },
    { kind: 'ddm', value: both(writeDdm) },
    { kind: 'utm', value: grids?.utm ?? null },
    { kind: 'mgrs', value: grids?.mgrs ?? null },
  ]
}
