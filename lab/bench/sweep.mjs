import { setTimeout as sleep } from 'node:timers/promises'
import { serve, temporaryFolder } from '../harness/server.mjs'
import { openFleet } from './growth.mjs'
import { median } from './rate.mjs'
import { addDevices, makeDue, withAccount } from './seed.mjs'

const ACCOUNTS = 10

/** How long the sweep takes to record `due` expiries among few devices and among many, in milliseconds. */
export async function sweepGrowth({ script, due, small, large, rounds, progress }) {
  const scenes = []
  for (const devices of [small, large]) {
    progress(`sweep: writing ${devices} devices`)
    scenes.push(await setScene(script, devices, due))
  }
  const times = scenes.map(() => [])
  for (let round = 0; round < rounds; round++) {
    for (const [index, scene] of scenes.entries()) {
      progress(`sweep: round ${round + 1} of ${rounds}, among ${scene.devices}`)
      times[index].push(await timeSweep(script, scene, due))
    }
  }
  const [few, many] = times.map(median)
  return { due, small, large, few, many, times: many / few }
}

async function setScene(script, devices, due) {
  const folder = temporaryFolder()
  const first = await serve({ script, folder })
  const fleets = []
  for (let index = 0; index < ACCOUNTS; index++)
    fleets.push(await openFleet(first.base, `sweep-${index}`))
  await first.stop()
  for (const { accountId, deviceId } of fleets) {
    withAccount(folder, accountId, (both) =>
      addDevices(both, accountId, deviceId, devices / ACCOUNTS - 1, { due: due / ACCOUNTS }),
    )
  }
  return { folder, fleets, devices }
}

async function timeSweep(script, { folder, fleets }, due) {
  for (const { accountId } of fleets)
    withAccount(folder, accountId, (both) => makeDue(both, accountId))
  const { server, databases, stop } = await serve({ script, folder })
  try {
    const [db] = databases
    const recorded = 'SELECT sum(sequence) AS n FROM event_heads'
    const before = (await db.prepare(recorded).first('n')) ?? 0
    // The database has read nothing yet in this process: a first read belongs to neither side.
    await db.prepare('SELECT count(*) FROM accounts WHERE next_expiry <= 2').first()
    const worker = await server.getWorker()
    const began = performance.now()
    await worker.scheduled({ cron: '* * * * *' })
    while (((await db.prepare(recorded).first('n')) ?? 0) - before < due) await sleep(5)
    return performance.now() - began
  } finally {
    await stop()
  }
}
