import { setTimeout as sleep } from 'node:timers/promises'
import { listAll, send } from '../harness/http.mjs'

/*
 * Check-ins that are missed. The server is killed before and after each commit of the sweep that
 * finds them and of the ledger that raises their alerts, and at random moments between, twice in a
 * row: each raises one alert.
 */

const EVERY_MINUTES = 60
const MINUTE_MS = 60_000
/** The ledger raises alerts, and sends their messages, after the sweep. */
const RAISED_WITHIN_MS = 2000
const MAX_KILL_DELAY_MS = 250
const POINT_TIMEOUT_MS = 20_000
const ALL_RAISED_WITHIN_MS = 30_000
/** What the sweep deletes of other features, and the sending of messages, which other parts test. */
const OTHERS = /DELETE FROM|UPDATE (keys|messages|account_usage)|a request to/
const MISSED = [
  { name: 'Alert', alertName: 'MissedCheckIn', emergency: false },
  { name: 'Emergency', alertName: 'Missing', emergency: true },
]

export async function runWatches({ server, account, failPoints, every, kills, random, progress }) {
  const { call } = account
  const run = { server, failPoints, devices: [], kills: 0, sweeps: 0, faults: [] }
  // The first run of all writes what no later one does.
  await runSweep(run)
  await promise(run, call)
  await sleep(RAISED_WITHIN_MS)
  const reached = failPoints.record()
  await runSweep(run)
  await sleep(RAISED_WITHIN_MS)
  const points = countOccurrences(reached)
  if (!points.some(({ point }) => point.startsWith('after')))
    throw new Error('the sweep reached no fail point')
  const chosen = points.filter((_, index) => index % every === 0)
  for (const [index, { point, occurrence }] of chosen.entries()) {
    await promise(run, call)
    if (!(await killAt(run, point, occurrence, POINT_TIMEOUT_MS)))
      run.faults.push(`the sweep did not reach: ${point}`)
    // The next run may be past this point, and is interrupted only if it gets there again.
    await killAt(run, point, 1, RAISED_WITHIN_MS)
    await Promise.all([runSweep(run), runSweep(run)])
    progress(`${index + 1} of ${chosen.length} fail points of the sweep: ${point}`)
  }
  for (let kill = 1; kill <= kills; kill++) {
    await promise(run, call)
    for (let again = 0; again < 2; again++) {
      const sweep = runSweep(run)
      await sleep(random.next() * MAX_KILL_DELAY_MS)
      await server.kill()
      await sweep
      await server.start()
      run.kills++
    }
    await Promise.all([runSweep(run), runSweep(run)])
    progress(`${kill} of ${kills} times two kills during the sweep`)
  }
  await runSweep(run)
  return run
}

/** A device whose check-ins will be missed, except one. */
async function promise(run, call) {
  const name = `Walker ${run.devices.length}`
  const { device } = await call('POST', '/api/devices', { name, limits: { expires: false } })
  const create = async (members) =>
    (await call('POST', '/api/watches', { deviceId: device.id, counts: 'checkIn', ...members }))
      .watch
  const missed = []
  for (const members of MISSED)
    missed.push(await create({ ...members, everyMinutes: EVERY_MINUTES }))
  const due = new Date(Date.now() + EVERY_MINUTES * MINUTE_MS).toISOString()
  const kept = await create({ name: 'Kept', alertName: 'Kept', due })
  await call('POST', `/api/watches/${kept.id}/checkIn`)
  run.devices.push({ id: device.id, name, missed, kept })
}

/** Each run is a minute later than the one before. Returns undefined if the server ended. */
function runSweep(run) {
  const time = Date.now() + (EVERY_MINUTES + ++run.sweeps) * MINUTE_MS
  return send(run.server.base, `/cdn-cgi/local/scheduled?time=${time}`, {
    reuseConnection: false,
  }).catch(() => undefined)
}

/** Runs the sweep and kills the server where it reaches the point. False if it does not. */
async function killAt(run, point, nth, timeoutMs) {
  let killed = null
  run.failPoints.killAt(point, nth, () => {
    killed = run.server.kill()
    return killed
  })
  await runSweep(run)
  const deadline = Date.now() + timeoutMs
  while (!killed && Date.now() < deadline) await sleep(20)
  if (!killed) {
    run.failPoints.disarm()
    return false
  }
  await killed
  await run.server.start()
  run.kills++
  return true
}

const countOccurrences = (reached) => {
  const counts = new Map()
  return reached
    .filter((point) => !OTHERS.test(point))
    .map((point) => {
      counts.set(point, (counts.get(point) ?? 0) + 1)
      return { point, occurrence: counts.get(point) }
    })
}

/** Every missed check-in has raised one alert and one event; the check-in that was kept, none. */
export async function auditWatches(call, { devices }) {
  const faults = { lost: [], duplicated: [] }
  const compare = (what, count, expected) => {
    if (count < expected) faults.lost.push(`${what}: ${count} of ${expected}`)
    if (count > expected) faults.duplicated.push(`${what}: ${count} of ${expected}`)
  }
  const readAlerts = (id) => listAll(call, `/api/devices/${id}/alerts`, 'alerts')
  const deadline = Date.now() + ALL_RAISED_WITHIN_MS
  for (const { id, name, missed, kept } of devices) {
    let alerts = await readAlerts(id)
    while (alerts.length < missed.length && Date.now() < deadline) {
      await sleep(300)
      alerts = await readAlerts(id)
    }
    for (const { id: watchId, alertName } of [...missed, kept]) {
      const own = alerts.filter((alert) => alert.alerts.includes(alertName))
      compare(`${name}: alerts ${alertName}`, own.length, watchId === kept.id ? 0 : 1)
      const { watch } = await call('GET', `/api/watches/${watchId}`)
      if (watch.alertId !== (own[0]?.id ?? null))
        faults.lost.push(`${name}: the watch has the alert ${watch.alertId}`)
    }
  }
  const events = await listAll(call, '/api/events?types=watch.*', 'events')
  const ids = devices.flatMap(({ missed }) => missed.map(({ id }) => id))
  for (const type of ['watch.due', 'watch.overdue'])
    for (const id of ids) {
      const own = events.filter((event) => event.type === type && event.data.watchId === id)
      compare(`${id}: events ${type}`, own.length, 1)
    }
  return { ...faults, total: ids.length }
}
