import { editableRings, type Position, polygonOf, roundCoordinate, type Shape } from './shape.ts'

/* The shape of a zone as text fields. Numbers stay text until they are sent. */

export interface TypedShape {
  kind: 'Circle' | 'Polygon' | 'GeoJSON'
  latitude: string
  longitude: string
  /** Metres. */
  radius: string
  /** One corner a line: latitude, longitude. */
  corners: string
  /** For shapes with holes or several parts. */
  geoJson: string
}

export const EMPTY_SHAPE: TypedShape = {
  kind: 'Polygon',
  latitude: '',
  longitude: '',
  radius: '500',
  corners: '',
  geoJson: '',
}

const lineOf = ([x, y]: readonly number[]): string => `${y}, ${x}`

export const typedOf = (shape: Shape): TypedShape => {
  if (shape.type === 'Circle')
    return {
      ...EMPTY_SHAPE,
      kind: 'Circle',
      latitude: String(shape.center[1]),
      longitude: String(shape.center[0]),
      radius: String(shape.radius),
    }
  if (shape.type === 'MultiPolygon' || shape.coordinates.length > 1)
    return { ...EMPTY_SHAPE, kind: 'GeoJSON', geoJson: JSON.stringify(shape) }
  const corners = (shape.coordinates[0] ?? []).slice(0, -1).map(lineOf).join('\n')
  return { ...EMPTY_SHAPE, kind: 'Polygon', corners }
}

/** A number of a text field; NaN for anything else. */
const numberOf = (typed: string): number => (typed.trim() === '' ? Number.NaN : Number(typed))

export type Parsed = { shape: Shape } | { fault: TypedFault; line?: number }
export type TypedFault = 'center' | 'radius' | 'corner' | 'few' | 'json'

const readCorners = (typed: string): Position[] | { fault: 'corner'; line: number } => {
  const corners: Position[] = []
  for (const [at, line] of typed.split('\n').entries()) {
    if (line.trim() === '') continue
    const [y, x, ...rest] = line
      .trim()
      .split(/[,;\s]+/)
      .map(Number)
    const isPlace = rest.length === 0 && Number.isFinite(x) && Number.isFinite(y)
    if (!isPlace) return { fault: 'corner', line: at + 1 }
    corners.push([x as number, y as number])
  }
  // The last corner may repeat the first, as in GeoJSON.
  const [first, last] = [corners[0], corners.at(-1)]
  const isClosed = corners.length > 1 && first?.[0] === last?.[0] && first?.[1] === last?.[1]
  return isClosed ? corners.slice(0, -1) : corners
}

const readGeoJson = (typed: string): Parsed => {
  try {
    const shape = JSON.parse(typed) as Shape
    if (shape.type === 'Polygon' || shape.type === 'MultiPolygon') {
      // Throws for coordinates that are no lists of lists.
      const numbers = editableRings(shape).flat(2)
      if (numbers.length > 0 && numbers.every(Number.isFinite)) return { shape }
    }
  } catch {
    // Shown beside the field.
  }
  return { fault: 'json' }
}

/** What is typed as a shape, or what is missing. The service checks the rest. */
export const parseShape = (typed: TypedShape): Parsed => {
  if (typed.kind === 'GeoJSON') return readGeoJson(typed.geoJson)
  if (typed.kind === 'Circle') {
    const center = [numberOf(typed.longitude), numberOf(typed.latitude)]
    if (!center.every(Number.isFinite)) return { fault: 'center' }
    const radius = numberOf(typed.radius)
    return Number.isFinite(radius)
      ? { shape: { type: 'Circle', center, radius } }
      : { fault: 'radius' }
  }
  const corners = readCorners(typed.corners)
  if ('fault' in corners) return corners
  return corners.length < 3 ? { fault: 'few' } : { shape: polygonOf(corners.map(rounded)) }
}

const rounded = ([x, y]: Position): Position => [roundCoordinate(x), roundCoordinate(y)]
