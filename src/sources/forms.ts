import * as z from 'zod'
import { MAX_PUSH_BYTES, SOURCE_PROVIDERS, type SourceProvider } from '../domain/account/source.ts'
import { atMostOne, line } from '../http/contract/wire.ts'
import { location } from '../locations/forms.ts'
import { GARMIN_HOSTS, MAX_KEY_BYTES, SPEED_UNITS, type SpeedUnit, settingsOf } from './settings.ts'

/* The parts of the contract that sources, pushes and pasted payloads share. */

export const provider = z
  .enum(SOURCE_PROVIDERS, `must be one of ${SOURCE_PROVIDERS.join(', ')}`)
  .meta({ description: 'The network or program that sends.', example: 'garmin' })

const SPEED_UNIT_NAMES = Object.keys(SPEED_UNITS) as SpeedUnit[]
const TOO_LONG_KEY = `must have at most ${MAX_KEY_BYTES} bytes`

const SETTINGS = {
  host: 'The host of Garmin IPC Inbound, for commands.',
  apiKey: 'The key of Garmin IPC Inbound, version 2. Write-only.',
  userName: 'The user name of Garmin IPC Inbound, version 1, or of RockBLOCK.',
  password: 'The password of that user. Write-only.',
  sender: 'The e-mail address or phone number that Garmin shows as the sender of commands.',
  requireJwt: 'Refuse pushes of RockBLOCK and Rock 7 that are not signed.',
  speedUnit:
    'The unit of `speed` in the address that the app of `osmand` calls: `kn` for Traccar Client, `m/s` for OsmAnd, GPSLogger and Locus. Knots where it is not set. Positions sent as JSON are always in m/s.',
  encryptionKey:
    'The key with which OwnTracks encrypts. With it, messages that are not encrypted are refused. Write-only.',
} as const

/** OwnTracks counts the key's bytes, not its characters. */
const encryptionKey = z
  .string('must be text')
  .max(MAX_KEY_BYTES, TOO_LONG_KEY)
  .refine((key) => new TextEncoder().encode(key).byteLength <= MAX_KEY_BYTES, TOO_LONG_KEY)

const fields = {
  host: z
    .enum(GARMIN_HOSTS, `must be one of ${GARMIN_HOSTS.join(', ')}`)
    .optional()
    .meta({
      description: SETTINGS.host,
    }),
  apiKey: line(500).optional().meta({ description: SETTINGS.apiKey }),
  userName: line(200).optional().meta({ description: SETTINGS.userName }),
  password: line(500).optional().meta({ description: SETTINGS.password }),
  sender: line(200).optional().meta({ description: SETTINGS.sender }),
  requireJwt: z.boolean('must be true or false').optional().meta({
    description: SETTINGS.requireJwt,
  }),
  speedUnit: z
    .enum(SPEED_UNIT_NAMES, `must be one of ${SPEED_UNIT_NAMES.join(', ')}`)
    .optional()
    .meta({ description: SETTINGS.speedUnit }),
  encryptionKey: encryptionKey.optional().meta({ description: SETTINGS.encryptionKey }),
}

export const settings = z.strictObject(fields).prefault({}).meta({
  description: 'Settings of the provider. Each provider takes only its own.',
})

const shownFields = Object.entries(fields).map(([setting, field]) => [
  setting,
  field.nullable().meta({ description: field.description }),
])
/** As replies have them. */
export const shownSettings = z.object(Object.fromEntries(shownFields)).meta({
  description: 'Settings of the provider: null where one is not set, and always for secrets.',
  example: {},
}) as unknown as z.ZodType<Record<string, unknown>>

/** Refuses settings that the named provider does not have. */
export const checkSettings = (
  given: { provider: SourceProvider; settings: object },
  context: z.RefinementCtx,
): void => {
  for (const setting of Object.keys(given.settings))
    if (!settingsOf(given.provider).includes(setting))
      context.addIssue({
        code: 'custom',
        path: ['settings', setting],
        message: `is not a setting of ${given.provider}: leave it out`,
      })
}

const TOO_LARGE = `must be at most ${MAX_PUSH_BYTES / 1024} KiB large`
/** Base64 needs four characters for three bytes. */
const MAX_BASE64_LENGTH = Math.ceil(MAX_PUSH_BYTES / 3) * 4

const query = z.union(
  [line(8192), z.record(line(256), line(8192)).meta({ title: 'PushQuery' })],
  'must be text or an object of texts',
)

export const pastedPush = z
  .strictObject({
    provider,
    settings,
    contentType: line(200).optional().meta({
      description: 'The `Content-Type` of the push.',
      example: 'application/json',
    }),
    query: query.optional().meta({
      description: 'The query of the push, as text without `?` or as an object.',
      example: 'id=123456&lat=60.0&lon=30.0',
    }),
    headers: z
      .record(line(256), line(8192), 'must be an object of texts')
      .optional()
      .meta({ description: 'Further headers of the push.', example: {} }),
    body: z
      .string('must be text')
      .max(MAX_PUSH_BYTES, TOO_LARGE)
      .optional()
      .meta({ description: 'The body, as text.' }),
    bodyBase64: z
      .string('must be text')
      .max(MAX_BASE64_LENGTH, TOO_LARGE)
      .regex(/^[A-Za-z0-9+/]*={0,2}$/, 'must be base64')
      .optional()
      .meta({ description: 'The body in base64, instead of `body`.' }),
  })
  .refine(({ body, bodyBase64 }) => body === undefined || bodyBase64 === undefined, {
    path: ['bodyBase64'],
    error: 'must be left out where body is given',
  })
  .superRefine(checkSettings)
  .meta({ id: 'PastedPush', override: atMostOne('body', 'bodyBase64') })
export type PastedPush = z.output<typeof pastedPush>

export const sourceItem = z
  .object({
    kind: z.enum(['location', 'alert', 'cancel', 'message', 'none']).meta({
      description:
        'What it becomes: a location, an alert, the cancellation of one, a message of the device, or only a sign of life.',
    }),
    identifier: z
      .string()
      .meta({ description: 'How the network names the device.', example: '300434060000000' }),
    location: location
      .omit({ receivedAt: true })
      .optional()
      .meta({ description: 'The location, of an item of this kind.' }),
    dateTime: location.shape.dateTime
      .optional()
      .meta({ description: 'When it was sent, of an alert, a cancellation or a message.' }),
    latitude: z
      .number()
      .nullable()
      .optional()
      .meta({ description: 'Where the alert was raised; null where the push does not say.' }),
    longitude: z.number().nullable().optional().meta({ description: 'See `latitude`.' }),
    alertName: z
      .string()
      .optional()
      .meta({ description: 'The name of the alert.', example: 'SOSButton' }),
    text: z.string().optional().meta({ description: 'The text of the alert or message.' }),
    format: z
      .enum(['Text', 'Hex'])
      .optional()
      .meta({ description: '`Hex` for a message whose bytes are not text.' }),
    key: z.string().meta({
      description: 'The same when the network repeats the item, so that it is stored once.',
    }),
  })
  .meta({ id: 'SourceItem' })

export const providerReply = z
  .object({
    status: z.int().meta({ description: 'The status.', example: 200 }),
    contentType: z
      .string()
      .nullable()
      .meta({ description: 'The media type; null for a reply without a body.' }),
    body: z.string().meta({ description: 'The body.', example: '' }),
  })
  .meta({ description: 'What the provider would be answered.' })
