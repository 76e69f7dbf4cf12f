import * as z from 'zod'
import { define } from '../http/contract.ts'
import { success } from '../http/wire.ts'

export const readHealth = define({
  id: 'readHealth',
  tag: 'Service',
  summary: 'Is the service up?',
  description: 'Answers once the directory has answered.',
  scope: 'open',
  answer: z.object({ success, status: z.literal('ok') }),
})

export const readOpenApi = define({
  id: 'readOpenApi',
  tag: 'Service',
  summary: 'This document',
  scope: 'open',
  answer: z.looseObject({ openapi: z.string() }),
})
