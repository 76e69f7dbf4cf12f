import { setTimeout as sleep } from 'node:timers/promises'
import { median } from '../harness/rate.mjs'
import { serve, temporaryFolder } from '../harness/server.mjs'
import { openFleet } from './fleet.mjs'
import { addDevices, editAccountFiles, makeDueAgain } from './seed.mjs'

const ACCOUNTS = 10

/**
 * Measures how long the sweep takes to record `due` expiries among few devices and among many, in
 * milliseconds.
 */
export async function measureSweep({ script, due, small, large, rounds, progress }) {
  const fixtures = []
  for (const devices of [small, large]) {
    progress(`sweep: writing ${devices} devices`)
    fixtures.push(await prepareFleets(script, devices, due))
  }
  const times = fixtures.map(() => [])
  for (let round = 0; round < rounds; round++) {
    for (const [index, fixture] of fixtures.entries()) {
      progress(`sweep: round ${round + 1} of ${rounds}, among ${fixture.devices}`)
      times[index].push(await timeSweep(script, fixture, due))
    }
  }
  const [few, many] = times.map(median)
  return { due, small, large, few, many, times: many / few }
}

async function prepareFleets(script, devices, due) {
  const folder = temporaryFolder()
  const first = await serve({ script, folder })
  const fleets = []
  for (let index = 0; index < ACCOUNTS; index++)
    fleets.push(await openFleet(first.base, `sweep-${index}`))
  await first.stop()
  const [count, dueEach] = [devices / ACCOUNTS - 1, due / ACCOUNTS]
  for (const { accountId, deviceId } of fleets)
    editAccountFiles(folder, accountId, (files) =>
      addDevices(files, { accountId, deviceId, count, due: dueEach }),
    )
  return { folder, fleets, devices }
}

async function timeSweep(script, { folder, fleets }, due) {
  for (const { accountId } of fleets)
    editAccountFiles(folder, accountId, (files) => makeDueAgain(files, accountId))
  const { server, databases, stop } = await serve({ script, folder })
  try {
    const [db] = databases
    const countEvents = async () =>
      (await db.prepare('SELECT sum(sequence) AS n FROM event_heads').first('n')) ?? 0
    const before = await countEvents()
    // Reads the index once, so that opening it in the new process is not measured.
    await db.prepare('SELECT count(*) FROM accounts WHERE next_expiry <= 2').first()
    const worker = await server.getWorker()
    const startedAt = performance.now()
    await worker.scheduled({ cron: '* * * * *' })
    while ((await countEvents()) - before < due) await sleep(5)
    return performance.now() - startedAt
  } finally {
    await stop()
  }
}
