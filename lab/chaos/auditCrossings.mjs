import { setTimeout as sleep } from 'node:timers/promises'
import { listAll, send } from '../harness/http.mjs'
import { countEntries } from './zone.mjs'

/** The sweep leaves an alert alone while its request may still hand it over. */
const SWEEP_AHEAD_MS = 60_000
const RAISED_TIMEOUT_MS = 15_000

/** Runs the cron trigger, which raises what a kill has left between a report and the ledger. */
const runSweep = async (base) => {
  const path = `/cdn-cgi/local/scheduled?time=${Date.now() + SWEEP_AHEAD_MS}`
  const { status, text } = await send(base, path)
  if (text !== 'ok') throw new Error(`the cron trigger did not run: ${status}`)
}

const readRaised = async (call, id) =>
  (await listAll(call, `/api/devices/${id}/alerts`, 'alerts')).filter(({ ruleId }) => ruleId)

/**
 * Every crossing of a stored track has raised one alert and one event. `expected` is how many there
 * are by what was acknowledged.
 */
export async function auditCrossings(server, call, devices) {
  const faults = { lost: [], duplicated: [] }
  let total = 0
  await runSweep(server.base)
  for (const { id, name, expected } of devices) {
    const track = await listAll(call, `/api/devices/${id}/locations`, 'locations')
    const crossings = countEntries(track)
    if (crossings !== expected)
      faults.lost.push(`${name}: the stored track has ${crossings} crossings of ${expected}`)
    const deadline = Date.now() + RAISED_TIMEOUT_MS
    let raised = await readRaised(call, id)
    while (raised.length < crossings && Date.now() < deadline) {
      await sleep(300)
      raised = await readRaised(call, id)
    }
    const missing = crossings - raised.length
    if (missing > 0) faults.lost.push(`${name}: ${missing} of ${crossings} crossings not raised`)
    if (missing < 0) faults.duplicated.push(`${name}: ${-missing} crossings raised too often`)
    total += crossings
  }
  // A second run finds nothing left to raise.
  await runSweep(server.base)
  await sleep(1000)
  const events = await listAll(call, '/api/events?types=zone.entered', 'events')
  const byDevice = Map.groupBy(events, ({ data }) => data.deviceId)
  for (const { id, name, expected } of devices) {
    const count = byDevice.get(id)?.length ?? 0
    if (count > expected)
      faults.duplicated.push(`${name}: ${count} events of ${expected} crossings`)
    if (count < expected) faults.lost.push(`${name}: ${count} events of ${expected} crossings`)
  }
  return { ...faults, total }
}
