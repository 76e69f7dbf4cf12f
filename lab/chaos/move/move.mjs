import { setTimeout as sleep } from 'node:timers/promises'
import { caller, listAll, send } from '../../harness/http.mjs'
import { auditCell, auditDevices } from '../audit.mjs'
import { auditEvents } from '../auditAlerts.mjs'
import { SOS } from '../operations.mjs'
import { openTraffic, startTraffic } from './traffic.mjs'

/*
 * An account moves back and forth between two cells while its devices report. The server is killed in
 * every window of a move, which goes on after each start: every report is there once, and no event is
 * missing.
 */

export const MOVE_VARS = { ALLOW_LOOPBACK_WEBHOOKS: 'true' }

/** Where each window is interrupted. */
const WINDOWS = {
  copying: [
    'before INSERT OR REPLACE INTO locations',
    'after INSERT INTO moved_accounts',
    'after INSERT OR REPLACE INTO locations',
    'after INSERT OR REPLACE INTO devices',
  ],
  'catching up': ['before DELETE FROM move_changes', 'after UPDATE moves to catchingUp'],
  frozen: [
    'after UPDATE moved_accounts to frozen',
    'before INSERT OR REPLACE INTO accounts',
    'after UPDATE moved_accounts to landing',
    'before UPDATE moved_accounts to moved',
  ],
  switched: [
    'after UPDATE moved_accounts to moved',
    'after UPDATE moved_accounts to arrived',
    'before UPDATE source_directory',
    'after UPDATE source_directory',
  ],
  verifying: [
    'after UPDATE moves to verifying',
    'before UPDATE moves to verifying',
    'before UPDATE moves to erasing',
  ],
  deleting: [
    'after DELETE FROM locations',
    'after UPDATE moved_accounts to left',
    'before DELETE FROM devices',
    'before DELETE FROM accounts',
    'before DELETE FROM moved_accounts',
    'before UPDATE moves to done',
  ],
}
const MAX_KILL_DELAY_MS = 1500
const POINT_TIMEOUT_MS = 20_000
const STEP_TIMEOUT_MS = 60_000
/** Two freezes of 8 s: the run after a kill begins at once here, not a minute later. */
const MAX_REFUSED_MS = 16_000
const MOVES_BY_POINTS = Math.max(...Object.values(WINDOWS).map(({ length }) => length))

export async function runMoves(options) {
  const { server, account, failPoints, every, kills, random, progress } = options
  const traffic = await openTraffic({ server, account, url: failPoints.url })
  const state = { ...options, cell: 0, kills: 0, moves: 0, faults: [], longestFrozenMs: 0 }
  state.serving = Promise.resolve()
  const clients = startTraffic(traffic, () => state.serving)
  for (let index = 0; index < Math.max(1, Math.floor(MOVES_BY_POINTS / every)); index++)
    await moveOnce(state, () => killInWindows(state, index))
  for (let kill = 0; kill < kills; kill++)
    await moveOnce(state, async () => {
      await order(state)
      await sleep(random.next() * MAX_KILL_DELAY_MS)
      await restart(state)
      progress(`${state.moves} moves, ${state.kills} kills: at random`)
    })
  await clients.stop()
  const { run } = clients
  if (run.longestRefusedMs > MAX_REFUSED_MS)
    state.faults.push(`reports were refused for ${run.longestRefusedMs} ms`)
  return { ...traffic, ...run, ...state, faults: [...state.faults, ...run.faults] }
}

const pathOf = ({ account }) => `/admin/accounts/${account.id}/move`
const callOperator = ({ server, adminToken }) => caller(server.base, adminToken)

const order = (state) =>
  callOperator(state)('POST', pathOf(state), { cell: 1 - state.cell }).catch((error) => {
    // Otherwise the kill came before the reply.
    if (/: \d{3} /.test(error.message)) state.faults.push(error.message)
  })

/** Orders a move and kills the server at one point of each window. */
async function killInWindows(state, index) {
  let run = order
  for (const [window, points] of Object.entries(WINDOWS)) {
    const point = points[index % points.length]
    // Each process is new since the switch and has nothing cached, as after the minute.
    if (window === 'deleting') await settle(state, 'grace')
    await killAt(state, point, () => run(state))
    await settle(state, 'leases')
    state.progress(`${state.moves} moves, ${state.kills} kills: ${window}, ${point}`)
    run = sweep
  }
}

/** Moves the account to its other cell, and compares what it says of it. */
async function moveOnce(state, interrupt) {
  await interrupt()
  const isInterruptedLate = /erasing|done/.test((await readMove(state)).step)
  await settle(state, 'leases')
  await continueUntil(state, /^(erasing|done)$/)
  if (!isInterruptedLate) await restart(state)
  await settle(state, 'grace')
  await continueUntil(state, /^done$/)
  const { corrected, frozenMs } = await readMove(state)
  const { account } = await callOperator(state)('GET', `/admin/accounts/${state.account.id}`)
  const to = 1 - state.cell
  if (corrected !== 0) state.faults.push(`${corrected} rows were corrected`)
  if (account.cell !== to) state.faults.push(`the account is in cell ${account.cell}, not ${to}`)
  state.longestFrozenMs = Math.max(state.longestFrozenMs, frozenMs ?? 0)
  state.cell = to
  state.moves++
}

const readMove = async (state) => (await callOperator(state)('GET', pathOf(state))).move

/** Starts something and kills the server where it reaches the point. */
async function killAt(state, point, start) {
  let killed = null
  state.failPoints.killAt(point, 1, () => {
    killed = restart(state)
    return killed
  })
  const started = start()
  const deadline = Date.now() + POINT_TIMEOUT_MS
  while (!killed && Date.now() < deadline) await sleep(20)
  if (!killed) {
    state.failPoints.disarm()
    state.faults.push(`the move did not reach: ${point}`)
  }
  await Promise.all([started, killed])
}

function restart(state) {
  state.kills++
  state.serving = state.server.kill().then(() => state.server.start())
  return state.serving
}

/** Ends leases of killed runs, or also the minute for which the old rows stay. */
const settle = ({ server }, what) => send(server.base, `/chaos/moves/${what}`)

const sweep = ({ server }) =>
  send(server.base, '/cdn-cgi/local/scheduled', { reuseConnection: false }).catch(() => undefined)

async function continueUntil(state, steps) {
  const deadline = Date.now() + STEP_TIMEOUT_MS
  for (;;) {
    const move = await readMove(state)
    if (steps.test(move.step)) return
    if (Date.now() > deadline) throw new Error(`the move stays in ${JSON.stringify(move)}`)
    await sweep(state)
  }
}

/** Every report is there once with its event, every emergency was raised, nothing else is there. */
export async function auditMoves(run) {
  const { account, devices, pushed, server, adminToken } = run
  const { call } = account
  const all = [...devices, pushed]
  const { lost, duplicated } = await auditDevices(call, all)
  const cell = await auditCell(caller(server.base, adminToken), account.id)
  const { faults, events } = await auditEvents(call, all)
  const reported = Map.groupBy(
    await listAll(call, '/api/events?types=location.reported', 'events'),
    ({ data }) => data.deviceId,
  )
  for (const { id, name, times } of all) {
    const count = reported.get(id)?.length ?? 0
    if (count < times.size) lost.push(`${name}: ${count} events of ${times.size} reports`)
    if (count > times.size) duplicated.push(`${name}: ${count} events of ${times.size} reports`)
  }
  for (const { id, name, emergencies } of devices) {
    const alerts = await listAll(call, `/api/devices/${id}/alerts?alertName=${SOS}`, 'alerts')
    const times = alerts.flatMap(({ dateTime, updates }) => [
      dateTime,
      ...updates.map((update) => update.dateTime),
    ])
    for (const time of emergencies) {
      const found = times.filter((one) => one === time).length
      if (found === 0) lost.push(`${name}: the emergency of ${time} raised no alert`)
      if (found > 1) duplicated.push(`${name}: the emergency of ${time} is raised twice`)
    }
  }
  return { lost, duplicated, other: [...faults, ...cell], events }
}
