import { DURATION_BUCKETS_MS, requestCounts } from '../http/requestCounts.ts'
import type { CellState, ServiceState } from './operatorHealth.ts'

/* The figures of the service for Prometheus. */

interface Sample {
  name: string
  labels: Record<string, string>
  value: number
}

interface Metric {
  name: string
  type: 'gauge' | 'counter' | 'histogram'
  help: string
  samples: Sample[]
}

const SECOND_MS = 1000

/** How the waiting things of a cell are called, and what they are. */
const WAITING = {
  pendingAlert: ['pending_alert', 'alert that its ledger has not decided on'],
  unsentEmergency: ['unsent_emergency', 'message about an emergency that no provider has'],
  unsentMessage: ['unsent_message', 'message that no provider has'],
  outbox: ['outbox_entry', 'effect that a ledger could not write to the cell'],
} as const

/** Of each cell that has a value. */
const gauge = (
  cells: CellState[],
  name: string,
  help: string,
  read: (cell: CellState) => number | null,
): Metric => ({
  name: `perigee_${name}`,
  type: 'gauge',
  help: `${help} Exact.`,
  samples: cells.flatMap((cell) => {
    const value = read(cell)
    return value === null
      ? []
      : [{ name: `perigee_${name}`, labels: { cell: String(cell.cell) }, value }]
  }),
})

const gaugesOf = ({ cells, now }: ServiceState): Metric[] => [
  gauge(cells, 'cell_up', 'Whether the database answers.', ({ reachable }) => Number(reachable)),
  gauge(cells, 'cell_bytes', 'The size of the database.', ({ sizeBytes }) => sizeBytes),
  gauge(cells, 'cell_share', 'The part of its maximum that it uses.', ({ share }) => share),
  gauge(cells, 'cell_accounts', 'The accounts of the cell.', ({ accounts }) => accounts),
  gauge(cells, 'sweep_age_seconds', 'Since the sweep was last in the cell.', ({ lastSweep }) =>
    lastSweep === null ? null : (now - lastSweep) / SECOND_MS,
  ),
  {
    name: 'perigee_sweep_part_age_seconds',
    type: 'gauge',
    help: 'Since a part of the sweep last succeeded; since 1970 if it never has. Exact.',
    samples: cells.flatMap(({ cell, parts }) =>
      Object.entries(parts).map(([part, at]) => ({
        name: 'perigee_sweep_part_age_seconds',
        labels: { cell: String(cell), part },
        value: (now - at) / SECOND_MS,
      })),
    ),
  },
  ...Object.entries(WAITING).map(([member, [name, what]]) =>
    gauge(cells, `oldest_${name}_age_seconds`, `Of the oldest ${what}; 0 without any.`, (cell) => {
      if (!cell.reachable) return null
      const waiting = cell.waiting[member as keyof typeof WAITING]
      return waiting ? Math.max(0, now - waiting.since) / SECOND_MS : 0
    }),
  ),
  gauge(cells, 'webhooks_behind', 'Webhooks that have failed for 5 minutes.', (cell) =>
    cell.reachable ? (cell.webhooks?.count ?? 0) : null,
  ),
]

const countersOf = (): Metric[] => {
  const { isolate, startedAt, requests, buckets, count, durationMs, rejected } = requestCounts()
  const ofIsolate = 'Of this isolate since it started.'
  const metric = (type: Metric['type'], name: string, help: string, samples: Sample[]): Metric => ({
    name: `perigee_${name}`,
    type,
    help: `${help} ${ofIsolate}`,
    samples,
  })
  const sample = (name: string, value: number, labels: Record<string, string> = {}): Sample => ({
    name: `perigee_${name}`,
    labels: { isolate, ...labels },
    value,
  })
  const duration = 'request_duration_seconds'
  return [
    metric('gauge', 'isolate_start_time_seconds', 'When it served its first request.', [
      sample('isolate_start_time_seconds', startedAt / SECOND_MS),
    ]),
    metric(
      'counter',
      'requests_total',
      'Requests by method, route and status.',
      [...requests.values()].map((entry) =>
        sample('requests_total', entry.count, {
          method: entry.method,
          route: entry.route,
          status: String(entry.status),
        }),
      ),
    ),
    metric('counter', 'requests_rejected_total', 'Requests that were too many at once.', [
      sample('requests_rejected_total', rejected),
    ]),
    metric('histogram', duration, 'Time until the reply began.', [
      ...DURATION_BUCKETS_MS.map((bucket, index) =>
        sample(`${duration}_bucket`, buckets[index] ?? 0, { le: String(bucket / SECOND_MS) }),
      ),
      sample(`${duration}_bucket`, count, { le: '+Inf' }),
      sample(`${duration}_sum`, durationMs / SECOND_MS),
      sample(`${duration}_count`, count),
    ]),
  ]
}

export const collectMetrics = (state: ServiceState): Metric[] => [
  ...gaugesOf(state),
  ...countersOf(),
]

const escapeLabel = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')

const toLine = ({ name, labels, value }: Sample): string => {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`)
  return `${name}{${pairs.join(',')}} ${value}`
}

/** https://prometheus.io/docs/instrumenting/exposition_formats/ */
export const toPrometheusText = (metrics: Metric[]): string =>
  metrics
    .map(({ name, type, help, samples }) =>
      [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...samples.map(toLine), ''].join('\n'),
    )
    .join('')
