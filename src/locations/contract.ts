import * as z from 'zod'
import { define } from '../http/contract.ts'
import { nextCursor, pageQuery } from '../http/page.ts'
import { instantInUrl, success } from '../http/wire.ts'
import { readBody } from './fastReader.ts'
import { FORMATS, MEDIA_TYPES } from './formats/formats.ts'
import { forms, isInOrder, type LocationsBody, location, OUT_OF_ORDER } from './forms.ts'

const tag = 'Locations'
const page = z.object({ success, locations: z.array(location), nextCursor })

export const readLastLocation = define({
  id: 'readLastLocation',
  tag,
  summary: 'Read a device’s last location',
  description: 'The location with the greatest `dateTime`, even if an older one arrived later.',
  scope: 'read',
  reply: z.object({ success, lastLocation: location }),
  problems: ['device-not-found', 'no-location'],
  etag: true,
})

export const postLocations = define({
  id: 'postLocations',
  tag,
  summary: 'Report locations, or query them',
  description:
    'A body with `location` or `locations`, a bare location or a bare list is a report (scope `ingest` or `write`): either all locations are stored or none. A body with `from` and `to` is a query (scope `read`); its reply is 200, like that of `GET`.',
  scope: ['ingest', 'read', 'write'],
  scopeFor: ({ kind }: LocationsBody) => (kind === 'query' ? 'read' : ['ingest', 'write']),
  body: z.union([forms.query, forms.one, forms.several, forms.bare, forms.bareList]),
  read: readBody,
  ignored: ['success', 'accepted', 'duplicates', 'nextCursor', 'receivedAt'],
  status: 201,
  reply: z.object({
    success,
    accepted: z.int(),
    duplicates: z.int().meta({
      description:
        'How many were ignored because the device already has a location with that `dateTime`.',
    }),
    locations: z
      .array(location)
      .optional()
      .meta({ description: 'The stored location, when exactly one was sent.' }),
  }),
  alternateReply: { status: 200, reply: page },
  problems: ['device-not-found', 'device-expired', 'invalid-cursor'],
  idempotent: ({ kind }: LocationsBody) => kind === 'report',
  repeatable: true,
  example: {
    location: {
      dateTime: '2026-11-14T09:30:00Z',
      latitude: 38.7223,
      longitude: -9.1393,
      speed: 12.5,
      source: 'gnss',
    },
  },
})

export const listLocations = define({
  id: 'listLocations',
  tag,
  summary: 'Read or export a device’s track',
  description:
    'In ascending order of time, both ends included. Without `from` or `to` the span is open at that end. JSON comes in pages. GeoJSON, GPX, KML and CSV, chosen by `Accept` or `format`, come as one streamed file of up to four million locations.',
  scope: 'read',
  query: z
    .strictObject({
      from: instantInUrl.optional(),
      to: instantInUrl.optional(),
      limit: pageQuery.limit.unwrap().optional(),
      cursor: pageQuery.cursor,
      format: z.enum(FORMATS, `must be one of ${FORMATS.join(', ')}`).optional(),
      geometry: z.enum(['points', 'line'], 'must be points or line').default('points').meta({
        description:
          'For GeoJSON: one point with all members for each location, or lines, which are cut at the antimeridian.',
      }),
      simplify: z.coerce
        .number('must be a number of metres')
        .positive('must be more than 0')
        .max(1_000_000, 'must be at most 1000000')
        .optional()
        .meta({
          description:
            'Leaves out locations that are less than this many metres away from the line through the others.',
          example: 25,
        }),
    })
    .refine(isInOrder, OUT_OF_ORDER),
  reply: page,
  formats: MEDIA_TYPES,
  problems: ['device-not-found', 'invalid-cursor'],
})
