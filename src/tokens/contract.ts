import * as z from 'zod'
import { define } from '../http/contract/contract.ts'
import { success, time } from '../http/contract/wire.ts'

export const getToken = define({
  id: 'getToken',
  tag: 'Tokens',
  summary: 'Get a token',
  description:
    'Exchanges a user name and an API key for a bearer token. `/api/auth/token` is the same endpoint.',
  scope: 'open',
  body: z.strictObject({
    userName: z
      .string('must be text')
      .min(1, 'must not be empty')
      .max(64, 'must have at most 64 characters')
      .meta({ example: 'demo' }),
    apiKey: z
      .string('must be text')
      .min(1, 'must not be empty')
      .max(128, 'must have at most 128 characters')
      .meta({ example: 'pgk_…' }),
  }),
  reply: z.object({
    success,
    token: z.string().meta({
      description: 'A JWT. Send it as `Authorization: Bearer <token>`.',
      example: 'eyJhbGciOiJIUzI1NiIs…',
    }),
    expires: time,
  }),
  problems: ['wrong-credentials', 'account-disabled', 'user-disabled', 'too-many-requests'],
})
