import * as z from 'zod'
import { SCOPES } from '../domain/account/scope.ts'
import { define } from '../http/contract/contract.ts'
import { invalid } from '../http/contract/problem.ts'
import { done, id, instant, name, success, time } from '../http/contract/wire.ts'
import { nextCursor, pageQuery } from '../http/paging/page.ts'
import { NEWEST_VERSION, VERSION_DATES } from '../http/version/versions.ts'

const NAME = 'What the key is for; keys may have the same name.'

const scopes = z
  .array(
    z.enum(SCOPES, 'must be ingest, read, write, execute or admin'),
    'must be a list of scopes',
  )
  .min(1, 'must name at least one scope')
  .max(SCOPES.length, `must have at most ${SCOPES.length} scopes`)
  .transform((given) => SCOPES.filter((scope) => given.includes(scope)))
  .meta({
    description:
      'What the key may do. `write` includes `read` and `ingest`; `admin` includes everything.',
    example: ['read'],
  })

const pinnedVersion = z
  .enum(VERSION_DATES, `must be a version of the API: ${VERSION_DATES.join(', ')}`)
  .nullish()

export const keyBody = z.strictObject({
  name: name.meta({ description: NAME, example: 'Dispatch' }),
  scopes,
  userId: z.string('must be a user’s id').nullish().meta({
    description:
      'Binds the key to a user: it never allows more than the user’s privileges and shows only the user’s group.',
    example: null,
  }),
  expires: instant
    .nullish()
    .transform((at) => at ?? null)
    .meta({ description: 'When the key stops working.', example: null }),
  version: pinnedVersion
    .transform((version) => version ?? NEWEST_VERSION)
    .meta({
      description:
        'The version of the API that the key pins, for requests without `Perigee-Version`. Without it, the newest one.',
      example: NEWEST_VERSION,
    }),
})

/** 400 unless the expiry is in the future: the key would never work. */
export const requireFutureExpiry = (expires: number | null, now: number): void => {
  if (expires !== null && expires <= now)
    throw invalid({ pointer: '/expires', detail: 'must be in the future' })
}

export const key = z
  .object({
    id: id('key').meta({ description: 'The key’s id.' }),
    name: z.string().meta({ description: NAME, example: 'Dispatch' }),
    scopes: z
      .array(z.enum(SCOPES))
      .meta({ description: 'What the key may do.', example: ['read'] }),
    userId: z
      .string()
      .nullable()
      .meta({ description: 'The user to whom the key is bound; null for none.' }),
    creation: time.meta({ description: 'When the key was created.' }),
    expires: time
      .nullable()
      .meta({ description: 'When the key stops working; null for never.', example: null }),
    lastUsed: time.nullable().meta({ description: 'Accurate to ten minutes.' }),
    version: z.string().meta({
      description: 'The version of the API that the key pins.',
      example: NEWEST_VERSION,
    }),
    support: z
      .object({
        operator: z.string().meta({ description: 'Who has the access.', example: 'Ana Sousa' }),
        reason: z.string().meta({ description: 'What it is for.', example: 'Ticket 4711' }),
      })
      .nullable()
      .meta({ description: 'Access of the operator’s support; null for a key of the account.' }),
  })
  .meta({ id: 'Key' })

export const apiKey = z.string().nullable().meta({
  description: 'The secret key. Only this reply contains it; a replay has null instead.',
  example: 'pgk_…',
})
export const newKeyReply = z.object({ success, key, apiKey }).meta({ id: 'NewKeyReply' })

export const listKeys = define({
  id: 'listKeys',
  tag: 'Keys',
  summary: 'List API keys',
  description: 'A user confined to a group sees only the keys bound to that user.',
  scope: 'admin',
  query: z.strictObject(pageQuery),
  reply: z.object({ success, keys: z.array(key), nextCursor }),
})

export const createKey = define({
  id: 'createKey',
  tag: 'Keys',
  summary: 'Create an API key',
  description:
    'Only this reply contains the secret, `apiKey`. A token bound to a user can only create keys that are bound to the same user, allow no more and expire no later than its own. A program that acts for a user by OAuth creates none (403): the key would outlast its access.',
  scope: 'admin',
  body: keyBody,
  ignored: ['id', 'creation', 'lastUsed', 'support'],
  status: 201,
  reply: newKeyReply,
  idempotent: true,
  secrets: ['apiKey'],
})

export const readKey = define({
  id: 'readKey',
  tag: 'Keys',
  summary: 'Read an API key',
  description:
    'Without its secret. A user confined to a group can read only keys bound to that user.',
  scope: 'admin',
  reply: z.object({ success, key }),
  problems: ['key-not-found'],
  etag: true,
})

export const deleteKey = define({
  id: 'deleteKey',
  tag: 'Keys',
  summary: 'Delete an API key',
  description:
    'The key gets no new token, and its existing tokens stop working within 30 seconds. A user confined to a group can delete only keys bound to that user.',
  scope: 'admin',
  reply: done,
  problems: ['key-not-found'],
})

export const regenerateKey = define({
  id: 'regenerateKey',
  tag: 'Keys',
  summary: 'Replace an API key',
  ignoresStorage: true,
  description:
    'Creates a new key with the same name, scopes, user, expiry and, unless the body names another, version; the old key works for `overlapSeconds` more. A token bound to a user can regenerate only keys of that user, and a program that acts for a user by OAuth none (403).',
  scope: 'admin',
  optionalBody: true,
  body: z.strictObject({
    overlapSeconds: z
      .int('must be a whole number')
      .min(0, 'must be at least 0')
      .max(86_400, 'must be at most 86400')
      .default(0)
      .meta({ description: 'How many seconds the old key still works.', example: 3600 }),
    version: pinnedVersion.meta({
      description: 'The version of the API that the new key pins. Without it, that of the old key.',
    }),
  }),
  reply: newKeyReply,
  problems: ['key-not-found'],
  idempotent: true,
  secrets: ['apiKey'],
})
