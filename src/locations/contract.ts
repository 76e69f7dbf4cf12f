import * as z from 'zod'
import { define } from '../http/contract.ts'
import { nextCursor, pageQuery } from '../http/page.ts'
import { instantInUrl, success } from '../http/wire.ts'
import { readBody } from './fastReader.ts'
import { FORMATS, MEDIA_TYPES } from './formats/formats.ts'
import { forms, inOrder, isInOrder, type LocationsBody, location } from './forms.ts'

const tag = 'Locations'
const page = z.object({ success, locations: z.array(location), nextCursor })

export const readLastLocation = define({
  id: 'readLastLocation',
  tag,
  summary: 'Read a device’s last location',
  description: 'The one with the greatest `dateTime`, whatever came last.',
  scope: 'read',
  reply: z.object({ success, lastLocation: location }),
  problems: ['not-found', 'no-location'],
  etag: true,
})

export const postLocations = define({
  id: 'postLocations',
  tag,
  summary: 'Report locations, or query them',
  description:
    'With `location`, `locations`, a bare location or a bare list it is a report (scope `ingest` or `write`): all are stored, or none. With `from` and `to` it is a query (scope `read`), answered with 200 like the `GET`.',
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
        'How many had a `dateTime` that the device has a location for already; they changed nothing.',
    }),
    locations: z
      .array(location)
      .optional()
      .meta({ description: 'The stored one, where exactly one was sent.' }),
  }),
  alternateReply: { status: 200, reply: page },
  problems: ['not-found', 'device-expired', 'invalid-cursor'],
  idempotent: ({ kind }: LocationsBody) => kind === 'report',
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
    'Ascending, both ends included, without `from` or `to` open at that end. As JSON in pages; as GeoJSON, GPX, KML or CSV (by `Accept` or `format`) whole and streamed, up to four million locations at a time.',
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
          'For GeoJSON: a point for each location with all that it has, or lines, cut at the antimeridian.',
      }),
      simplify: z.coerce
        .number('must be a number of metres')
        .positive('must be more than 0')
        .max(1_000_000, 'must be at most 1000000')
        .optional()
        .meta({
          description:
            'Leaves out locations that are nearer than this many metres to the line through the others.',
          example: 25,
        }),
    })
    .refine(isInOrder, inOrder),
  reply: page,
  formats: MEDIA_TYPES,
  problems: ['not-found', 'invalid-cursor'],
})
