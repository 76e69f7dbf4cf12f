// npm run chaos [-- --kills n --every n --seed n --only name,name]
// Kills the server while it works and compares what is left with what it acknowledged. First kills
// at random moments, on the bundle that a deploy would upload; then, on a build with fail points, a
// kill before and after every commit, also of one that joins reports of several requests. Every
// acknowledged write must exist once, and nothing else.
// Between the two, devices cross the border of a zone: a pure model says what rules must have raised.
// Check-ins that nobody makes are raised once each. An account moves between two cells while it reports.
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { useToolchain } from '../../scripts/toolchain.mjs'
import { caller, openAccount } from '../harness/http.mjs'
import { createRandom } from '../harness/random.mjs'
import { auditCell, auditDevices, auditLicenses, auditReplay } from './audit.mjs'
import { auditAlerts, auditEmergencies, auditEvents, waitUntilSent } from './auditAlerts.mjs'
import { auditCrossings } from './auditCrossings.mjs'
import { runCrossings } from './crossings.mjs'
import { runWithFailPointKills } from './failPointKills.mjs'
import { listenForFailPoints } from './failPoints.mjs'
import { auditJoined, JOINED_VARS, runJoinedKills } from './joinedKills.mjs'
import { startMessageProvider } from './messageProvider.mjs'
import { auditMoves, MOVE_VARS, runMoves } from './move/move.mjs'
import {
  auditNotifications,
  NOTIFICATION_VARS,
  runNotifications,
} from './notifications/notifications.mjs'
import { startPushService } from './notifications/pushService.mjs'
import { auditPushes, runPushes, waitUntilMoved } from './pushes.mjs'
import { repeatUnanswered, runWithRandomKills } from './randomKills.mjs'
import { auditReceipts, RECEIPT_VARS, runReceipts } from './receipts.mjs'
import { auditWatches, runWatches } from './watches.mjs'
import { watchZone } from './zone.mjs'

const { values: options } = parseArgs({
  options: {
    kills: { type: 'string', default: '20' },
    every: { type: 'string', default: '1' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 32) },
    only: { type: 'string' },
  },
})
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
/** Beyond the daily limits of a device, the account gets notices of its emergencies. */
const SETTINGS = {
  emergencyContacts: [{ name: 'Coast guard', email: 'guard@example.com' }],
  dailyNoticeLimit: { email: 100_000, sms: 100_000 },
}
/** Longer than the alarm waits before it drains the outbox again. */
const OUTBOX_DRAIN_MS = 4000
const MAX_PRINTED_FAULTS = 30

await useToolchain()
const { adminToken, bundle, temporaryFolder } = await import('../harness/server.mjs')
const { findFreePort, ServerProcess } = await import('../harness/process.mjs')
const random = createRandom(Number(options.seed))
const progress = (text) => process.stderr.write(`\r\x1b[K${text}`)
const totals = { kills: 0, acknowledged: 0, lost: [], duplicated: [], other: [] }

console.log(`Seed ${options.seed}`)
const provider = await startMessageProvider()
const failPoints = await listenForFailPoints()
let failing
const bundleFailing = () => {
  failing ??= bundle({ entry: 'lab/chaos/worker.ts' })
  return failing
}
const PARTS = {
  random: killAtRandom,
  crossings: killWhileCrossing,
  pushes: killWhilePushing,
  receipts: killAroundReceipts,
  notifications: killAroundNotifications,
  joined: killAtJoinedCommits,
  watches: killAroundWatches,
  move: killWhileMoving,
  failPoints: killAtFailPoints,
}
for (const name of options.only?.split(',') ?? Object.keys(PARTS)) {
  if (!PARTS[name]) throw new Error(`--only takes ${Object.keys(PARTS).join(', ')}`)
  await PARTS[name]()
}
failPoints.close()
provider.close()

const faults = [...totals.lost, ...totals.duplicated, ...totals.other]
for (const fault of faults.slice(0, MAX_PRINTED_FAULTS)) console.log(`✗ ${fault}`)
console.log(
  `${totals.acknowledged} acknowledged, ${totals.kills} kills, ${totals.lost.length} lost, ` +
    `${totals.duplicated.length} duplicated, ${totals.other.length} other faults`,
)
process.exitCode = faults.length > 0 ? 1 : 0

async function killAtRandom() {
  const server = await startServer(bundle())
  const account = await openAccountWithUsers(server.base, 24)
  const kills = Number(options.kills)
  const run = await runWithRandomKills({ server, token: account.token, kills, random, progress })
  totals.kills += kills
  await audit('Kills at random', server, account, run)
}

/** Devices cross the border of a zone: each crossing is raised once. */
async function killWhileCrossing() {
  const server = await startServer(bundle())
  const account = await openAccountWithUsers(server.base, 24)
  const kills = Math.ceil(Number(options.kills) / 2)
  const run = await runCrossings({ server, account, kills, random, progress })
  totals.kills += kills
  totals.acknowledged += run.sent
  progress('auditing')
  const { lost, duplicated, total } = await auditCrossings(server, account.call, run.devices)
  await server.stop()
  totals.lost.push(...lost)
  totals.duplicated.push(...duplicated)
  progress('')
  console.log(
    `Crossings: ${run.sent} requests, ${run.unanswered} unanswered and repeated; ` +
      `${total} crossings raised once each, ${lost.length} lost, ${duplicated.length} doubled`,
  )
}

/** Providers push to sources: what got its yes is there once. */
async function killWhilePushing() {
  const server = await startServer(bundle())
  const account = await openAccountWithUsers(server.base, 100)
  const kills = Math.ceil(Number(options.kills) / 2)
  const run = await runPushes({ server, account, kills, random, progress })
  totals.kills += kills
  totals.acknowledged += run.acknowledged
  progress('auditing')
  const unmoved = await waitUntilMoved(run, account.call)
  const { lost, duplicated } = await auditPushes(account.call, run.devices)
  await server.stop()
  totals.lost.push(...lost, ...unmoved)
  totals.duplicated.push(...duplicated)
  progress('')
  console.log(
    `Pushes: ${run.acknowledged} acknowledged, ${run.repeated} repeated, ${run.claims} claims; ` +
      `${lost.length} lost, ${duplicated.length} doubled`,
  )
}

/** Providers report bounces of emergencies: the account is notified of each, once. */
async function killAroundReceipts() {
  const server = await startServer(bundle(), RECEIPT_VARS)
  const account = await openAccount(server.base, adminToken, { userName: 'chaos', licenses: 100 })
  const kills = Math.ceil(Number(options.kills) / 2)
  const run = await runReceipts({ server, account, kills, random, progress })
  totals.kills += kills
  totals.acknowledged += run.bounced.length
  progress('auditing')
  const { lost, duplicated } = await auditReceipts(account.call, run)
  await server.stop()
  totals.lost.push(...lost, ...run.faults)
  totals.duplicated.push(...duplicated)
  progress('')
  console.log(
    `Receipts: ${run.bounced.length} bounces, ${run.repeated} repeated; ` +
      `${lost.length} lost, ${duplicated.length} doubled`,
  )
}

/** Emergencies go to a browser: each arrives, and its receipt is not lost. */
async function killAroundNotifications() {
  const pushService = await startPushService()
  const server = await startServer(bundle(), NOTIFICATION_VARS)
  const account = await openAccount(server.base, adminToken, { userName: 'chaos', licenses: 100 })
  // Each of the five moments at least once.
  const kills = 5 * Math.ceil(Number(options.kills) / 10)
  const run = await runNotifications({ server, account, pushService, kills, random, progress })
  totals.kills += kills
  totals.acknowledged += run.sent.length
  progress('auditing')
  const { lost, duplicated } = await auditNotifications(account.call, run)
  await server.stop()
  pushService.close()
  totals.lost.push(...lost, ...run.faults)
  totals.duplicated.push(...duplicated)
  progress('')
  const shown = run.sent.reduce((sum, { payloads }) => sum + payloads.length, 0)
  console.log(
    `Notifications: ${run.sent.length} emergencies, sent ${shown} times; ` +
      `${lost.length} lost, ${duplicated.length} doubled`,
  )
}

/** Reports of several requests are one commit: each is stored whole, once, or not at all. */
async function killAtJoinedCommits() {
  const server = await startServer(bundleFailing(), { FAIL_POINTS: failPoints.url, ...JOINED_VARS })
  const kills = 2 * Math.ceil(Number(options.kills) / 2)
  const run = await runJoinedKills({ server, adminToken, failPoints, kills, random, progress })
  totals.kills += run.kills
  totals.acknowledged += run.reports.length
  progress('auditing')
  const { lost, duplicated, other } = await auditJoined(run)
  await server.stop()
  totals.lost.push(...lost)
  totals.duplicated.push(...duplicated)
  totals.other.push(...run.faults, ...other)
  progress('')
  console.log(
    `Joined commits: ${run.kills} kills, ${run.reports.length} reports, unanswered ` +
      `${run.whole} whole and ${run.absent} absent, all repeated; ` +
      `${lost.length} lost, ${duplicated.length} doubled, ` +
      `${run.faults.length + other.length} other faults`,
  )
}

/** Check-ins are missed: each raises one alert, also if the sweep is interrupted twice. */
async function killAroundWatches() {
  const server = await startServer(bundleFailing(), { FAIL_POINTS: failPoints.url })
  const account = await openAccountWithUsers(server.base, 100)
  const every = Number(options.every)
  const kills = Math.ceil(Number(options.kills) / 2)
  const run = await runWatches({ server, account, failPoints, every, kills, random, progress })
  totals.kills += run.kills
  progress('auditing')
  const { lost, duplicated, total } = await auditWatches(account.call, run)
  await server.stop()
  totals.acknowledged += total
  totals.lost.push(...lost)
  totals.duplicated.push(...duplicated)
  totals.other.push(...run.faults)
  progress('')
  console.log(
    `Watches: ${run.kills} kills, ${total} missed check-ins raised once each; ` +
      `${lost.length} lost, ${duplicated.length} doubled, ${run.faults.length} other faults`,
  )
}

/** An account moves back and forth: its reports are acknowledged within seconds, and none is lost. */
async function killWhileMoving() {
  const vars = { FAIL_POINTS: failPoints.url, ...MOVE_VARS }
  const server = await startServer(bundleFailing(), vars, 2)
  const members = { userName: 'chaos', licenses: 100, cell: 0 }
  const account = await openAccount(server.base, adminToken, members)
  const every = Number(options.every)
  const kills = Math.ceil(Number(options.kills) / 2)
  const of = { server, account, adminToken, failPoints, every, kills, random, progress }
  const run = await runMoves(of)
  totals.kills += run.kills
  totals.acknowledged += run.acknowledged
  progress('auditing')
  await sleep(OUTBOX_DRAIN_MS)
  const { lost, duplicated, other, events } = await auditMoves(run)
  await server.stop()
  totals.lost.push(...lost)
  totals.duplicated.push(...duplicated)
  totals.other.push(...run.faults, ...other)
  progress('')
  console.log(
    `Moves: ${run.moves} with ${run.kills} kills; ${run.acknowledged} reports and pushes, ` +
      `${run.refused} times 503, ${run.unanswered} unanswered, all repeated; refused for at most ` +
      `${run.longestRefusedMs} ms, frozen for ${run.longestFrozenMs} ms; ${events} events; ` +
      `${lost.length} lost, ${duplicated.length} doubled, ` +
      `${run.faults.length + other.length} other faults`,
  )
}

async function killAtFailPoints() {
  const server = await startServer(bundleFailing(), { FAIL_POINTS: failPoints.url })
  const account = await openAccountWithUsers(server.base, 1000)
  const run = await runWithFailPointKills({
    server,
    token: account.token,
    failPoints,
    every: Number(options.every),
    progress,
  })
  totals.kills += run.kills.length
  const killedPoints = run.kills.filter(({ byAlarm }) => !byAlarm).length
  await audit(
    `${run.kills.length} kills at ${killedPoints} of ${run.knownPoints} fail points`,
    server,
    account,
    run,
  )
}

async function startServer(script, vars, cells = 1) {
  const server = new ServerProcess({
    script,
    folder: temporaryFolder(),
    port: await findFreePort(),
    cells,
    vars: { ...provider.vars, ...vars },
    triggers: true,
  })
  await server.start()
  return server
}

async function openAccountWithUsers(base, licenses) {
  const account = await openAccount(base, adminToken, { userName: 'chaos', licenses })
  for (const user of USERS) await account.call('POST', '/api/users', user)
  await account.call('PATCH', '/api/account', SETTINGS)
  await watchZone(account.call)
  return account
}

async function audit(name, server, { id, token, call }, run) {
  const unanswered = run.unanswered.length
  await repeatUnanswered({ server, token, unanswered: run.unanswered, progress })
  progress('waiting for the outbox to drain')
  await sleep(OUTBOX_DRAIN_MS)
  const unsent = await waitUntilSent(call)
  progress('auditing')
  const cell = await auditCell(caller(server.base, adminToken), id)
  const devices = await auditDevices(call, run.devices)
  const licenses = await auditLicenses(call)
  const alerts = await auditAlerts(call, run.devices, provider)
  const emergencies = await auditEmergencies(call, run.devices)
  const crossings = await auditCrossings(
    server,
    call,
    run.devices
      .filter(({ id, isDeleted }) => id !== null && !isDeleted)
      .map((device) => ({ ...device, expected: device.crossings })),
  )
  const log = await auditEvents(call, run.devices)
  const replay = await auditReplay({
    base: server.base,
    token,
    call,
    requests: run.requests,
    random,
  })
  await server.stop()
  totals.acknowledged += run.acknowledged + unanswered
  const parts = [devices, alerts, emergencies, crossings]
  totals.lost.push(...parts.flatMap(({ lost }) => lost), ...unsent)
  totals.duplicated.push(...parts.flatMap(({ duplicated }) => duplicated))
  totals.other.push(
    ...run.faults,
    ...cell,
    ...licenses.faults,
    ...alerts.other,
    ...log.faults,
    ...replay.faults,
  )
  progress('')
  console.log(
    `${name}: ${run.requests.length} requests, ${run.acknowledged} acknowledged at once, ` +
      `${unanswered} unanswered and repeated; ` +
      `${licenses.entries} entries of the license log, ${log.events} events, ` +
      `${alerts.sent} messages sent, ` +
      `${alerts.suppressed} suppressed, ${replay.replayed} replies replayed`,
  )
  const { reports, alerts: raised, joined, notices } = emergencies.counts
  console.log(
    `  ${reports} reports of emergencies acknowledged: ${raised} alerts, ${joined} joined one, ` +
      `${notices} with a notice, ${emergencies.lost.length} lost; ` +
      `${crossings.total} crossings of a zone`,
  )
}
