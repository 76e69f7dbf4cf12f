import * as z from 'zod'
import {
  countVertices,
  MAX_RADIUS_METRES,
  MAX_ZONE_VERTICES,
  type ZoneShape,
} from '../domain/geo/zone.ts'
import { findShapeFault, MIN_POSITIONS } from '../domain/geo/zoneValidity.ts'

const number = (min: number, max: number) =>
  z
    .number('must be a number')
    .min(min, `must be at least ${min}`)
    .max(max, `must be at most ${max}`)
    .overwrite((value) => value + 0)

/** Beyond 180 a ring may go on across the antimeridian. */
const MAX_LONGITUDE = 360
/** GeoJSON allows an altitude, which a zone does not have. */
const MAX_NUMBERS = 3
const LATITUDE = 'must be between -90 and 90'

export const position = z
  .array(number(-100_000, 100_000), 'must be a position: [longitude, latitude]')
  .min(2, 'must be a position: [longitude, latitude]')
  .max(MAX_NUMBERS, 'must be a position: [longitude, latitude]')
  .superRefine(([x = 0, y = 0], context) => {
    if (Math.abs(x) > MAX_LONGITUDE)
      context.addIssue({ code: 'custom', path: [0], message: 'must be between -360 and 360' })
    if (Math.abs(y) > 90) context.addIssue({ code: 'custom', path: [1], message: LATITUDE })
  })
  .overwrite((given) => given.slice(0, 2))
  .meta({ description: '`[longitude, latitude]` in degrees, WGS 84.', example: [-9.1393, 38.7223] })

/** A ring has at least three positions and repeats the first. */
const MAX_RINGS = Math.floor(MAX_ZONE_VERTICES / 3)
const TOO_MANY = `must have at most ${MAX_ZONE_VERTICES} positions in all`

// The least lengths are for the document: `findShapeFault` checks them.
const ring = z
  .array(position, 'must be a list of positions')
  .max(MAX_ZONE_VERTICES + 1, TOO_MANY)
  .meta({ minItems: MIN_POSITIONS })
export const polygon = z
  .array(ring, 'must be a list of rings')
  .max(MAX_RINGS, TOO_MANY)
  .meta({ minItems: 1 })
export const polygons = z
  .array(polygon, 'must be a list of polygons')
  .max(MAX_RINGS, TOO_MANY)
  .meta({ minItems: 1 })

export const radius = number(1, MAX_RADIUS_METRES).meta({ description: 'Metres.', example: 500 })

const circle = z
  .strictObject({
    type: z.literal('Circle').meta({ description: 'A circle.' }),
    center: position.meta({ description: 'The center: `[longitude, latitude]`.' }),
    radius,
  })
  .meta({ id: 'CircleShape' })

const polygonShape = z
  .strictObject({
    type: z.literal('Polygon').meta({ description: 'A GeoJSON Polygon.' }),
    coordinates: polygon.meta({
      description: 'The border, then its holes. Each ring is closed and does not cross itself.',
    }),
  })
  .meta({ id: 'PolygonShape' })

const multiPolygonShape = z
  .strictObject({
    type: z.literal('MultiPolygon').meta({ description: 'A GeoJSON MultiPolygon.' }),
    coordinates: polygons.meta({ description: 'Polygons that do not cross each other.' }),
  })
  .meta({ id: 'MultiPolygonShape' })

/** What is wrong with a shape that has the right members; null when nothing is. */
export const checkShape = (shape: ZoneShape) =>
  countVertices(shape) > MAX_ZONE_VERTICES ? { path: [], detail: TOO_MANY } : findShapeFault(shape)

/** Replies have the shape as requests do: of the same components. */
export const shape = z
  .discriminatedUnion('type', [circle, polygonShape, multiPolygonShape], {
    error: 'must be a Circle, a Polygon or a MultiPolygon',
  })
  .superRefine((given, context) => {
    const fault = checkShape(given as ZoneShape)
    if (fault) context.addIssue({ code: 'custom', path: fault.path, message: fault.detail })
  })
  .meta({
    id: 'ZoneShape',
    description: `A circle, or a GeoJSON Polygon or MultiPolygon of at most ${MAX_ZONE_VERTICES} positions. Edges are straight in longitude and latitude and take the shorter way around the earth. A ring around the earth encloses the nearer pole.`,
    example: { type: 'Circle', center: [-9.1393, 38.7223], radius: 500 },
  }) as unknown as z.ZodType<ZoneShape, ZoneShape>
