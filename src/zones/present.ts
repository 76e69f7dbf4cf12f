import type { Zone } from '../domain/geo/zone.ts'
import { iso } from '../domain/time/iso.ts'

export const presentZone = (zone: Zone) => {
  const { id, name, description, color, shape, creation, lastModified } = zone
  return {
    id,
    name,
    description,
    color,
    shape,
    creation: iso(creation),
    lastModified: iso(lastModified),
  }
}

/** A circle has no geometry of its own in GeoJSON. */
export const presentFeature = ({ id, name, description, color, shape }: Zone) =>
  shape.type === 'Circle'
    ? {
        type: 'Feature',
        id,
        geometry: { type: 'Point', coordinates: shape.center },
        properties: { name, description, color, radius: shape.radius },
      }
    : { type: 'Feature', id, geometry: shape, properties: { name, description, color } }
