import * as z from 'zod'
import { MAX_SUPPORT_MINUTES, SUPPORT_SCOPES } from '../domain/admin/operator.ts'
import { define } from '../http/contract/contract.ts'
import { done, line, success } from '../http/contract/wire.ts'
import { support } from './forms.ts'

const common = { tag: 'Operator', scope: 'operator', right: 'support' } as const

export const startSupport = define({
  id: 'startSupport',
  ...common,
  status: 201,
  idempotent: true,
  summary: 'Get access to an account',
  description:
    'Returns a token of the account that ends after `minutes`. The account sees it at `GET /api/account` and can end it; each use is in its audit. It reads, unless the account has set `supportMayWrite`, which is checked at every use; it never has the scope `admin`.',
  body: z.strictObject({
    reason: line(200).trim().min(1, 'must not be empty').meta({
      description: 'What the access is for. The account sees it.',
      example: 'Ticket 4711',
    }),
    minutes: z
      .int('must be a whole number')
      .min(1, 'must be at least 1')
      .max(MAX_SUPPORT_MINUTES, `must be at most ${MAX_SUPPORT_MINUTES}`)
      .default(60)
      .meta({ description: 'After how many minutes it ends.', example: 60 }),
    scopes: z
      .array(z.enum(SUPPORT_SCOPES, 'must be read, write or execute'), 'must be a list of scopes')
      .min(1, 'must name at least one scope')
      .max(SUPPORT_SCOPES.length, `must have at most ${SUPPORT_SCOPES.length} scopes`)
      .transform((given) => SUPPORT_SCOPES.filter((scope) => given.includes(scope)))
      .default(['read'])
      .meta({ description: 'What the token may do.', example: ['read'] }),
  }),
  reply: z.object({
    success,
    support: support.meta({ description: 'The access that was given.' }),
    token: z.string().nullable().meta({
      description:
        'A JWT, to send as `Authorization: Bearer <token>`. A replay has null instead: ask again.',
      example: 'eyJhbGciOiJIUzI1NiIs…',
    }),
  }),
  problems: ['account-not-found'],
  secrets: ['token'],
})

export const endSupport = define({
  id: 'endSupport',
  ...common,
  summary: 'End the access to an account',
  description: 'The token stops working within 30 seconds. The account can do the same.',
  reply: done,
  problems: ['account-not-found', 'key-not-found'],
})
