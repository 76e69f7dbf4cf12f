import * as z from 'zod'
import { HEALTH_PROBLEMS } from '../domain/admin/health.ts'
import { define } from '../http/contract/contract.ts'
import { success, time } from '../http/contract/wire.ts'

const common = { tag: 'Operator', scope: 'operator', right: 'read' } as const

const oldest = (description: string) =>
  z
    .object({
      since: time.meta({ description: 'Since when it waits.' }),
      accountId: z.string().meta({ example: 'acc_01k9x0m2q4t6v8y0c2d4f6' }),
    })
    .nullable()
    .meta({ description })

const cell = z
  .object({
    cell: z.int().meta({ description: 'The number of the database.', example: 0 }),
    reachable: z.boolean().meta({ description: 'Whether it answered just now.' }),
    accounts: z.int().meta({ description: 'Accounts in it.', example: 214 }),
    sizeBytes: z.int().nullable().meta({
      description: 'Its size; null when it is not known.',
      example: 93_412_096,
    }),
    share: z.number().nullable().meta({
      description: 'The part of `CELL_MAX_BYTES` that it uses.',
      example: 0.0093,
    }),
    schema: z.string().nullable().meta({
      description: 'Its newest migration; null if wrangler did not apply them.',
      example: '0022_run_for_customers',
    }),
    lastSweep: time.nullable().meta({ description: 'When the sweep was last in this cell.' }),
    sweepParts: z
      .array(
        z.object({
          part: z.string().meta({ description: 'The part.', example: 'watches' }),
          at: time
            .nullable()
            .meta({ description: 'When it last succeeded; null if it never has.' }),
        }),
      )
      .meta({
        description: 'When each part of the sweep last succeeded in this cell.',
      }),
    oldestPendingAlert: oldest('The oldest alert that its ledger has not decided on.'),
    oldestUnsentEmergency: oldest('The oldest message about an emergency that no provider has.'),
    oldestUnsentMessage: oldest('The oldest message of any kind that no provider has.'),
    oldestOutboxEntry: oldest(
      'The oldest effect that a ledger could not write to the cell. Ledgers report it themselves once it is a minute old, and every 4 minutes.',
    ),
    webhooksBehind: z
      .object({
        count: z.int().meta({ description: 'How many.' }),
        since: time.meta({ description: 'Since when the oldest fails.' }),
        accountId: z.string(),
      })
      .nullable()
      .meta({ description: 'Webhooks that have failed for 5 minutes or more, and the oldest.' }),
    problems: z.array(z.enum(HEALTH_PROBLEMS)).meta({
      description: 'What somebody has to look at; docs/operations.md says what to do.',
    }),
  })
  .meta({ id: 'OperatedCell' })

export const readOperatorHealth = define({
  id: 'readOperatorHealth',
  ...common,
  summary: 'Check every part of the service',
  description:
    'Asks every database and one ledger, so it is for people and for a check a minute; `GET /healthz` is for load balancers. `degraded` means that a cell has `problems`.',
  reply: z.object({
    success,
    status: z.enum(['ok', 'degraded']),
    schema: z
      .object({
        expected: z.string().meta({
          description: 'The migration that this code needs.',
          example: '0022_run_for_customers',
        }),
        ledger: z.int().nullable().meta({
          description:
            'The number of steps that a ledger’s own tables have had; null without an account, or while its object runs older code.',
          example: 49,
        }),
      })
      .meta({ description: 'The versions of the tables.' }),
    cells: z.array(cell).meta({ description: 'The databases.' }),
  }),
})

const metric = z.object({
  name: z.string().meta({ example: 'perigee_cell_bytes' }),
  type: z.enum(['gauge', 'counter', 'histogram']),
  help: z.string().meta({ description: 'What it is.' }),
  samples: z
    .array(
      z.object({
        name: z.string().meta({ example: 'perigee_cell_bytes' }),
        labels: z
          .record(z.string(), z.string())
          .meta({ description: 'What the sample is of.', example: { cell: '0' } }),
        value: z.number().meta({ description: 'The figure.' }),
      }),
    )
    .meta({ description: 'Its values, one for each combination of labels.' }),
})

export const readMetrics = define({
  id: 'readMetrics',
  ...common,
  summary: 'Read the figures of the service',
  description:
    'In Prometheus’ text format. Gauges are exact at the time of the call. Counters and the histogram are of the one isolate that replies, named by `isolate`: use them for rates and shares, not for totals. With a dataset of Analytics Engine bound as `METRICS`, that has every request of all isolates.',
  query: z.strictObject({
    format: z
      .enum(['prometheus', 'json'], 'must be prometheus or json')
      .default('prometheus')
      .meta({ description: 'The same figures as JSON.' }),
  }),
  reply: z.object({ success, metrics: z.array(metric).meta({ description: 'The figures.' }) }),
  formats: { 'text/plain': 'Prometheus’ text format, which is the default.' },
})
