import * as z from 'zod'
import { define } from '../http/contract.ts'
import { success } from '../http/wire.ts'

export const readHealth = define({
  id: 'readHealth',
  tag: 'Service',
  summary: 'Is the service up?',
  description: 'Answers once the directory has answered.',
  scope: 'open',
  reply: z.object({ success, status: z.literal('ok') }),
})

export const readOpenApi = define({
  id: 'readOpenApi',
  tag: 'Service',
  summary: 'This document',
  description: 'The contract of the service as OpenAPI 3.1. It may be kept for an hour.',
  scope: 'open',
  etag: true,
  reply: z.looseObject({ openapi: z.string().meta({ example: '3.1.0' }) }),
})
