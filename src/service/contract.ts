import * as z from 'zod'
import { define } from '../http/contract/contract.ts'
import { success, time } from '../http/contract/wire.ts'

export const readHealth = define({
  id: 'readHealth',
  tag: 'Service',
  summary: 'Check the health of the service',
  description:
    'Replies once the directory database has answered; 503 when it does not. `degraded` means that a database is nearly full, which works but takes no new accounts, or that the sweep is late: expiries are recorded and missed check-ins found late. A result is kept for five seconds.',
  scope: 'open',
  reply: z.object({
    success,
    status: z.enum(['ok', 'degraded']),
    lastSweep: time
      .nullable()
      .meta({ description: 'When the sweep, which runs each minute, was last in cell 0.' }),
    sweepOnTime: z.boolean().meta({ description: 'Whether that was less than 3 minutes ago.' }),
    cells: z
      .array(
        z.object({
          cell: z.int().meta({ description: 'The number of the database.', example: 0 }),
          sizeBytes: z.int().nullable().meta({
            description: 'Its size, to about 1 %; null until it was measured.',
            example: 93_412_096,
          }),
          full: z.boolean().meta({
            description: 'More than 70 % of the maximum: it takes no new accounts.',
            example: false,
          }),
        }),
      )
      .meta({ description: 'The databases that store the accounts.' }),
  }),
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
