// npm run fuzz [-- --requests n --seed n --clients n]
// Sends seeded requests made from the OpenAPI document to the built Worker. No request may get a
// 5xx, an undocumented status, or a reply that does not match its schema.
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { useToolchain } from '../../scripts/toolchain.mjs'
import { createRandom } from '../harness/random.mjs'
import { createChecker } from './check.mjs'
import { formatCurl } from './curl.mjs'
import { readDocument } from './document.mjs'
import { createLinkFollower } from './links.mjs'
import { openPushes } from './pushes.mjs'
import { createRequestMaker } from './requests.mjs'
import { openSession } from './session.mjs'
import { shrink } from './shrink.mjs'

const { values: options } = parseArgs({
  options: {
    requests: { type: 'string', default: '100000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 32) },
    clients: { type: 'string', default: '8' },
    faults: { type: 'string', default: '5' },
  },
})
const total = Number(options.requests)
const seed = Number(options.seed)
const maxFaults = Number(options.faults)
const REQUESTS_PER_SESSION = 1500
/** Requests of the document between two pushes to sources. */
const PUSH_INTERVAL = 10

await useToolchain()
const { adminToken, bundle, serve, temporaryFolder } = await import('../harness/server.mjs')
const contract = readDocument(JSON.parse(readFileSync('public/api/openapi.json', 'utf8')))
const check = createChecker(contract)
const followLinks = createLinkFollower(contract)
const server = await serve({ script: bundle(), folder: temporaryFolder(), cells: 2 })

const faults = new Map()
const statuses = {}
const pushes = {}
const statusesByOperation = new Map()
let sent = 0
console.log(`Seed ${seed}: ${total} requests over ${contract.operations.length} operations …`)
const startedAt = performance.now()
const elapsedSeconds = () => (performance.now() - startedAt) / 1000
const progress = setInterval(
  () => process.stderr.write(`\r${sent} requests, ${Math.round(sent / elapsedSeconds())}/s `),
  2000,
)
try {
  await Promise.all(
    Array.from({ length: Number(options.clients) }, (_, client) => runClient(client)),
  )
} finally {
  clearInterval(progress)
  process.stderr.write('\r')
}

for (const [fault, found] of faults) await printFault(fault, found)
await server.stop()
printSummary()
process.exitCode = faults.size > 0 ? 1 : 0

/**
 * Sends one request after the other in its own sessions, so that the seed alone determines them.
 */
async function runClient(client) {
  const random = createRandom(seed * 1009 + client)
  const isDone = () => sent >= total || faults.size >= maxFaults
  while (!isDone()) {
    const session = await openSession(server.base, adminToken)
    const nextTemplate = createRequestMaker(contract, session, random)
    const sendPush = await openPushes(server.base, adminToken, createRandom(seed + sent))
    for (let index = 0; index < REQUESTS_PER_SESSION && !isDone(); index++) {
      if (index % PUSH_INTERVAL === 0) await countPush(sendPush)
      sent++
      const template = nextTemplate()
      session.history.push(template)
      for (const fault of await findFaults(session, template, index, { remember: true })) {
        const name = `${template.operation}: ${fault}`
        const text = session.replies.get(index)?.text ?? ''
        if (!faults.has(name)) faults.set(name, { session, index, text })
      }
    }
  }
}

async function countPush(sendPush) {
  const { status, fault, shown } = await sendPush()
  pushes[status] = (pushes[status] ?? 0) + 1
  if (fault && !faults.has(fault)) faults.set(fault, { shown: shown ?? '' })
}

async function findFaults(session, template, index, { remember }) {
  try {
    // Copied before the request: a delete marks its entries as deleted.
    const entries = template.entries.map((entry) => ({ ...entry }))
    const { request, reply } = await session.execute(template, index)
    if (remember) {
      countStatus(template, reply)
      session.remember(template, index, reply, contract.prefixes)
    }
    const exchange = { template: { ...template, entries }, request, reply }
    return [...check(exchange), ...(await followLinks(server.base, exchange))]
  } catch (error) {
    return [`no reply: ${error.message}`]
  }
}

function countStatus({ operation }, { status }) {
  statuses[status] = (statuses[status] ?? 0) + 1
  if (!statusesByOperation.has(operation)) statusesByOperation.set(operation, new Set())
  statusesByOperation.get(operation).add(status)
}

/** Prints a fault and the shortest history that repeats it, as curl commands. */
async function printFault(fault, { session, index, text, shown }) {
  console.log(`\n✗ ${fault}`)
  if (shown !== undefined) return console.log(shown)
  const history = session.history.slice(0, index).map((template, at) => ({ template, at }))
  const failing = { template: session.history[index], at: index }
  const replay = async (steps, print) => {
    const fresh = await openSession(server.base, adminToken)
    let found = []
    for (const { template, at } of steps) {
      found = await findFaults(fresh, template, at, { remember: false })
      if (print) print(fresh.toRequest(template), fresh.replies.get(at))
    }
    return found.some((one) => `${failing.template.operation}: ${one}` === fault)
  }
  const steps = await shrink(history, failing, (few) => replay(few))
  if (!steps)
    console.log(
      '  Repeating the history in a new account does not show it again. The reply was\n' +
        `    ${text.slice(0, 20_000)}\n  to`,
    )
  await replay(steps ?? [failing], (request, reply) => console.log(formatCurl(request, reply)))
  console.log(`  npm run fuzz -- --seed ${seed} --requests ${total}`)
}

function printSummary() {
  const pairs = [...statusesByOperation.values()].reduce((sum, { size }) => sum + size, 0)
  const neverSucceeded = contract.operations
    .filter(({ id }) => ![...(statusesByOperation.get(id) ?? [])].some((status) => status < 300))
    .map(({ id }) => id)
  console.log(
    `${sent} requests in ${elapsedSeconds().toFixed(0)} s, seed ${seed}: ` +
      JSON.stringify(statuses),
  )
  console.log(
    `${statusesByOperation.size} of ${contract.operations.length} operations requested, ` +
      `${pairs} pairs of operation and status seen`,
  )
  console.log(`pushes to sources: ${JSON.stringify(pushes)}`)
  if (neverSucceeded.length > 0) console.log(`never succeeded: ${neverSucceeded.join(', ')}`)
  console.log(`${sent - faults.size} passed, ${faults.size} failed`)
}
