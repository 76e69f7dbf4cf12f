import type { ZoneShape } from '../domain/geo/zone.ts'
import { isObject, type JsonObject } from '../domain/text/json.ts'

/* Zones as features of GeoJSON, where a circle is its center with a radius. */

export const zoneFeature = ({ id, shape, ...properties }: JsonObject): JsonObject => {
  const area = shape as ZoneShape
  const isCircle = area.type === 'Circle'
  return {
    type: 'Feature',
    id,
    geometry: isCircle ? { type: 'Point', coordinates: area.center } : area,
    properties: { ...properties, ...(isCircle && { radius: area.radius }) },
  }
}

/** The line that the feature was made of. What is no feature is returned as it is. */
export const zoneOf = (feature: unknown): unknown => {
  if (!isObject(feature) || !isObject(feature.geometry) || !isObject(feature.properties))
    return feature
  const { id, geometry } = feature
  const { radius, ...members } = feature.properties
  const shape =
    geometry.type === 'Point' ? { type: 'Circle', center: geometry.coordinates, radius } : geometry
  return { id, ...members, shape }
}
