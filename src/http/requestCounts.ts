import type { Env } from '../env.ts'

/*
 * What this isolate has served since it started. Prometheus sees each isolate as an instance of its
 * own; the dataset of Analytics Engine, where one is bound, has all of them.
 */

interface ServedRequest {
  method: string
  /** The pattern, so that there are few. */
  route: string
  status: number
  account: string | null
  durationMs: number
}

export const DURATION_BUCKETS_MS = [10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000]

interface RequestCounts {
  /** Names the isolate. Made at the first request: there is no randomness before. */
  isolate: string
  startedAt: number
  /** By method, route and status. */
  requests: Map<string, { method: string; route: string; status: number; count: number }>
  /** How many took at most as long as the bucket of the same index. */
  buckets: number[]
  count: number
  durationMs: number
  rejected: number
}

let counts: RequestCounts | null = null

export const requestCounts = (): RequestCounts => {
  counts ??= {
    isolate: crypto.randomUUID().slice(0, 8),
    startedAt: Date.now(),
    requests: new Map(),
    buckets: DURATION_BUCKETS_MS.map(() => 0),
    count: 0,
    durationMs: 0,
    rejected: 0,
  }
  return counts
}

/** Methods are the caller's words: unknown ones count as one. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Writes no row. A data point of Analytics Engine is sent after the reply. */
export const countServed = (env: Env, served: ServedRequest): void => {
  const { route, status, account, durationMs } = served
  const method = METHODS.has(served.method) ? served.method : 'other'
  const all = requestCounts()
  const key = `${method} ${status} ${route}`
  const entry = all.requests.get(key)
  if (entry) entry.count++
  else all.requests.set(key, { method, route, status, count: 1 })
  all.count++
  all.durationMs += durationMs
  for (const [index, bucket] of DURATION_BUCKETS_MS.entries())
    if (durationMs <= bucket) all.buckets[index] = (all.buckets[index] ?? 0) + 1
  try {
    env.METRICS?.writeDataPoint({
      indexes: [account ?? ''],
      blobs: [method, route, String(status)],
      doubles: [durationMs],
    })
  } catch {
    // A reply must not fail because its figures do.
  }
}

export const countRejected = (): void => {
  requestCounts().rejected++
}
