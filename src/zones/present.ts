import type { Zone } from '../domain/geo/zone.ts'
import { iso } from '../domain/time/iso.ts'
import type { ZoneFeature } from './features.ts'

export const presentZone = ({ version, ...zone }: Zone) => ({
  ...zone,
  creation: iso(zone.creation),
  lastModified: iso(zone.lastModified),
})

/** A circle has no geometry of its own in GeoJSON. */
export const presentFeature = ({ id, name, description, color, shape }: Zone): ZoneFeature =>
  shape.type === 'Circle'
    ? {
        type: 'Feature',
        id,
        geometry: { type: 'Point', coordinates: shape.center },
        properties: { name, description, color, radius: shape.radius },
      }
    : { type: 'Feature', id, geometry: shape, properties: { name, description, color } }
