import { type LocationRow, packLocation, rowOfPacked } from '../db/queries/locations.ts'
import { ArchiveError } from '../domain/archive/tar.ts'
import { isObject, type JsonObject } from '../domain/text/json.ts'
import type { Location } from '../domain/track/location.ts'
import { readLocation } from '../locations/fastReader.ts'
import { newLocation } from '../locations/forms.ts'

/* The locations of an archive, as rows of the cell. */

const readPosition = (geometry: unknown): Pick<Location, 'latitude' | 'longitude'> => {
  const { type, coordinates } = isObject(geometry) ? geometry : {}
  if (type !== 'Point' || !Array.isArray(coordinates) || coordinates.length !== 2)
    throw new ArchiveError('the geometry of a location must be a Point of two numbers')
  return { longitude: coordinates[0], latitude: coordinates[1] }
}

/** A feature as the device that it is of, and the row that its location is stored in. */
export const readFeature = (
  feature: unknown,
  now: number,
): { deviceId: string; row: LocationRow } => {
  const { geometry, properties } = isObject(feature) ? feature : ({} as JsonObject)
  const { deviceId, receivedAt, ...members } = isObject(properties) ? properties : {}
  const sent = { ...members, ...readPosition(geometry) }
  const { dateTime, ...others } = sent as JsonObject
  const { latitude, longitude, ...rest } = others
  const ordered = { dateTime, latitude, longitude, ...rest }
  const location = readLocation(ordered, now) ?? newLocation.safeParse(ordered).data
  const arrival = Date.parse(String(receivedAt))
  if (!location || typeof deviceId !== 'string' || Number.isNaN(arrival))
    throw new ArchiveError('a location is not valid')
  return { deviceId, row: rowOfPacked(packLocation(location), arrival) }
}
