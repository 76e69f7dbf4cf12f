import * as z from 'zod'
import { DEFAULT_COLOR, MAX_ZONES } from '../domain/geo/zone.ts'
import { name } from '../http/contract/wire.ts'
import { polygon, polygons, position, radius } from './forms.ts'

/* Zones as GeoJSON. Exports and imports have the same geometries. */

const point = z
  .object({
    type: z.literal('Point').meta({ description: 'The center of a circle.' }),
    coordinates: position,
  })
  .meta({ id: 'PointGeometry' })
const polygonGeometry = z
  .object({
    type: z.literal('Polygon').meta({ description: 'A GeoJSON Polygon.' }),
    coordinates: polygon.meta({ description: 'The border, then its holes.' }),
  })
  .meta({ id: 'PolygonGeometry' })
const multiPolygonGeometry = z
  .object({
    type: z.literal('MultiPolygon').meta({ description: 'A GeoJSON MultiPolygon.' }),
    coordinates: polygons.meta({ description: 'Its polygons.' }),
  })
  .meta({ id: 'MultiPolygonGeometry' })

const geometry = z.discriminatedUnion('type', [point, polygonGeometry, multiPolygonGeometry]).meta({
  id: 'ZoneGeometry',
  description:
    'A `Polygon`, a `MultiPolygon`, or a `Point` with the property `radius` for a circle.',
  example: { type: 'Point', coordinates: [-9.1393, 38.7223] },
})

const type = z.literal('Feature', 'must be Feature').meta({ description: 'A GeoJSON Feature.' })
const ABOUT = {
  name: 'What people call the area.',
  radius: 'The radius of a circle, in metres.',
} as const

export const zoneFeature = z
  .object({
    type,
    id: z.string().meta({ description: 'The zone’s id.', example: 'zon_1jn7wz3h4q8v2n5t7r6m0p' }),
    geometry,
    properties: z
      .object({
        name: z.string().meta({ description: ABOUT.name, example: 'Harbour' }),
        description: z.string().meta({ description: 'A description of your own.' }),
        color: z.string().meta({ description: 'How maps draw it.', example: DEFAULT_COLOR }),
        radius: radius.optional().meta({ description: ABOUT.radius, example: 500 }),
      })
      .meta({ id: 'ZoneProperties', description: 'The other members of the zone.' }),
  })
  .meta({ id: 'ZoneFeature' })
export type ZoneFeature = z.output<typeof zoneFeature>

const newProperties = z
  .object({
    name: name.nullish().meta({ description: `${ABOUT.name} Default: its number.` }),
    description: z
      .unknown()
      .optional()
      .meta({ description: 'A description; ignored unless it is text.' }),
    color: z
      .unknown()
      .optional()
      .meta({ description: 'Such as `#2563eb`; ignored unless it is text.' }),
    radius: radius.nullish().meta({ description: ABOUT.radius, example: 500 }),
  })
  .meta({ id: 'NewZoneProperties' })

const newFeature = z
  .object({
    type,
    geometry,
    properties: newProperties.nullish().meta({
      description: 'The other members of the zone; further properties are ignored.',
      example: { name: 'Harbour', radius: 500 },
    }),
  })
  .meta({ id: 'NewZoneFeature' })

const collectionOf = <T extends z.ZodType>(feature: T) =>
  z.strictObject({
    type: z
      .literal('FeatureCollection', 'must be FeatureCollection')
      .meta({ description: 'A GeoJSON FeatureCollection.' }),
    features: z
      .array(feature, 'must be a list of features')
      .min(1, 'must not be empty')
      .max(MAX_ZONES, `must have at most ${MAX_ZONES} features`)
      .meta({ description: 'A feature for each zone.' }),
  })

export const zoneImport = collectionOf(newFeature).meta({ id: 'ZoneImport' })

/** As it is read: `readFeatures` counts the positions before it checks them. */
const looseImport = collectionOf(
  z.object({
    type,
    geometry: z.looseObject({ type: z.string('must be text') }),
    properties: z.looseObject({}).nullish(),
  }),
)
export type Feature = z.output<typeof looseImport>['features'][number]

export const readImport = (value: unknown) => looseImport.safeParse(value)
