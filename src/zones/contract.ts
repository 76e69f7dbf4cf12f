import * as z from 'zod'
import { DEFAULT_COLOR, MAX_ACCOUNT_VERTICES, MAX_ZONES } from '../domain/geo/zone.ts'
import { define } from '../http/contract/contract.ts'
import { id, line, name, success, time } from '../http/contract/wire.ts'
import { resource } from '../http/resource/contract.ts'
import { readImport, zoneFeature, zoneImport } from './features.ts'
import { shape } from './forms.ts'

const color = z
  .string('must be a color')
  .regex(/^#[0-9a-fA-F]{6}$/, 'must be a color such as #2563eb')
  .transform((text) => text.toLowerCase())

const zoneBody = z
  .strictObject({
    name: name.meta({ description: 'What people call the area.', example: 'Harbour' }),
    description: line(2000).default('').meta({ description: 'A description of your own.' }),
    color: color
      .default(DEFAULT_COLOR)
      .meta({ description: 'How maps draw it.', example: DEFAULT_COLOR }),
    shape,
  })
  .meta({ id: 'ZoneBody' })

export const zone = z
  .object({
    id: id('zon').meta({ description: 'The zone’s id.' }),
    name: z.string().meta({ description: 'What people call the area.', example: 'Harbour' }),
    description: z.string().meta({ description: 'A description of your own.' }),
    color: z.string().meta({ description: 'How maps draw it.', example: DEFAULT_COLOR }),
    shape,
    creation: time.meta({ description: 'When the zone was created.' }),
    lastModified: time.meta({ description: 'When it was last changed.' }),
  })
  .meta({ id: 'Zone' })

const common = { tag: 'Zones', wholeAccount: true } as const
const LIMITS = `An account can have ${MAX_ZONES.toLocaleString('en')} zones with ${MAX_ACCOUNT_VERTICES.toLocaleString('en')} positions in all.`

export const zones = resource({
  name: 'zone',
  tag: 'Zones',
  reading: { scope: 'read', wholeAccount: true },
  writing: { scope: 'write', wholeAccount: true },
  schema: zone,
  body: zoneBody,
  list: { description: 'In the order in which they were created.' },
  create: { description: LIMITS, problems: ['zone-cap-reached'] },
  edit: { problems: ['zone-cap-reached'] },
  replace: {
    description:
      'Rules use the new shape from the next report on; what happened before raises no alert.',
  },
  patch: { example: { name: 'Old harbour' } },
  remove: {
    description: 'A zone that a rule names is not deleted.',
    problems: ['zone-in-use'],
  },
})

export const exportZones = define({
  id: 'exportZones',
  ...common,
  summary: 'Export all zones as GeoJSON',
  description:
    'One FeatureCollection. A circle is a `Point` with the property `radius`, in metres. `POST` of the same path takes the same.',
  scope: 'read',
  reply: z
    .object({
      success,
      type: z.literal('FeatureCollection').meta({ description: 'A GeoJSON FeatureCollection.' }),
      features: z.array(zoneFeature).meta({ description: 'A GeoJSON Feature for each zone.' }),
    })
    .meta({ id: 'ZoneCollection' }),
})

export const importZones = define({
  id: 'importZones',
  ...common,
  summary: 'Import zones from GeoJSON',
  description: `Creates a zone for each feature of a FeatureCollection, or none when one of them is not valid. The ids of features are ignored: zones that exist stay as they are. ${LIMITS}`,
  scope: 'write',
  body: zoneImport,
  read: readImport,
  ignored: ['success', 'id', 'name', 'crs', 'bbox'],
  status: 201,
  reply: z
    .object({ success, zones: z.array(zone).meta({ description: 'The new zones.' }) })
    .meta({ id: 'ImportedZones' }),
  problems: ['zone-cap-reached'],
  idempotent: true,
})
