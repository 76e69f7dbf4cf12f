import * as z from 'zod'
import { extraCostOfLocations } from '../domain/account/requestCost.ts'
import {
  MAX_REJECTIONS,
  MAX_SPAN_LOCATIONS,
  MIXED_REJECTIONS,
  REJECTIONS,
} from '../domain/track/location.ts'
import { define } from '../http/contract/contract.ts'
import { instantInUrl, success } from '../http/contract/wire.ts'
import { nextCursor, pageQuery } from '../http/paging/page.ts'
import { isInOrder, OUT_OF_ORDER } from '../http/paging/rangeQuery.ts'
import { readMixedBody } from './addressedReader.ts'
import { readBody } from './fastReader.ts'
import { FORMATS, MEDIA_TYPES } from './formats/formats.ts'
import {
  type AddressedLocation,
  addressedForm,
  forms,
  type LocationsBody,
  location,
} from './forms.ts'

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
  purpose: 'intake',
  tag,
  summary: 'Report locations, or query them',
  ignoresStorage: true,
  description: `A body with \`location\` or \`locations\`, a bare location or a bare list is a report (scope \`ingest\` or \`write\`). One invalid location refuses the whole report. The device keeps one location for each \`dateTime\`, and none older than the account’s \`retentionDays\`: the reply counts what was not accepted. A location with one of the account’s \`emergencyAlerts\` in \`alerts\`, or with \`hasCriticalAlert: true\` (\`CriticalAlert\`), raises an alert at its place, once for each name and report; a repeat raises nothing more. A 503 means that an emergency may not be raised yet: send the report again.

A body with \`from\`, \`to\` or both, and without a location, is a query (scope \`read\`); its reply is 200, in ascending order of time, both ends included. Without \`limit\` and \`cursor\` it has the whole span, streamed, of at most ${MAX_SPAN_LOCATIONS.toLocaleString('en')} locations; a failure while it is sent aborts the reply, which then is not complete JSON. An account may have three long exports and queries running at a time; a fourth is a 429. With \`limit\` or \`cursor\` it has one page.

The status tells the two replies apart: 201 has \`accepted\`, 200 has \`nextCursor\`. \`GET\` of the same path is the query with one kind of reply.`,
  scope: ['ingest', 'read', 'write'],
  scopeFor: ({ kind }: LocationsBody) => (kind === 'query' ? 'read' : ['ingest', 'write']),
  body: z.union([forms.one, forms.several, forms.bare, forms.bareList, forms.since, forms.until]),
  read: readBody,
  ignored: [
    'success',
    'accepted',
    'duplicates',
    'conflicts',
    'tooOld',
    'results',
    'nextCursor',
    'receivedAt',
  ],
  extraCost: (body: LocationsBody) =>
    body.kind === 'report' ? extraCostOfLocations(body.locations.length) : 0,
  status: 201,
  reply: z.object({
    success,
    accepted: z.int().meta({
      description:
        'How many are new and stored. The four counts add up to the number of locations sent.',
      example: 1,
    }),
    duplicates: z.int().meta({
      description: 'How many the device already has, with the same values.',
    }),
    conflicts: z.int().meta({
      description:
        'How many have the `dateTime` of another location of the device, with other values. The stored one stands.',
    }),
    tooOld: z.int().meta({
      description:
        'How many were not stored because they are older than the account’s `retentionDays`.',
    }),
    results: z
      .array(
        z.object({
          index: z.int().meta({ description: 'The position in the report, from 0.' }),
          status: z.enum(REJECTIONS),
        }),
      )
      .optional()
      .meta({
        description: `The locations that were not accepted, at most the first ${MAX_REJECTIONS}. Absent when all were.`,
      }),
    locations: z
      .array(location)
      .optional()
      .meta({ description: 'The stored location, when exactly one was sent.' }),
  }),
  alternateReply: { status: 200, reply: page },
  problems: [
    'device-not-found',
    'device-expired',
    'report-too-old',
    'storage-full',
    'daily-locations-reached',
    'invalid-cursor',
    'span-too-large',
  ],
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
    'In order of time, both ends included. Without `from` or `to` the span is open at that end. JSON comes in pages. GeoJSON, GPX, KML and CSV, chosen by `Accept` or `format`, come as one streamed file of up to four million locations. An account may have three long exports and queries running at a time; a fourth is a 429.',
  scope: 'read',
  query: z
    .strictObject({
      from: instantInUrl.optional(),
      to: instantInUrl.optional(),
      limit: pageQuery.limit.unwrap().optional(),
      cursor: pageQuery.cursor,
      order: z.enum(['asc', 'desc'], 'must be asc or desc').default('asc').meta({
        description:
          'The oldest first, or the newest first. `desc` is only for JSON without `simplify`.',
      }),
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

const count = (description: string, example = 0) => z.int().meta({ description, example })

export const reportLocations = define({
  id: 'reportLocations',
  purpose: 'intake',
  tag,
  summary: 'Report locations of many devices',
  ignoresStorage: true,
  description:
    'Each location names its device by `deviceId` or by `identifier` (IMEI, ESN or serial number). One malformed location refuses the whole call; otherwise the reply says for each what was not accepted. A repeat changes nothing.',
  scope: ['ingest', 'write'],
  body: addressedForm,
  read: readMixedBody,
  ignored: ['accepted', 'duplicates', 'conflicts', 'tooOld', 'unknown', 'refused', 'results'],
  extraCost: ({ locations }: { locations: AddressedLocation[] }) =>
    extraCostOfLocations(locations.length),
  reply: z.object({
    success,
    accepted: count(
      'How many are new and stored. The six counts add up to the number of locations sent.',
      1,
    ),
    duplicates: count('How many their device already has, with the same values.'),
    conflicts: count(
      'How many have the `dateTime` of another location of their device, with other values. The stored one stands.',
    ),
    tooOld: count('How many are older than the account’s `retentionDays`, and not stored.'),
    unknown: count(
      'How many are of a device that the account, or the token’s group, does not have.',
    ),
    refused: count('How many are of an expired device, and not stored.'),
    results: z
      .array(
        z.object({
          index: z.int().meta({ description: 'The position in the report, from 0.', example: 1 }),
          status: z.enum(MIXED_REJECTIONS).meta({
            description: 'Why the location was not accepted.',
            example: 'unknown',
          }),
          code: z.enum(['device-not-found', 'device-expired']).optional().meta({
            description: 'The problem that a report for this device alone would get.',
            example: 'device-not-found',
          }),
        }),
      )
      .meta({ description: 'All locations that were not accepted.' }),
  }),
  problems: ['storage-full', 'daily-locations-reached'],
  idempotent: true,
  repeatable: true,
  example: {
    locations: [
      {
        identifier: '300434060000000',
        dateTime: '2026-11-14T09:30:00Z',
        latitude: 38.7223,
        longitude: -9.1393,
      },
    ],
  },
})
