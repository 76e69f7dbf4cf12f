import { MAX_ACCOUNT_VERTICES, type ZoneRecord } from '../domain/geo/zone.ts'
import { isObject } from '../domain/text/json.ts'
import { type FieldError, invalid, Problem } from '../http/contract/problem.ts'
import { fieldErrors, MAX_ERRORS } from '../http/contract/validation.ts'
import * as contract from './contract.ts'
import type { Feature } from './features.ts'

/** A feature as the body of a zone. A point is the center of a circle. */
const toBody = ({ geometry, properties }: Feature, index: number): unknown => {
  const { name, description, color, radius } = (properties ?? {}) as Record<string, unknown>
  const shape =
    geometry.type === 'Point'
      ? { type: 'Circle', center: geometry.coordinates, radius }
      : { type: geometry.type, coordinates: geometry.coordinates }
  return {
    name: name ?? `Zone ${index + 1}`,
    shape,
    ...(typeof description === 'string' && { description }),
    ...(typeof color === 'string' && { color }),
  }
}

/** Where the member of a zone comes from in its feature. */
const sourceOf = (pointer: string): string => {
  if (pointer.startsWith('/shape/radius')) return '/properties/radius'
  if (pointer.startsWith('/shape/center'))
    return pointer.replace('/shape/center', '/geometry/coordinates')
  if (pointer.startsWith('/shape')) return pointer.replace('/shape', '/geometry')
  return `/properties${pointer}`
}

/** A ring has at least three positions and repeats the first. */
const MAX_POSITIONS = Math.ceil((MAX_ACCOUNT_VERTICES * 4) / 3)
/** Polygons, rings, positions and numbers. */
const MAX_DEPTH = 4

const countPositions = (value: unknown, depth = MAX_DEPTH): number => {
  if (!Array.isArray(value) || depth === 0) return 0
  if (typeof value[0] === 'number') return 1
  return value.reduce((sum: number, each) => sum + countPositions(each, depth - 1), 0)
}

/** The zones of a FeatureCollection; throws with a pointer to each member that is not valid. */
export const readFeatures = (features: Feature[]): ZoneRecord[] => {
  // Before the rings are checked, which takes up to 50 ms for a zone.
  const positions = features.reduce(
    (sum, { geometry }) => sum + countPositions(geometry.coordinates),
    0,
  )
  if (positions > MAX_POSITIONS) throw new Problem('zone-cap-reached')
  const errors: FieldError[] = []
  const records = features.flatMap((feature, index) => {
    const body = toBody(feature, index)
    const parsed = contract.zones.create.body.safeParse(body)
    if (parsed.success) return [parsed.data]
    for (const { pointer, detail } of fieldErrors(parsed.error, isObject(body) ? body : {}, ''))
      errors.push({ pointer: `/features/${index}${sourceOf(pointer)}`, detail })
    return []
  })
  if (errors.length > 0) throw invalid(...errors.slice(0, MAX_ERRORS))
  return records
}
