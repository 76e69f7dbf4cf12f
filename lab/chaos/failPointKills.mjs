import { setTimeout as sleep } from 'node:timers/promises'
import { expectedDevice, OPERATIONS, recordReply, sendOnce } from './operations.mjs'

/** Runs after the reply, at any time: no part of the operation. */
const AFTER_REPLY = /UPDATE keys/

/** Points in the drain of the ledger's outbox, which the alarm repeats after a crash. */
const IN_OUTBOX_DRAIN = /INSERT INTO (event_heads|tombstones|accounts|alerts)$/
const ALARM_WAIT_MS = 5000
const SENDING_MS = 2000
const POINT_TIMEOUT_MS = 20_000

/** Kills the process at every fail point of every operation, each time with a new device. */
export async function runWithFailPointKills({ server, token, failPoints, every, progress }) {
  const run = { devices: [], requests: [], unanswered: [], acknowledged: 0, kills: [], faults: [] }
  const execute = async (request) => {
    run.requests.push(request)
    const reply = await sendOnce(server.base, token, request)
    if (reply) {
      recordReply(request, reply)
      run.acknowledged++
    }
    return reply
  }
  /** A device to which this operation can be applied. */
  const createDeviceFor = async (kind) => {
    const device = expectedDevice(`Device ${run.devices.length}`)
    run.devices.push(device)
    if (kind !== 'create') await execute(OPERATIONS.create.prepare(device))
    if (kind === 'reactivate') await execute(OPERATIONS.expire.prepare(device))
    return device
  }

  const all = []
  for (const kind of Object.keys(OPERATIONS)) {
    const device = await createDeviceFor(kind)
    const reached = failPoints.record()
    await execute(OPERATIONS[kind].prepare(device))
    // Messages are sent, and alerts of rules raised, after the reply.
    if (['alert', 'emergency', 'cross'].includes(kind)) await sleep(SENDING_MS)
    all.push(...countOccurrences(reached).map((one) => ({ kind, ...one })))
    if (!device.isDeleted) await execute(OPERATIONS.remove.prepare(device))
  }
  const chosen = all.filter((_, index) => index % every === 0)

  for (const [index, { kind, point, occurrence }] of chosen.entries()) {
    const device = await createDeviceFor(kind)
    const request = OPERATIONS[kind].prepare(device)
    run.requests.push(request)
    const killed = failPoints.killAt(point, occurrence, () => server.kill())
    const [reply] = await Promise.all([
      sendOnce(server.base, token, request),
      withTimeout(killed, `${kind} did not reach: ${point}`),
    ])
    // A kill after the reply: what it acknowledged must hold.
    if (reply) {
      recordReply(request, reply)
      run.acknowledged++
    } else run.unanswered.push(request)
    run.kills.push({ kind, point, byAlarm: false })
    if (IN_OUTBOX_DRAIN.test(point)) {
      if (await killAgainInAlarm(server, failPoints, point))
        run.kills.push({ kind, point, byAlarm: true })
      else run.faults.push(`${kind}, ${point}: the ledger's alarm did not repeat it`)
    } else await server.start()
    progress(`${index + 1} of ${chosen.length} fail points: ${kind}, ${point}`)
  }
  return { ...run, knownPoints: all.length }
}

const withTimeout = (promise, message) =>
  Promise.race([
    promise,
    sleep(POINT_TIMEOUT_MS, null, { ref: false }).then(() => {
      throw new Error(message)
    }),
  ])

/**
 * Starts the server and kills it again where its alarm repeats the drain. False if the alarm does
 * not get there.
 */
async function killAgainInAlarm(server, failPoints, point) {
  const killed = failPoints.killAt(point, 1, () => server.kill()).then(() => true)
  // A server that is killed while it starts never reports that it has started.
  const wasKilled = await Promise.race([
    killed,
    server.start().then(
      () => sleep(ALARM_WAIT_MS, false),
      () => killed,
    ),
  ])
  if (wasKilled) await server.start()
  else failPoints.disarm()
  return wasKilled
}

const countOccurrences = (reached) => {
  const counts = new Map()
  return reached
    .filter((point) => !AFTER_REPLY.test(point))
    .map((point) => {
      counts.set(point, (counts.get(point) ?? 0) + 1)
      return { point, occurrence: counts.get(point) }
    })
}
