import * as z from 'zod'
import { OPERATOR_ROLES } from '../domain/admin/operator.ts'
import { define } from '../http/contract/contract.ts'
import { done, id, instant, name, success, time } from '../http/contract/wire.ts'
import { nextCursor, pageQuery } from '../http/paging/page.ts'
import { email as emailAddress } from '../users/forms.ts'

const common = { tag: 'Operator', scope: 'operator' } as const

const ABOUT = {
  name: 'Who it is: the audit names it.',
  role: '`support` reads, and asks accounts for access; `billing` reads usage; `owner` may do everything.',
  email: 'By which Cloudflare Access tells who signs in; null for a program.',
  expires: 'When the key stops working; null for never.',
}

export const operatorKey = z.string().nullable().meta({
  description:
    'The key, to send as a bearer token. Only this reply contains it; a replay has null instead, and so has an operator without a key.',
  example: 'pgo_…',
})

export const operator = z
  .object({
    id: id('opr'),
    name: z.string().meta({ description: ABOUT.name, example: 'Ana Sousa' }),
    role: z.enum(OPERATOR_ROLES).meta({ description: ABOUT.role }),
    email: z.string().nullable().meta({ description: ABOUT.email, example: 'ana@example.com' }),
    hasKey: z.boolean().meta({ description: 'Whether it has a key.' }),
    expires: time.nullable().meta({ description: ABOUT.expires, example: null }),
    oldKeyUntil: time.nullable().meta({
      description: 'Until when the key before the last still works; null if it does not.',
      example: null,
    }),
    lastUsed: time.nullable().meta({ description: 'Accurate to ten minutes.' }),
    creation: time,
    lastModified: time,
  })
  .meta({ id: 'Operator' })

const written = {
  name: name.meta({ description: ABOUT.name, example: 'Ana Sousa' }),
  role: z
    .enum(OPERATOR_ROLES, 'must be support, billing or owner')
    .meta({ description: ABOUT.role, example: 'support' }),
  email: emailAddress
    .nullable()
    .default(null)
    .meta({ description: ABOUT.email, example: 'ana@example.com' }),
  expires: instant.nullable().default(null).meta({ description: ABOUT.expires, example: null }),
}
const SHOWN = ['id', 'hasKey', 'oldKeyUntil', 'lastUsed', 'creation', 'lastModified'] as const

const reply = z.object({ success, operator })
const newReply = z.object({ success, operator, apiKey: operatorKey })

export const readSelf = define({
  id: 'readSelf',
  ...common,
  right: 'any',
  summary: 'Read who you are',
  description: 'Whom the request is of, and what that operator may do.',
  reply: z.object({
    success,
    operator: z
      .object({
        id: z.string().meta({ description: 'For `ADMIN_TOKEN`: `operator`.', example: 'operator' }),
        name: z.string().nullable().meta({ example: 'Ana Sousa' }),
        role: z.enum(OPERATOR_ROLES).meta({ description: ABOUT.role }),
        rights: z
          .array(z.enum(['read', 'usage', 'support', 'own']))
          .meta({ description: 'What the role may do.', example: ['read', 'usage', 'support'] }),
        signIn: z.enum(['token', 'key', 'access']).meta({
          description: 'By `ADMIN_TOKEN`, by a key, or through Cloudflare Access.',
        }),
      })
      .meta({ id: 'CurrentOperator' }),
  }),
})

export const listOperators = define({
  id: 'listOperators',
  ...common,
  right: 'read',
  summary: 'List operators',
  query: z.strictObject(pageQuery),
  reply: z.object({ success, operators: z.array(operator), nextCursor }),
})

export const createOperator = define({
  id: 'createOperator',
  ...common,
  status: 201,
  etag: true,
  idempotent: true,
  summary: 'Create an operator',
  description:
    'A person who signs in through Cloudflare Access needs `email`, a program a key. Only this reply contains the key.',
  body: z.strictObject({
    ...written,
    key: z.boolean('must be true or false').optional().meta({
      description: 'Whether to make a key; by default if there is no `email`.',
      example: true,
    }),
  }),
  ignored: SHOWN,
  reply: newReply,
  problems: ['email-taken'],
  secrets: ['apiKey'],
})

export const readOperator = define({
  id: 'readOperator',
  ...common,
  right: 'read',
  summary: 'Read an operator',
  reply,
  problems: ['operator-not-found'],
  etag: true,
})

/** The members that can be changed, for `patchOperator`. Has no path of its own. */
export const replaceOperator = define({
  id: 'replaceOperator',
  ...common,
  summary: 'Replace an operator',
  body: z.strictObject(written),
  wrapper: 'operator',
  ignored: SHOWN,
  reply,
})

export const patchOperator = define({
  id: 'patchOperator',
  ...common,
  summary: 'Change an operator',
  description:
    'Holds from the next request on. An operator who loses the right to support loses its access to accounts.',
  patches: replaceOperator,
  example: { role: 'support' },
  reply,
  problems: ['operator-not-found', 'email-taken', 'conflict'],
  etag: true,
  ifMatch: true,
})

export const deleteOperator = define({
  id: 'deleteOperator',
  ...common,
  summary: 'Delete an operator',
  description:
    'Its key stops at once, and its access to accounts within 30 seconds. The audit keeps its name.',
  reply: done,
  problems: ['operator-not-found'],
  ifMatch: true,
})

export const regenerateOperatorKey = define({
  id: 'regenerateOperatorKey',
  ...common,
  right: 'any',
  summary: 'Replace the key of an operator',
  description:
    'Makes a new key, also for an operator without one; the old key works for `overlapSeconds` more. Needs the role `owner`, or the key that is replaced.',
  optionalBody: true,
  body: z.strictObject({
    overlapSeconds: z
      .int('must be a whole number')
      .min(0, 'must be at least 0')
      .max(86_400, 'must be at most 86400')
      .default(0)
      .meta({ description: 'How many seconds the old key still works.', example: 3600 }),
    expires: instant.nullable().optional().meta({
      example: '2099-01-01T00:00:00.000Z',
      description:
        'When the new key stops working; by default as the old one. Only an owner sets a later time.',
    }),
  }),
  reply: newReply,
  problems: ['operator-not-found'],
  idempotent: true,
  secrets: ['apiKey'],
})
