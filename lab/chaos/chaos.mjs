// Kills the server while it works and holds what is left against what it had acknowledged: `npm run chaos [-- --kills n --every n --seed n]`.
// First a storm with kills at any moment, on the bundle that a deploy would upload; then, on a build with fail points, a kill in
// every window between two commits. After each: every acknowledged write is there, once, and nothing else is.
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { useToolchain } from '../../scripts/toolchain.mjs'
import { random } from '../fuzz/random.mjs'
import { caller } from '../harness/http.mjs'
import { auditCell, auditDevices, auditLicenses, auditReplay } from './audit.mjs'
import { auditAlerts, auditEvents, untilSent } from './auditAlerts.mjs'
import { listenForPoints } from './points.mjs'
import { openProvider } from './provider.mjs'
import { settle, storm } from './storm.mjs'
import { crashInEveryWindow } from './windows.mjs'

const { values: options } = parseArgs({
  options: {
    kills: { type: 'string', default: '20' },
    every: { type: 'string', default: '1' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 32) },
  },
})
const LICENSES = 24
const USERS = [
  {
    name: 'Ana',
    email: 'ana@example.com',
    country: 'PT',
    timeZone: 'UTC',
    phone: '+351910000000',
    notify: { email: true, sms: true },
  },
  { name: 'Rui', email: 'rui@example.com', country: 'PT', timeZone: 'UTC' },
]
/** Longer than the outbox waits before it tries again by itself. */
const OUTBOX_REST = 4000

await useToolchain()
const { adminToken, bundle, temporaryFolder } = await import('../harness/server.mjs')
const { freePort, ServerProcess } = await import('../harness/process.mjs')
const chance = random(Number(options.seed))
const progress = (text) => process.stderr.write(`\r\x1b[K${text}`)
const totals = { kills: 0, acks: 0, lost: [], double: [], other: [] }

console.log(`Seed ${options.seed}`)
const provider = await openProvider()
await inTheStorm()
await inEveryWindow()
provider.close()

for (const fault of [...totals.lost, ...totals.double, ...totals.other].slice(0, 30))
  console.log(`✗ ${fault}`)
console.log(
  `acks ${totals.acks}, kills ${totals.kills}, lost ${totals.lost.length}, double ${totals.double.length}, other faults ${totals.other.length}`,
)
process.exitCode = totals.lost.length + totals.double.length + totals.other.length > 0 ? 1 : 0

async function inTheStorm() {
  const server = await started(bundle())
  const account = await openAccount(server.base)
  const kills = Number(options.kills)
  const world = await storm({ server, token: account.token, kills, random: chance, progress })
  totals.kills += kills
  await audit('storm', server, account, world)
}

async function inEveryWindow() {
  const points = await listenForPoints()
  const server = await started(bundle({ entry: 'lab/chaos/worker.ts' }), {
    FAIL_POINTS: points.url,
  })
  const account = await openAccount(server.base, 1000)
  const world = await crashInEveryWindow({
    server,
    token: account.token,
    points,
    every: Number(options.every),
    progress,
  })
  totals.kills += world.windows.length
  await audit(
    `${world.windows.length} crashes in ${new Set(world.windows.map((window) => window.replace(', again by alarm', ''))).size} of ${world.known} windows`,
    server,
    account,
    world,
  )
  points.close()
}

async function started(script, vars) {
  const server = new ServerProcess({
    script,
    folder: temporaryFolder(),
    port: await freePort(),
    vars: { ...provider.vars, ...vars },
  })
  await server.start()
  return server
}

async function openAccount(base, licenses = LICENSES) {
  const { account, apiKey } = await caller(base, adminToken)('POST', '/admin/accounts', {
    userName: 'chaos',
    name: 'Chaos',
    licenses,
    timeZone: 'UTC',
  })
  const { token } = await caller(base)('POST', '/api/Auth/Token', { userName: 'chaos', apiKey })
  for (const user of USERS) await caller(base, token)('POST', '/api/users', user)
  return { id: account.id, token }
}

async function audit(name, server, { id, token }, world) {
  const cutOff = world.unsettled.length
  await settle({ server, token, unsettled: world.unsettled, progress })
  progress('the outbox comes to rest')
  await sleep(OUTBOX_REST)
  const call = caller(server.base, token)
  const unsent = await untilSent(call)
  progress('the audit')
  const cell = await auditCell(caller(server.base, adminToken), id)
  const devices = await auditDevices(call, world.devices)
  const licenses = await auditLicenses(call)
  const alerts = await auditAlerts(call, world.devices, provider)
  const log = await auditEvents(call, world.devices)
  const replay = await auditReplay({
    base: server.base,
    token,
    call,
    deeds: world.deeds,
    random: chance,
  })
  await server.stop()
  totals.acks += world.acks + cutOff
  totals.lost.push(...devices.lost, ...alerts.lost, ...unsent)
  totals.double.push(...devices.double, ...alerts.double)
  totals.other.push(
    ...world.faults,
    ...cell,
    ...licenses.faults,
    ...alerts.other,
    ...log.faults,
    ...replay.faults,
  )
  progress('')
  console.log(
    `${name}: ${world.deeds.length} asked, ${world.acks} acknowledged at once, ${cutOff} cut off and asked again; ` +
      `${licenses.lines} lines of the license log, ${log.events} events, ${alerts.sent} messages sent, ${alerts.suppressed} held back, ${replay.replayed} replayed`,
  )
}
