import { setTimeout as sleep } from 'node:timers/promises'
import { send } from '../../harness/http.mjs'
import { expectedDevice, OPERATIONS } from '../operations.mjs'

/*
 * Devices that report, and a provider that pushes, without pause while their account moves. What was
 * not acknowledged is sent again: reports after a 503 too, pushes only after a broken connection.
 */

const DEVICES = 3
const PAUSE_MS = 60
const RETRY_MS = 100
/** Much more than any move takes. */
const MAX_REFUSED_MS = 60_000
/** One of so many reports of a device carries an emergency. */
const EMERGENCY_EVERY = 20
const pushesFrom = Date.now() - 6 * 3_600_000
const PUSHED = 'MOVED-1'

/** Every kind of row that a report touches: events for a webhook, and a source. */
export async function openTraffic({ server, account, url }) {
  const { call } = account
  await call('POST', '/api/webhooks', { url, events: ['location.reported'] })
  const devices = []
  for (let index = 0; index < DEVICES; index++) devices.push(expectedDevice(`Mover ${index}`))
  const pushed = expectedDevice('Pushed')
  for (const device of [...devices, pushed]) {
    const identifier = device === pushed ? PUSHED : undefined
    const { name } = device
    const body = { name, identifier, limits: { expires: false } }
    device.id = (await call('POST', '/api/devices', body)).device.id
  }
  const source = await call('POST', '/api/sources', { name: 'Traffic', provider: 'osmand' })
  const { pathname: pushPath } = new URL(source.url)
  return { server, account, devices, pushed, pushPath }
}

/** Starts the clients. `stop` resolves once the last request of each is acknowledged. */
export function startTraffic({ server, account, devices, pushed, pushPath }, isServing) {
  const run = { acknowledged: 0, refused: 0, unanswered: 0, longestRefusedMs: 0, faults: [] }
  let isRunning = true

  /** Null when the connection broke. */
  const sendOnce = (path, options) =>
    send(server.base, path, { ...options, reuseConnection: false }).catch(() => null)

  const sendUntilTaken = async (attempt, isTaken) => {
    // Without the time for which the server was dead.
    let refusedMs = 0
    let refusedAt = null
    for (;;) {
      await isServing()
      const reply = await attempt()
      if (reply && refusedAt !== null) refusedMs += Date.now() - refusedAt
      refusedAt = null
      if (reply && isTaken(reply)) {
        run.acknowledged++
        run.longestRefusedMs = Math.max(run.longestRefusedMs, refusedMs)
        return
      }
      if (!reply) run.unanswered++
      else if (reply.status === 503) {
        run.refused++
        refusedAt = Date.now()
        if (refusedMs > MAX_REFUSED_MS) return void run.faults.push('a report is refused for ever')
      } else if (run.faults.push(`a report got ${reply.status} ${reply.text.slice(0, 200)}`) > 20)
        return
      await sleep(RETRY_MS)
    }
  }

  const report = async (device) => {
    for (let count = 1; isRunning; count++) {
      const kind = count % EMERGENCY_EVERY === 0 ? 'emergency' : 'report'
      const { path, body, ...sent } = OPERATIONS[kind].prepare(device, 1)
      const headers = {
        Authorization: `Bearer ${account.token}`,
        'Content-Type': 'application/json',
      }
      await sendUntilTaken(
        () => sendOnce(path, { method: 'POST', headers, body }),
        ({ status }) => status === 201,
      )
      OPERATIONS[kind].apply(device, null, sent)
      await sleep(PAUSE_MS)
    }
  }

  const push = async () => {
    for (let number = 1; isRunning; number++) {
      const time = pushesFrom + number * 1000
      const path = `${pushPath}?id=${PUSHED}&lat=38.7&lon=-9.1&timestamp=${time}`
      await sendUntilTaken(
        () => sendOnce(path),
        ({ status, text }) => {
          if (status === 503) run.faults.push(`a push got 503 ${text.slice(0, 200)}`)
          return status === 200
        },
      )
      pushed.times.add(new Date(time).toISOString())
      await sleep(PAUSE_MS * 2)
    }
  }

  const clients = Promise.all([...devices.map(report), push()])
  return {
    run,
    stop() {
      isRunning = false
      return clients
    },
  }
}
