import * as z from 'zod'
import { toHttpUrl } from '../domain/output/mqtt.ts'
import { OUTPUT_FORMATS, type OutputFormat, SETTINGS_OF } from '../domain/output/output.ts'
import { checkPublicUrl } from '../domain/text/publicUrl.ts'
import { line } from '../http/contract/wire.ts'

/* The formats of webhooks and their settings. */

export const ABOUT_FORMAT =
  'What the receiver gets. `json`: our events, signed. `cot`: Cursor on Target, for TAK. `earthranger`: positions for its sensor API. `gundi`: observations. `mqtt`: JSON, published with QoS 1 by MQTT 3.1.1 over a WebSocket, which is opened for each delivery. `naf`: position reports of vessels (VMS), without alerts, and nothing from a sandbox; the tags `callSign`, `internalReference`, `externalMarking` and `flag` of a device are its fields RC, IR, XR and FS, and whoever may change a device may set them. `traccar`: what Traccar forwards. All but `json` get the newest location of each report, and alerts with a position; an emergency is sent again with each new place (`alert.updated`, where `events` has it). Alerts do not wait behind locations, nor emergencies behind other alerts. Locations that the receiver refuses (4xx) are not repeated, alerts are for three days; a record that a broker of `mqtt` does not confirm, while it confirms others, is given up after four attempts. From a sandbox, names of devices and alerts begin with `[Sandbox]`, and `json` has `sandbox`: true beside `events`.'

/** Allows loopback, as `publicUrl` does, and the address of a WebSocket. */
export const receiverUrl = z
  .string('must be a URL')
  .superRefine((text, context) => {
    const check = checkPublicUrl(toHttpUrl(text), true)
    if (!check.ok) context.addIssue({ code: 'custom', message: check.detail })
  })
  .meta({ format: 'uri' })

const MAX_STALE_MINUTES = 10_080
const WHOLE = `must be a whole number from 1 to ${MAX_STALE_MINUTES}`
const partyCode = line(3).regex(/^[A-Z0-9]{3}$/, 'must be three capital letters or digits')

const settings = z.strictObject({
  token: line(4096)
    .regex(/^[\x21-\x7e]*$/, 'must be visible ASCII characters')
    .nullish()
    .meta({
      description:
        'Write-only, always null in replies: the bearer token of the receiver, the `apikey` of `gundi`, or the password of `mqtt`. If left out or null, it stays unchanged; an empty text removes it. Another `format` or host removes it as well.',
      example: null,
    }),
  cotType: line(64)
    .regex(/^[A-Za-z0-9-]+$/, 'must be a type, such as a-f-S')
    .nullish()
    .meta({ description: 'The type of positions in `cot`, by default `a-f-G`.', example: 'a-f-S' }),
  staleMinutes: z
    .int(WHOLE)
    .min(1, WHOLE)
    .max(MAX_STALE_MINUTES, WHOLE)
    .nullish()
    .meta({ description: 'How long a position in `cot` is valid, by default 60.', example: 60 }),
  subjectType: line(64).nullish().meta({
    description: 'What the devices are to `earthranger` or `gundi`, such as `ranger`.',
    example: 'ranger',
  }),
  topic: line(200)
    .regex(
      /^[^$+#\p{Cc}][^+#\p{Cc}]*$/u,
      'must be a topic without wildcards, such as fleet/{device}',
    )
    .nullish()
    .meta({
      description:
        'Where `mqtt` publishes, by default `perigee/{device}`. `{device}` is the identifier of the device or, without one or if it has `/`, `+` or `#`, its id; `{name}` is its name, in which they become `_`: whoever may change a device chooses it.',
      example: 'fleet/{device}',
    }),
  userName: line(200)
    .regex(/^\P{Cc}*$/u, 'must not have control characters')
    .nullish()
    .meta({ description: 'The user name of `mqtt`.', example: 'perigee' }),
  to: partyCode.nullish().meta({ description: 'The addressee of `naf` (AD).', example: 'XNE' }),
  from: partyCode.nullish().meta({ description: 'The sender of `naf` (FR).', example: 'PRT' }),
})

export const formatMembers = {
  format: z
    .enum(OUTPUT_FORMATS, `must be one of ${OUTPUT_FORMATS.join(', ')}`)
    .default('json')
    .meta({ description: ABOUT_FORMAT, example: 'json' }),
  settings: settings.default({}).meta({
    description: 'Settings of the format. Those of another format are refused, unless null.',
    example: {},
  }),
}

interface Formatted {
  url: string
  format: OutputFormat
  settings: z.output<typeof settings>
}

/** Refuses settings of another format, and addresses that the format cannot call. */
export const checkSettings = (
  { url, format, settings: given }: Formatted,
  context: z.RefinementCtx<unknown>,
): void => {
  const isSocket = /^wss?:/i.test(url)
  if (isSocket !== (format === 'mqtt')) {
    const scheme = isSocket ? 'https' : 'wss'
    const message = `must begin with ${scheme}:// in the format ${format}`
    context.addIssue({ code: 'custom', path: ['url'], message })
  }
  const names: readonly string[] = SETTINGS_OF[format]
  for (const [name, value] of Object.entries(given))
    if (value !== null && value !== undefined && !names.includes(name))
      context.addIssue({
        code: 'custom',
        path: ['settings', name],
        message: `is not a setting of the format ${format}`,
      })
}
