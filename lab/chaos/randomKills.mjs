import { setTimeout as sleep } from 'node:timers/promises'
import { expectedDevice, OPERATIONS, recordReply, sendOnce } from './operations.mjs'

const CLIENTS = 6
const DEVICES_PER_CLIENT = 8
const RETRY_TIMEOUT_MS = 90_000

/**
 * Clients that share the account's licenses create, edit, report and delete without pause while the
 * server is killed again and again.
 */
export async function runWithRandomKills({ server, token, kills, random, progress }) {
  const run = { devices: [], requests: [], unanswered: [], acknowledged: 0, faults: [] }
  let isRunning = true
  let restarted = Promise.resolve()

  const client = async (number) => {
    const own = []
    while (isRunning) {
      await restarted
      const request = nextRequest(own, number)
      run.requests.push(request)
      const reply = await sendOnce(server.base, token, request)
      if (reply) {
        recordReply(request, reply)
        run.acknowledged++
      } else {
        // The device's state is unknown until the request is repeated, so it gets no others.
        run.unanswered.push(request)
        own.splice(own.indexOf(request.device), 1)
      }
      const wasRefused = request.kind === 'create' && reply && reply.status !== 201
      if (request.device.isDeleted || wasRefused) own.splice(own.indexOf(request.device), 1)
    }
  }

  const nextRequest = (own, number) => {
    const existing = own.filter(({ id }) => id !== null)
    if (existing.length === 0 || (own.length < DEVICES_PER_CLIENT && random.chance(0.3))) {
      const device = expectedDevice(`Tern ${number}-${run.devices.length}`)
      run.devices.push(device)
      own.push(device)
      return OPERATIONS.create.prepare(device)
    }
    const device = random.pick(existing)
    const weights = device.isExpired
      ? { reactivate: 6, edit: 2, remove: 1 }
      : {
          report: 8,
          cross: 4,
          alert: 5,
          emergency: 4,
          edit: 3,
          expire: 3,
          remove: 2,
          reactivate: 1,
        }
    return OPERATIONS[random.pickWeighted(weights)].prepare(device)
  }

  const clients = Array.from({ length: CLIENTS }, (_, number) => client(number))
  for (let kill = 1; kill <= kills; kill++) {
    await waitForAcknowledgements(run, random.int(5, 60))
    restarted = server.kill().then(() => server.start())
    await restarted
    progress(
      `${kill} of ${kills} kills, ${run.acknowledged} acknowledged, ` +
        `${run.unanswered.length} unanswered`,
    )
  }
  await sleep(500)
  isRunning = false
  await Promise.all(clients)
  return run
}

/**
 * Waits for so many more acknowledgements, at most 10 s: killing an idle server would test nothing.
 */
async function waitForAcknowledgements(run, more) {
  const wanted = run.acknowledged + more
  const deadline = Date.now() + 10_000
  while (run.acknowledged < wanted && Date.now() < deadline) await sleep(5)
}

/** Repeats every unanswered request with its key until each has a reply. */
export async function repeatUnanswered({ server, token, unanswered, progress }) {
  const deadline = Date.now() + RETRY_TIMEOUT_MS
  for (const [index, request] of unanswered.entries()) {
    let reply = null
    while (!reply && Date.now() < deadline) {
      reply = await sendOnce(server.base, token, request)
      if (!reply) await sleep(1000)
    }
    if (!reply) throw new Error(`${request.kind} of ${request.device.name} never got a reply`)
    recordReply(request, reply)
    progress(`${index + 1} of ${unanswered.length} repeated`)
  }
}
