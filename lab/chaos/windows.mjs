import { setTimeout as sleep } from 'node:timers/promises'
import { attempt, enter, KINDS, newDevice } from './deeds.mjs'

/** Written behind an answer, whenever it pleases: no part of what a deed does. */
const BESIDE = /(update|UPDATE) keys/

/** Windows of the ledger's outbox. */
const ALARMED = /INSERT INTO (event_heads|tombstones|accounts|alerts)$/
const ALARM_WAIT = 5000
const SENDING = 2000
const LONGEST = 20_000

/** For each kind of deed: kills the process in every window between two of its commits, each time on a device of its own. */
export async function crashInEveryWindow({ server, token, points, every, progress }) {
  const world = { devices: [], deeds: [], unsettled: [], acks: 0, windows: [], faults: [] }
  const ask = async (deed) => {
    world.deeds.push(deed)
    const reply = await attempt(server.base, token, deed)
    if (reply) {
      enter(deed, reply)
      world.acks++
    }
    return reply
  }
  /** A device that this kind of deed can be done to. */
  const readyFor = async (kind) => {
    const device = newDevice(`Window ${world.devices.length}`)
    world.devices.push(device)
    if (kind !== 'create') await ask(KINDS.create.ask(device))
    if (kind === 'reactivate') await ask(KINDS.expire.ask(device))
    return device
  }

  const all = []
  for (const kind of Object.keys(KINDS)) {
    const device = await readyFor(kind)
    const reached = points.watch()
    await ask(KINDS[kind].ask(device))
    // Messages go out after the answer.
    if (kind === 'alert') await sleep(SENDING)
    all.push(...numbered(reached).map((window) => ({ kind, ...window })))
    if (!device.gone) await ask(KINDS.remove.ask(device))
  }
  const chosen = all.filter((_, index) => index % every === 0)

  for (const [index, { kind, point, occurrence }] of chosen.entries()) {
    const device = await readyFor(kind)
    const deed = KINDS[kind].ask(device)
    world.deeds.push(deed)
    const killed = points.killAt(point, occurrence, () => server.kill())
    const [reply] = await Promise.all([
      attempt(server.base, token, deed),
      within(killed, `${kind} did not come to: ${point}`),
    ])
    // In a window behind the answer there is one, and it must hold.
    if (reply) {
      enter(deed, reply)
      world.acks++
    } else world.unsettled.push(deed)
    world.windows.push(`${kind}, ${point}`)
    // What the ledger has still to carry out it tries again by itself, and may die at that a second time.
    if (ALARMED.test(point)) {
      if (await diesAgain(server, points, point))
        world.windows.push(`${kind}, ${point}, again by alarm`)
      else world.faults.push(`${kind}, ${point}: the ledger did not come back to it by itself`)
    } else await server.start()
    progress(`${index + 1} of ${chosen.length} windows: ${kind}, ${point}`)
  }
  return { ...world, known: all.length }
}

const within = (promise, otherwise) =>
  Promise.race([
    promise,
    sleep(LONGEST, null, { ref: false }).then(() => {
      throw new Error(otherwise)
    }),
  ])

async function diesAgain(server, points, point) {
  const killed = points.killAt(point, 1, () => server.kill()).then(() => true)
  // Killed while it starts, it never says that it has.
  const again = await Promise.race([
    killed,
    server.start().then(
      () => sleep(ALARM_WAIT, false),
      () => killed,
    ),
  ])
  if (again) await server.start()
  else points.disarm()
  return again
}

const numbered = (reached) => {
  const seen = new Map()
  return reached
    .filter((point) => !BESIDE.test(point))
    .map((point) => {
      seen.set(point, (seen.get(point) ?? 0) + 1)
      return { point, occurrence: seen.get(point) }
    })
}
