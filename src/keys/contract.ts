import * as z from 'zod'
import { SCOPES } from '../domain/scope.ts'
import { define } from '../http/contract.ts'
import { nextCursor, pageQuery } from '../http/page.ts'
import { invalid } from '../http/problem.ts'
import { done, id, instant, name, success, time } from '../http/wire.ts'

const scopes = z
  .array(z.enum(SCOPES, 'must be ingest, read, write or admin'), 'must be a list of scopes')
  .min(1, 'must name at least one scope')
  .max(SCOPES.length)
  .transform((given) => SCOPES.filter((scope) => given.includes(scope)))
  .meta({
    description: 'What the key may do; `write` includes read and ingest, `admin` everything.',
    example: ['read'],
  })

export const keyBody = z.strictObject({
  name: name.meta({ example: 'Dispatch' }),
  scopes,
  userId: z.string('must be a user’s id').nullish().meta({
    description:
      'Binds the key to a user: it then has at most the user’s privileges and sees only the user’s group.',
    example: 'usr_01k…',
  }),
  expires: instant
    .nullish()
    .transform((at) => at ?? null)
    .meta({ description: 'When the key stops working by itself.' }),
})

/** A key that is dead at birth is nobody's wish. */
export const refuseReached = (expires: number | null, now: number): void => {
  if (expires !== null && expires <= now)
    throw invalid({ pointer: '/expires', detail: 'must be in the future' })
}

export const key = z
  .object({
    id: id('key'),
    name: z.string().meta({ example: 'Dispatch' }),
    scopes: z.array(z.enum(SCOPES)).meta({ example: ['read'] }),
    userId: z.string().nullable().meta({ description: 'The user that the key is bound to.' }),
    creation: time,
    expires: time.nullable().meta({ example: null }),
    lastUsed: time.nullable().meta({ description: 'To the minute.' }),
  })
  .meta({ id: 'Key' })

export const apiKey = z.string().nullable().meta({
  description: 'The secret. It is in this reply alone: a replay of it has null.',
  example: 'pgk_…',
})
const shown = z.object({ success, key, apiKey })

export const listKeys = define({
  id: 'listKeys',
  tag: 'Keys',
  summary: 'List API keys',
  description: 'To a user who is confined to a group, the keys that are bound to that user.',
  scope: 'admin',
  query: z.strictObject(pageQuery),
  reply: z.object({ success, keys: z.array(key), nextCursor }),
})

export const createKey = define({
  id: 'createKey',
  tag: 'Keys',
  summary: 'Make an API key',
  description:
    'The secret, `apiKey`, is in this reply alone. A token that is bound to a user makes keys that are bound to the same user, and that live no longer than its own.',
  scope: 'admin',
  body: keyBody,
  ignored: ['id', 'creation', 'lastUsed'],
  status: 201,
  reply: shown,
  idempotent: true,
  secrets: ['apiKey'],
})

export const deleteKey = define({
  id: 'deleteKey',
  tag: 'Keys',
  summary: 'Delete an API key',
  description:
    'It gets no token from now on; tokens that it already has stop within 30 seconds. Keys of others are closed to a user with a group.',
  scope: 'admin',
  reply: done,
  problems: ['not-found'],
})

export const regenerateKey = define({
  id: 'regenerateKey',
  tag: 'Keys',
  summary: 'Replace an API key',
  description:
    'Answers with a new key that has the same name, scopes, user and end; the old one works for `overlapSeconds` more. A token that is bound to a user regenerates keys of that user alone.',
  scope: 'admin',
  optionalBody: true,
  body: z.strictObject({
    overlapSeconds: z
      .int('must be a whole number')
      .min(0, 'must be at least 0')
      .max(86_400, 'must be at most 86400')
      .default(0)
      .meta({ description: 'How long the old key still works.', example: 3600 }),
  }),
  reply: shown,
  problems: ['not-found'],
  idempotent: true,
  secrets: ['apiKey'],
})
