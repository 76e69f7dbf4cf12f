import * as z from 'zod'
import { define } from '../http/contract.ts'
import { success } from '../http/wire.ts'

export const readHealth = define({
  id: 'readHealth',
  tag: 'Service',
  summary: 'Check the health of the service',
  description:
    'Replies 200 while the directory database answers and 503 when it does not. A result is kept for five seconds.',
  scope: 'open',
  reply: z.object({ success, status: z.literal('ok') }),
})

export const readOpenApi = define({
  id: 'readOpenApi',
  tag: 'Service',
  summary: 'Read this document',
  description: 'The contract of the service as OpenAPI 3.1. Clients may cache it for an hour.',
  scope: 'open',
  etag: true,
  reply: z.looseObject({ openapi: z.string().meta({ example: '3.1.0' }) }),
})
