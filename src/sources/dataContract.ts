import * as z from 'zod'
import { device, deviceBody } from '../devices/forms.ts'
import { QUARANTINE_REASONS } from '../domain/account/source.ts'
import { define } from '../http/contract/contract.ts'
import { done, exactlyOne, id, instant, line, success, time } from '../http/contract/wire.ts'
import { nextCursor, pageQuery } from '../http/paging/page.ts'
import { isInOrder, OUT_OF_ORDER } from '../http/paging/rangeQuery.ts'
import { location } from '../locations/forms.ts'

/* What sources hold: unclaimed identifiers, failed payloads, and the quarantine of a device. */

const common = { tag: 'Sources', scope: 'admin', wholeAccount: true } as const
const query = z.strictObject(pageQuery)
const reported = location.omit({ receivedAt: true })

export const listUnclaimed = define({
  id: 'listUnclaimed',
  ...common,
  summary: 'List unclaimed identifiers',
  description:
    'Identifiers that the source has reported and that no device has. They wait for 30 days: at most 1,000 of a source, each with its newest 100 reports.',
  query,
  reply: z.object({
    success,
    unclaimed: z
      .array(
        z.object({
          identifier: z.string().meta({
            description: 'How the network names the device.',
            example: '300434060000000',
          }),
          count: z.int().meta({ description: 'How many reports wait.', example: 3 }),
          firstReceived: time.meta({ description: 'When the first report arrived.' }),
          lastReceived: time.meta({ description: 'When the last report arrived.' }),
          lastLocation: reported
            .nullable()
            .meta({ description: 'The last location among them; null without any.' }),
        }),
      )
      .meta({ description: 'The identifiers, in order.' }),
    dropped: z
      .int()
      .meta({ description: 'How many reports of the source did not fit.', example: 0 }),
    nextCursor,
  }),
  problems: ['source-not-found'],
})

export const claimIdentifier = define({
  id: 'claimIdentifier',
  ...common,
  summary: 'Claim an identifier',
  ignoresStorage: true,
  description:
    'Gives the identifier to an existing device (`deviceId`) or to a new one (`device`), which takes a license, and moves the waiting reports to it. Alerts among them that are older than an hour are stored as `late` and sent to nobody. `pending` says how many reports are still to be moved; that happens by itself.',
  body: z
    .strictObject({
      deviceId: line(64).optional().meta({ description: 'A device of the account.' }),
      device: z
        .strictObject(deviceBody.shape)
        .optional()
        .meta({ description: 'A new device. Its `identifier` is the one that is claimed.' }),
    })
    .refine(({ deviceId, device: made }) => (deviceId === undefined) !== (made === undefined), {
      path: ['deviceId'],
      error: 'must be given, or device, and not both',
    })
    .meta({ override: exactlyOne('deviceId', 'device') }),
  reply: z.object({
    success,
    device,
    imported: z.int().meta({ description: 'How many reports were moved.', example: 3 }),
    pending: z.int().meta({ description: 'How many are still to be moved.', example: 0 }),
  }),
  problems: [
    'source-not-found',
    'identifier-not-found',
    'device-not-found',
    'identifier-taken',
    'no-license-available',
    'device-deleted',
    'device-cap-reached',
  ],
  idempotent: true,
  example: { device: { name: 'Tern 7' } },
})

export const discardIdentifier = define({
  id: 'discardIdentifier',
  ...common,
  summary: 'Discard an unclaimed identifier',
  description: 'Deletes its reports. When it reports again, it is listed again.',
  reply: done,
  problems: ['source-not-found', 'identifier-not-found'],
})

export const listFailures = define({
  id: 'listFailures',
  ...common,
  summary: 'List failed payloads',
  description:
    'Payloads that could not be understood, or not completely, the newest first. Kept for 7 days.',
  query,
  reply: z.object({
    success,
    failures: z
      .array(
        z.object({
          id: id('pay').meta({ description: 'The payload’s id.' }),
          receivedAt: time.meta({ description: 'When it arrived.' }),
          reason: z.string().meta({
            description: 'What could not be understood.',
            example: 'The body is not well-formed JSON.',
          }),
          size: z.int().meta({ description: 'Its size in bytes.', example: 512 }),
        }),
      )
      .meta({ description: 'The failed payloads.' }),
    nextCursor,
  }),
  problems: ['source-not-found'],
})

export const readRawPayload = define({
  id: 'readRawPayload',
  ...common,
  summary: 'Read a failed payload',
  description: 'In the form that `POST /api/sources/decode` takes.',
  reply: z.object({
    success,
    contentType: z.string().meta({ description: 'The media type.', example: 'application/json' }),
    query: z.string().meta({ description: 'The query, without `?`.', example: '' }),
    headers: z
      .record(z.string(), z.string())
      .meta({ description: 'The headers that the decoder reads.', example: {} }),
    bodyBase64: z
      .string()
      .nullable()
      .meta({ description: 'The body in base64; null when it was larger than 64 KiB.' }),
  }),
  problems: ['source-not-found', 'payload-not-found'],
})

export const replayPayloads = define({
  id: 'replayPayloads',
  ...common,
  summary: 'Decode stored payloads again',
  description:
    'Decodes the stored payloads that arrived in the span and stores what they become. What is stored already is not stored twice. At most 1,000 payloads in one call.',
  body: z
    .strictObject({
      from: instant.meta({ description: 'The beginning of the span, included.' }),
      to: instant.meta({ description: 'The end of the span, included.' }),
    })
    .refine(isInOrder, OUT_OF_ORDER),
  reply: z.object({
    success,
    decoded: z.int().meta({ description: 'How many were understood completely.', example: 2 }),
    failed: z.int().meta({ description: 'How many still are not.', example: 0 }),
  }),
  problems: ['source-not-found', 'span-too-large', 'storage-full', 'daily-locations-reached'],
  idempotent: true,
})

export const listQuarantine = define({
  id: 'listQuarantine',
  tag: 'Sources',
  summary: 'List a device’s quarantine',
  description:
    'Locations that a source reported and that cannot be true, the newest first. They are kept for 30 days, at most 1,000 of a device. Three in a row that agree with each other are released by themselves.',
  scope: 'read',
  query,
  reply: z.object({
    success,
    quarantine: z
      .array(
        z.object({
          id: id('qua').meta({ description: 'The entry’s id.' }),
          reason: z.enum(QUARANTINE_REASONS).meta({
            description:
              'Coordinates of 0, 0; a speed above the device’s `maxSpeed`; or a clock that is more than a day off.',
            example: 'speed',
          }),
          location: reported.meta({ description: 'The location.' }),
          receivedAt: time.meta({ description: 'When it arrived.' }),
        }),
      )
      .meta({ description: 'The locations in quarantine.' }),
    nextCursor,
  }),
  problems: ['device-not-found'],
})

const ids = z
  .array(line(64), 'must be a list of ids')
  .min(1, 'must not be empty')
  .max(1000, 'must have at most 1000 ids')
  .meta({ description: 'Entries of the quarantine. Unknown ones are ignored.', example: ['qua_…'] })

export const releaseQuarantine = define({
  id: 'releaseQuarantine',
  tag: 'Sources',
  summary: 'Release locations from quarantine',
  ignoresStorage: true,
  description:
    'Moves them to the device’s track with the time at which they arrived. One whose `dateTime` is taken meanwhile, which is older than the account keeps locations or whose device has expired stays and is in `conflicts`.',
  scope: 'write',
  body: z.strictObject({ ids }),
  reply: z.object({
    success,
    released: z.int().meta({ description: 'How many are in the track now.', example: 1 }),
    conflicts: z
      .array(z.string())
      .meta({ description: 'The ids of those that stay.', example: [] }),
  }),
  problems: ['device-not-found'],
  idempotent: true,
})

export const discardQuarantine = define({
  id: 'discardQuarantine',
  tag: 'Sources',
  summary: 'Discard locations in quarantine',
  ignoresStorage: true,
  scope: 'write',
  body: z.strictObject({ ids }),
  reply: z.object({
    success,
    discarded: z.int().meta({ description: 'How many were deleted.', example: 1 }),
  }),
  problems: ['device-not-found'],
  idempotent: true,
})
