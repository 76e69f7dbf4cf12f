// Seeded requests out of the published OpenAPI document, against the built Worker: `npm run fuzz [-- --requests n --seed n --lanes n]`.
// No request may get a 5xx, an undocumented status, or a reply that does not match its schema.
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { useToolchain } from '../../scripts/toolchain.mjs'
import { checker } from './check.mjs'
import { readDocument } from './document.mjs'
import { linkFollower } from './links.mjs'
import { random } from './random.mjs'
import { curl } from './report.mjs'
import { requestMaker } from './requests.mjs'
import { shrink } from './shrink.mjs'
import { openWorld } from './world.mjs'

const { values: options } = parseArgs({
  options: {
    requests: { type: 'string', default: '100000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 32) },
    lanes: { type: 'string', default: '8' },
    faults: { type: 'string', default: '5' },
  },
})
const total = Number(options.requests)
const seed = Number(options.seed)
const mostFaults = Number(options.faults)
const WORLD_LASTS = 1500

await useToolchain()
const { adminToken, bundle, serve, temporaryFolder } = await import('../harness/server.mjs')
const contract = readDocument(JSON.parse(readFileSync('public/api/openapi.json', 'utf8')))
const check = checker(contract)
const followLinks = linkFollower(contract)
const api = await serve({ script: bundle(), folder: temporaryFolder(), cells: 2 })

const faults = new Map()
const statuses = {}
const covered = new Map()
let sent = 0
console.log(`Seed ${seed}: ${total} requests over ${contract.operations.length} operations …`)
const began = performance.now()
const progress = setInterval(
  () =>
    process.stderr.write(
      `\r${sent} requests, ${Math.round(sent / ((performance.now() - began) / 1000))}/s `,
    ),
  2000,
)
try {
  await Promise.all(Array.from({ length: Number(options.lanes) }, (_, lane) => runLane(lane)))
} finally {
  clearInterval(progress)
  process.stderr.write('\r')
}

for (const [fault, { world, index, text }] of faults) await report(fault, world, index, text)
await api.stop()
summary()
process.exitCode = faults.size > 0 ? 1 : 0

/** A lane asks one thing after another in worlds of its own, so that what it asks follows from the seed alone. */
async function runLane(lane) {
  const chance = random(seed * 1009 + lane)
  while (sent < total && faults.size < mostFaults) {
    const world = await openWorld(api.base, adminToken)
    const next = requestMaker(contract, world, chance)
    for (let index = 0; index < WORLD_LASTS && sent < total && faults.size < mostFaults; index++) {
      sent++
      const template = next()
      world.history.push(template)
      for (const fault of await faultsOf(world, template, index, { learns: true })) {
        const name = `${template.operation}: ${fault}`
        if (!faults.has(name))
          faults.set(name, { world, index, text: world.replies.get(index)?.text ?? '' })
      }
    }
  }
}

async function faultsOf(world, template, index, { learns }) {
  try {
    // Told before it is carried out: a delete marks what it names as gone.
    const entries = template.entries.map((entry) => ({ ...entry }))
    const { request, reply } = await world.carryOut(template, index)
    if (learns) {
      count(template, reply)
      world.learn(template, index, reply, contract.prefixes)
    }
    const exchange = { template: { ...template, entries }, request, reply }
    return [...check(exchange), ...(await followLinks(api.base, exchange))]
  } catch (error) {
    return [`no reply: ${error.message}`]
  }
}

function count({ operation }, { status }) {
  statuses[status] = (statuses[status] ?? 0) + 1
  if (!covered.has(operation)) covered.set(operation, new Set())
  covered.get(operation).add(status)
}

async function report(fault, world, index, text) {
  console.log(`\n✗ ${fault}`)
  const history = world.history.slice(0, index).map((template, at) => ({ template, at }))
  const failing = { template: world.history[index], at: index }
  const replay = async (steps, show) => {
    const fresh = await openWorld(api.base, adminToken)
    let found = []
    for (const { template, at } of steps) {
      found = await faultsOf(fresh, template, at, { learns: false })
      if (show) show(fresh.written(template), fresh.replies.get(at))
    }
    return found.some((one) => `${failing.template.operation}: ${one}` === fault)
  }
  const steps = await shrink(history, failing, (few) => replay(few))
  if (!steps)
    console.log(
      `  It does not come back when its history is told again in a fresh account. The reply was\n    ${text.slice(0, 20_000)}\n  to`,
    )
  await replay(steps ?? [failing], (request, reply) => console.log(curl(request, reply)))
  console.log(`  npm run fuzz -- --seed ${seed} --requests ${total}`)
}

function summary() {
  const seconds = ((performance.now() - began) / 1000).toFixed(0)
  const pairs = [...covered.values()].reduce((sum, { size }) => sum + size, 0)
  const unseen = contract.operations
    .filter(({ id }) => ![...(covered.get(id) ?? [])].some((status) => status < 300))
    .map(({ id }) => id)
  console.log(`${sent} requests in ${seconds} s, seed ${seed}: ${JSON.stringify(statuses)}`)
  console.log(
    `${covered.size} of ${contract.operations.length} operations asked, ${pairs} pairs of operation and status seen`,
  )
  if (unseen.length > 0) console.log(`never succeeded: ${unseen.join(', ')}`)
  console.log(`${sent - faults.size} passed, ${faults.size} failed`)
}
