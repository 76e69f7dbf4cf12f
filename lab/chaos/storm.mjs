import { setTimeout as sleep } from 'node:timers/promises'
import { attempt, enter, KINDS, newDevice } from './deeds.mjs'

const LANES = 6
const DEVICES_A_LANE = 8

/** Continuous grants, edits, reports and deletions, in lanes that share the account's licenses, while the server is killed again and again. */
export async function storm({ server, token, kills, random, progress }) {
  const world = { devices: [], deeds: [], unsettled: [], acks: 0, faults: [] }
  let storming = true
  let up = Promise.resolve()

  const lane = async (number) => {
    const own = []
    while (storming) {
      await up
      const deed = nextDeed(own, number)
      world.deeds.push(deed)
      const reply = await attempt(server.base, token, deed)
      if (reply) {
        enter(deed, reply)
        world.acks++
      } else {
        // Nothing more is asked of this device until it is known what became of this.
        world.unsettled.push(deed)
        own.splice(own.indexOf(deed.device), 1)
      }
      if (deed.device.gone || (deed.kind === 'create' && reply && reply.status !== 201))
        own.splice(own.indexOf(deed.device), 1)
    }
  }

  const nextDeed = (own, number) => {
    const ready = own.filter(({ id }) => id !== null)
    if (ready.length === 0 || (own.length < DEVICES_A_LANE && random.chance(0.3))) {
      const device = newDevice(`Tern ${number}-${world.devices.length}`)
      world.devices.push(device)
      own.push(device)
      return KINDS.create.ask(device)
    }
    const device = random.pick(ready)
    if (device.expired)
      return KINDS[random.weighed({ reactivate: 6, edit: 2, remove: 1 })].ask(device)
    return KINDS[
      random.weighed({ report: 8, alert: 5, edit: 3, expire: 3, remove: 2, reactivate: 1 })
    ].ask(device)
  }

  const lanes = Array.from({ length: LANES }, (_, number) => lane(number))
  for (let kill = 1; kill <= kills; kill++) {
    await untilBusy(world, random.int(5, 60))
    up = server.kill().then(() => server.start())
    await up
    progress(
      `${kill} of ${kills} kills, ${world.acks} acknowledged, ${world.unsettled.length} cut off`,
    )
  }
  await sleep(500)
  storming = false
  await Promise.all(lanes)
  return world
}

/** Until so many more have been acknowledged, so that a slow machine is not killed idle; but not for ever. */
async function untilBusy(world, more) {
  const enough = world.acks + more
  const deadline = Date.now() + 10_000
  while (world.acks < enough && Date.now() < deadline) await sleep(5)
}

/** Asks again, with the same keys, for everything whose answer was cut off, until each has one. */
export async function settle({ server, token, unsettled, progress }) {
  const deadline = Date.now() + 90_000
  for (const [index, deed] of unsettled.entries()) {
    let reply = null
    while (!reply && Date.now() < deadline) {
      reply = await attempt(server.base, token, deed)
      if (!reply) await sleep(1000)
    }
    if (!reply) throw new Error(`${deed.kind} of ${deed.device.name} never got an answer`)
    enter(deed, reply)
    progress(`${index + 1} of ${unsettled.length} asked again`)
  }
}
