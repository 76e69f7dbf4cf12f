// npm run load [-- --seconds n --times n --seed n]
// Sends three times as many requests as the server can answer, on time whether or not replies come
// (open loop). Only 2xx, and 429 and 503 with Retry-After, may come back; memory must not grow, 10 s
// later all must be normal again, and everything acknowledged must be stored.
// Then one account floods the server, with each kind of costly request in turn, and another's
// ordinary requests must succeed beside it.
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { useToolchain } from '../../scripts/toolchain.mjs'
import { listAll } from '../harness/http.mjs'
import { measureRate, median } from '../harness/rate.mjs'
import { runOpenLoop } from './openLoop.mjs'

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    times: { type: 'string', default: '3' },
    seed: { type: 'string', default: '1' },
  },
})
const seconds = Number(options.seconds)
const RECOVERY_MS = 10_000
/**
 * Shorter runs check only the replies: memory must be watched for a while, and a pause of the
 * machine is no fault.
 */
const MIN_SECONDS_TO_JUDGE = 60
const MEBIBYTE = 2 ** 20

await useToolchain()
const { bundle, temporaryFolder } = await import('../harness/server.mjs')
const { findFreePort, ServerProcess } = await import('../harness/process.mjs')
const { openTraffic } = await import('./traffic.mjs')
const { measureNeighbour } = await import('./neighbour.mjs')
const progress = (text) => process.stderr.write(`\r\x1b[K${text}`)

const script = bundle()
const server = await startServer({})
const traffic = await openTraffic(server.base, Number(options.seed))

progress('measuring the capacity')
const calmMs = await measureCalmLatency()
const capacity = await measureCapacity()
const statuses = {}
const forbidden = new Map()
const memory = []
const latencies = []
const sampling = setInterval(
  () => memory.push(server.memoryBytes() / MEBIBYTE),
  Math.max(100, seconds * 5),
)
const reporting = setInterval(
  () => progress(`capacity ${capacity.toFixed(0)} requests/s; ${JSON.stringify(statuses)}`),
  2000,
)
const { sent, sentPerSecond, maxPending } = await runOpenLoop({
  perSecond: capacity * Number(options.times),
  seconds,
  next: () => traffic.next(),
  onReply: recordReply,
})
clearInterval(sampling)
clearInterval(reporting)

progress('waiting for recovery')
const recoveryMs = await waitForRecovery()
const missing = await countMissingLocations()
await server.stop()
const floods = await floodBesideNeighbour()
progress('')

const early = average(memory.slice(memory.length >> 2, memory.length >> 1))
const late = average(memory.slice(-(memory.length >> 2)))
const faults = [...forbidden].map(([reply, count]) => `${count} × ${reply}`)
if (missing > 0) faults.push(`${missing} acknowledged locations are missing`)
if (seconds >= MIN_SECONDS_TO_JUDGE) {
  for (const { name, beside } of floods)
    for (const [status, count] of Object.entries(beside.statuses))
      if (!/^2/.test(status)) faults.push(`${count} × ${status} for the neighbour beside ${name}`)
  if (recoveryMs === null) faults.push(`not back to normal within ${RECOVERY_MS / 1000} s`)
  if (late > early * 1.25)
    faults.push(`memory grows: ${early.toFixed(0)} MB early, ${late.toFixed(0)} MB late`)
  for (const { name, ratio, maxRatio } of floods)
    if (!(ratio <= maxRatio))
      faults.push(`beside ${name} the neighbour's p99 is ${ratio.toFixed(1)} × as long`)
}
printResult()
process.exitCode = faults.length > 0 ? 1 : 0

function printResult() {
  const acknowledged = traffic.devices.reduce((sum, device) => sum + device.acknowledged.size, 0)
  const recovery = recoveryMs === null ? 'no' : `after ${(recoveryMs / 1000).toFixed(1)} s`
  const lines = [
    ['capacity', `${capacity.toFixed(0)} requests/s (20 accounts: reports, last locations, lists)`],
    [
      'sent',
      `${sentPerSecond.toFixed(0)} requests/s for ${seconds} s: ${sent} in total, ` +
        `at most ${maxPending} pending at once`,
    ],
    ['replies', countsOf(statuses)],
    [
      'latency',
      `median ${quantile(latencies, 0.5)} ms, 99 % within ${quantile(latencies, 0.99)} ms ` +
        `(without load ${calmMs.toFixed(0)} ms)`,
    ],
    [
      'memory',
      `${early.toFixed(0)} MB early, ${late.toFixed(0)} MB late, ` +
        `at most ${Math.max(...memory).toFixed(0)} MB`,
    ],
    ['recovered', recovery],
    ['acknowledged', `${acknowledged} locations, ${missing} of them missing`],
    ['neighbour', 'p50 and p99 alone, and beside a flood of'],
    ...floods.map(({ name, alone, beside, ratio, flood }) => [
      '',
      `${name}: ${describe(alone)} → ${describe(beside)} (${ratio.toFixed(1)} ×, ` +
        `${countsOf(beside.statuses)}); the flood: ${countsOf(flood.statuses)}`,
    ]),
  ]
  for (const [name, text] of lines) console.log(`${name.padEnd(14)} ${text}`)
  for (const fault of faults) console.log(`✗ ${fault}`)
}

function countsOf(byStatus) {
  return Object.entries(byStatus)
    .map(([status, count]) => `${count} × ${status}`)
    .join(', ')
}

function describe({ p50, p99 }) {
  return `${p50.toFixed(1)}, ${p99.toFixed(1)} ms`
}

async function startServer(vars) {
  const started = new ServerProcess({
    script,
    folder: temporaryFolder(),
    port: await findFreePort(),
    // The rate limit of a new installation is part of the test.
    vars: { ACCOUNT_REQUESTS_PER_MINUTE: '6000', ...vars },
    assets: false,
    isDirect: true,
  })
  await started.start()
  return started
}

/** Short runs have one short round of each flood. */
async function floodBesideNeighbour() {
  const floodServer = await startServer({ ALLOW_LOOPBACK_WEBHOOKS: 'true' })
  const results = await measureNeighbour({
    base: floodServer.base,
    isLong: seconds >= MIN_SECONDS_TO_JUDGE,
    seed: Number(options.seed),
    progress,
  })
  await floodServer.stop()
  return results
}

function recordReply({ status, retryAfter, elapsedMs, error }) {
  statuses[status] = (statuses[status] ?? 0) + 1
  const isSuccess = status >= 200 && status < 300
  const isOverload = status === 429 || status === 503
  if (isSuccess) latencies.push(elapsedMs)
  if (isSuccess || (isOverload && Number(retryAfter) >= 1)) return
  const reply =
    status === 0 ? `no reply (${error})` : `${status}${isOverload ? ' without Retry-After' : ''}`
  forbidden.set(reply, (forbidden.get(reply) ?? 0) + 1)
}

/**
 * Replies per second at a concurrency that saturates the server: the median of five rounds, for the
 * speed of a shared machine varies.
 */
async function measureCapacity() {
  const rounds = []
  for (let round = 0; round < 5; round++) {
    rounds.push(
      await measureRate(1500, 64, async () => {
        const { status } = await traffic.next()
        if (status >= 300) throw new Error(`a ${status} before the load began`)
      }),
    )
  }
  return median(rounds)
}

/** The median time of requests that are sent one after the other. */
async function measureCalmLatency() {
  const times = []
  for (let round = 0; round < 20; round++)
    times.push((await traffic.nextOfQuietAccount()).elapsedMs)
  return Number(quantile(times, 0.5))
}

/**
 * The time until ten requests in a row succeed in at most ten times the usual time; null if that
 * takes too long.
 */
async function waitForRecovery() {
  const startedAt = performance.now()
  let inARow = 0
  while (inARow < 10) {
    if (performance.now() - startedAt > RECOVERY_MS) return null
    const { status, elapsedMs } = await traffic.nextOfQuietAccount()
    inARow = status < 300 && elapsedMs <= Math.max(50, calmMs * 10) ? inARow + 1 : 0
    if (inARow === 0) await sleep(100)
  }
  return performance.now() - startedAt
}

async function countMissingLocations() {
  let missing = 0
  for (const { id, call, acknowledged } of traffic.devices) {
    progress(`reading back: ${missing} missing so far`)
    const path = `/api/devices/${id}/locations`
    const locations = await retryWhileLimited(() => listAll(call, path, 'locations'))
    const stored = new Set(locations.map(({ dateTime }) => dateTime))
    for (const time of acknowledged) if (!stored.has(time)) missing++
  }
  return missing
}

/** Retries while the account is over its requests per minute. */
async function retryWhileLimited(read) {
  for (;;) {
    try {
      return await read()
    } catch (error) {
      if (!/: 429 /.test(error.message)) throw error
      await sleep(1000)
    }
  }
}

function quantile(values, share) {
  if (values.length === 0) return '–'
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) * share)].toFixed(0)
}

function average(values) {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
}
