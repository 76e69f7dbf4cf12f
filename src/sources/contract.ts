import * as z from 'zod'
import { MAX_COUNTED } from '../domain/account/source.ts'
import { define } from '../http/contract/contract.ts'
import { dropNulls } from '../http/contract/nulls.ts'
import { id, name, success, time } from '../http/contract/wire.ts'
import { resource } from '../http/resource/contract.ts'
import {
  checkSettings,
  pastedPush,
  provider,
  providerReply,
  settings,
  shownSettings,
  sourceItem,
} from './forms.ts'

const common = { tag: 'Sources', scope: 'admin', wholeAccount: true } as const

const newDevices = z.enum(['hold', 'create'], 'must be hold or create')
const ABOUT = {
  enabled: 'A source that is not enabled refuses pushes with 404.',
  newDevices:
    'What becomes of identifiers that no device has: they wait as unclaimed, or devices are created, at most 20 a day. The token of a user with `adminDevices` cannot set `create`.',
  keepRaw: 'Keep all payloads for 7 days, not only those that failed.',
} as const

const body = z
  .strictObject({
    name: name.meta({ description: 'The source’s name.', example: 'inReach fleet' }),
    provider,
    enabled: z.boolean('must be true or false').default(true).meta({ description: ABOUT.enabled }),
    settings: settings.meta({
      description: `${settings.description} An empty text removes a stored secret.`,
    }),
    newDevices: newDevices.default('hold').meta({ description: ABOUT.newDevices }),
    keepRaw: z.boolean('must be true or false').default(false).meta({ description: ABOUT.keepRaw }),
  })
  .superRefine(checkSettings)
  .meta({ id: 'SourceBody' })

export const source = z
  .object({
    id: id('src').meta({ description: 'The source’s id.' }),
    name: z.string().meta({ description: 'The source’s name.', example: 'inReach fleet' }),
    provider,
    enabled: z.boolean().meta({ description: ABOUT.enabled, example: true }),
    settings: shownSettings,
    newDevices: newDevices.meta({ description: ABOUT.newDevices, example: 'hold' }),
    keepRaw: z.boolean().meta({ description: ABOUT.keepRaw, example: false }),
    lastReceived: time.nullable().meta({
      description: 'When something last arrived, to the minute; null before the first push.',
    }),
    unclaimed: z.int().meta({
      description: `How many unclaimed identifiers wait; ${MAX_COUNTED.ofSource} stands for that many or more.`,
      example: 2,
    }),
    failures: z.int().meta({
      description: `How many failed payloads are kept; ${MAX_COUNTED.ofSource} stands for that many or more.`,
      example: 0,
    }),
    creation: time.meta({ description: 'When the source was created.' }),
    lastModified: time.meta({ description: 'When the source was last edited.' }),
  })
  .meta({ id: 'Source' })

const url = z.string().nullable().meta({
  description:
    'Where the provider sends its pushes. It holds a secret: only this reply shows it; a replay by `Idempotency-Key` has null.',
  example: 'https://your-host/in/src_1jn7wz3h4q8v2n5t7r6m0p/…',
})

export const sources = resource({
  name: 'source',
  tag: common.tag,
  reading: common,
  writing: common,
  schema: source,
  body,
  ignored: ['url'],
  shownOnce: { url },
  list: { about: 'The sources of the account.' },
  create: {
    description:
      'A source has an address for the pushes of one provider. Only this reply shows the address. An account can have at most 50 sources.',
    problems: ['source-cap-reached'],
  },
  replace: {
    description:
      'Members that are left out return to their defaults, but secrets in `settings` that are left out stay while the provider is the same. A change holds within a minute.',
  },
  patch: { example: { enabled: false } },
  remove: {
    description:
      'Its address stops within a minute. What it holds as unclaimed or failed is deleted; devices and their locations stay.',
  },
})

/** A patched source still has the nulls that stand for secrets and for settings that are not set. */
export const patchedSource = {
  ...sources.replace,
  read: (value: unknown) => body.safeParse(dropNulls(body, value)),
}

export const rotateSource = define({
  id: 'rotateSource',
  ...common,
  summary: 'Replace the address of a source',
  ignoresStorage: true,
  description: 'The old address stops within a minute.',
  reply: sources.create.reply,
  problems: ['source-not-found'],
  idempotent: true,
  secrets: ['url'],
})

export const decodePayload = define({
  id: 'decodePayload',
  tag: common.tag,
  summary: 'Show what a payload would become',
  ignoresStorage: true,
  description:
    'Decodes a pasted payload as if its provider had pushed it. Nothing is stored. What cannot be understood is in `failures`, with the reason.',
  scope: 'read',
  body: pastedPush,
  reply: z.object({
    success,
    items: z.array(sourceItem).meta({ description: 'What the payload becomes, in its order.' }),
    failures: z
      .array(z.string())
      .meta({ description: 'What of the payload could not be understood, in words.', example: [] }),
    reply: providerReply,
  }),
  example: {
    provider: 'osmand',
    query: 'id=123456&timestamp=1377177267&lat=60.0&lon=30.0&speed=0.0&bearing=0.0&batt=87',
  },
})
