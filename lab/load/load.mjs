// Three times as much as the server can do, for as long as asked: `npm run load [-- --seconds n --times n --seed n]`.
// Open loop: requests leave on time whether or not answers come. Only 2xx, 429 and 503 with Retry-After may come back, memory
// must hold still, 10 s later all must be as before, and everything acknowledged must be there.
// Before that, one account floods and another asks as it always does: all of the other's requests must succeed.
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { useToolchain } from '../../scripts/toolchain.mjs'
import { median, rate } from '../bench/rate.mjs'
import { walk } from '../harness/state.mjs'
import { openLoop } from './openLoop.mjs'

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    times: { type: 'string', default: '3' },
    seed: { type: 'string', default: '1' },
  },
})
const seconds = Number(options.seconds)
const RECOVERY = 10_000
/** In less than this only answers are judged: memory must be watched for a while, and a moment's pause of the machine is no verdict. */
const STEADY = 60
const MEBIBYTE = 2 ** 20
/** How long the neighbour is watched, alone and beside the flood. */
const NEIGHBOUR_SECONDS = 60
/** How much slower than alone its slowest requests may be; below `UNNOTICED` milliseconds no one minds. */
const NEIGHBOUR_TIMES = 3
const UNNOTICED = 50

await useToolchain()
const { bundle, temporaryFolder } = await import('../harness/server.mjs')
const { freePort, ServerProcess } = await import('../harness/process.mjs')
const { openTraffic } = await import('./traffic.mjs')
const { besideFlood } = await import('./neighbour.mjs')
const progress = (text) => process.stderr.write(`\r\x1b[K${text}`)

// The limit of a fresh installation: it is a part of what is tested.
const vars = { ACCOUNT_REQUESTS_PER_MINUTE: '6000', ALLOW_LOOPBACK_WEBHOOKS: 'true' }
const server = new ServerProcess({
  script: bundle(),
  folder: temporaryFolder(),
  port: await freePort(),
  vars,
  assets: false,
  direct: true,
})
await server.start()
const neighbour = await besideFlood({
  base: server.base,
  seconds: Math.min(seconds, NEIGHBOUR_SECONDS),
  progress,
})
const traffic = await openTraffic(server.base, Number(options.seed))
const faults = []

progress('finding what it can do')
const calm = await typical(() => traffic.quiet())
const saturation = await saturated()
const statuses = {}
const refusals = new Map()
const memory = []
const watch = setInterval(() => memory.push(server.memory() / MEBIBYTE), Math.max(100, seconds * 5))
const slow = []
const said = setInterval(
  () => progress(`${saturation.toFixed(0)}/s is what it can do; ${JSON.stringify(statuses)}`),
  2000,
)
const { sent, offered, most } = await openLoop({
  perSecond: saturation * Number(options.times),
  seconds,
  next: () => traffic.next(),
  answered,
})
clearInterval(watch)
clearInterval(said)

progress('coming back')
const recovery = await recovered()
const missing = await unread()
await server.stop()
progress('')

const [before, after] = [
  average(memory.slice(memory.length >> 2, memory.length >> 1)),
  average(memory.slice(-(memory.length >> 2))),
]
const { alone, beside } = neighbour
for (const [status, count] of Object.entries(beside.statuses))
  if (status < 200 || status >= 300) faults.push(`${count} × ${status} to the neighbour of a flood`)
if (seconds >= STEADY && beside.p99 > Math.max(UNNOTICED, alone.p99 * NEIGHBOUR_TIMES))
  faults.push(
    `beside a flood 99 of 100 take ${beside.p99.toFixed(0)} ms, alone ${alone.p99.toFixed(0)} ms`,
  )
for (const [what, count] of refusals) faults.push(`${count} × ${what}`)
if (seconds >= STEADY && recovery === null)
  faults.push(`not back to normal within ${RECOVERY / 1000} s`)
if (missing > 0) faults.push(`${missing} acknowledged locations are not there`)
if (seconds >= STEADY && after > before * 1.25)
  faults.push(`memory grows: ${before.toFixed(0)} MB early, ${after.toFixed(0)} MB late`)

const tally = (statuses) =>
  Object.entries(statuses)
    .map(([status, count]) => `${count} × ${status}`)
    .join(', ')
console.log(
  `a neighbour    ${tally(beside.statuses)} beside a flood (${tally(neighbour.flood)}): median ${beside.median.toFixed(0)} ms, 99 of 100 within ${beside.p99.toFixed(0)} ms (alone: ${alone.median.toFixed(0)} and ${alone.p99.toFixed(0)} ms)`,
)
console.log(
  `it can do      ${saturation.toFixed(0)} requests/s (20 accounts: reports, last locations, lists)`,
)
console.log(
  `it was asked   ${offered.toFixed(0)} requests/s for ${seconds} s: ${sent} in all, at most ${most} under way at once`,
)
console.log(`it answered    ${tally(statuses)}`)
console.log(
  `what it took   median ${quantile(slow, 0.5)} ms, 99 of 100 within ${quantile(slow, 0.99)} ms (calm: ${calm.toFixed(0)} ms)`,
)
console.log(
  `memory         ${before.toFixed(0)} MB early, ${after.toFixed(0)} MB late, at most ${Math.max(...memory).toFixed(0)} MB`,
)
console.log(
  `back to normal ${recovery === null ? 'no' : `after ${(recovery / 1000).toFixed(1)} s`}`,
)
console.log(
  `acknowledged   ${traffic.devices.reduce((sum, { acknowledged }) => sum + acknowledged.size, 0)} locations, ${missing} of them missing`,
)
for (const fault of faults) console.log(`✗ ${fault}`)
process.exitCode = faults.length > 0 ? 1 : 0

function answered({ status, retryAfter, took, error }) {
  statuses[status] = (statuses[status] ?? 0) + 1
  if (status >= 200 && status < 300) slow.push(took)
  const allowed =
    (status >= 200 && status < 300) ||
    ((status === 429 || status === 503) && Number(retryAfter) >= 1)
  const what =
    status === 0
      ? `no answer (${error})`
      : `${status}${status === 429 || status === 503 ? ' without Retry-After' : ''}`
  if (!allowed) refusals.set(what, (refusals.get(what) ?? 0) + 1)
}

/** Answers a second, with as many lanes as make no more of it: the median of a few rounds, for a shared machine is not always as fast. */
async function saturated() {
  const rounds = []
  for (let round = 0; round < 5; round++) {
    rounds.push(
      await rate(1500, 64, async () => {
        const { status } = await traffic.next()
        if (status >= 300) throw new Error(`a ${status} before there was too much`)
      }),
    )
  }
  return median(rounds)
}

/** The median time of a few requests one after the other. */
async function typical(one) {
  const times = []
  for (let round = 0; round < 20; round++) times.push((await one()).took)
  return Number(quantile(times, 0.5))
}

/** How long until ten in a row are answered, none of them slower than ten times what is usual; null where that takes too long. */
async function recovered() {
  const began = performance.now()
  let good = 0
  while (good < 10) {
    if (performance.now() - began > RECOVERY) return null
    const { status, took } = await traffic.quiet()
    good = status < 300 && took <= Math.max(50, calm * 10) ? good + 1 : 0
    if (good === 0) await sleep(100)
  }
  return performance.now() - began
}

async function unread() {
  let missing = 0
  for (const { id, call, acknowledged } of traffic.devices) {
    progress(`reading back: ${missing} missing so far`)
    const times = new Set(
      (await patiently(() => walk(call, `/api/devices/${id}/locations`, 'locations'))).map(
        ({ dateTime }) => dateTime,
      ),
    )
    for (const at of acknowledged) if (!times.has(at)) missing++
  }
  return missing
}

/** The account may have used up its minute. */
async function patiently(deed) {
  for (;;) {
    try {
      return await deed()
    } catch (error) {
      if (!/: 429 /.test(error.message)) throw error
      await sleep(1000)
    }
  }
}

function quantile(values, share) {
  return values.length === 0
    ? '–'
    : values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)].toFixed(0)
}

function average(values) {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
}
