import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { caller, getToken, listAll, send } from '../../harness/http.mjs'
import { waitUntilSent } from '../auditAlerts.mjs'

/* Emergencies that go to a browser, and kills around the push service's reply and the receipt. */

/** The push service is on this machine. */
export const NOTIFICATION_VARS = { ALLOW_LOOPBACK_WEBHOOKS: 'true' }
const READER = {
  name: 'Reader',
  email: 'reader@example.com',
  country: 'PT',
  timeZone: 'UTC',
  notify: { email: false, sms: false, push: true },
}
const SETTINGS = {
  emergencyContacts: [{ name: 'Coast guard', email: 'guard@example.com' }],
  escalation: null,
}
const PATH = '/api/me/pushSubscriptions'
const MAX_KILL_DELAY_MS = 60
const REPEAT_MS = 500
const REPORTED_WITHIN_MS = 60_000

/** When the server is killed: set up before the alert is raised, with the kill as a function. */
const MOMENTS = {
  'before the push service replies': (browser, kill) => {
    browser.beforeReply = kill
  },
  'after the push service replied': (browser, kill, delayMs) => {
    browser.afterReply = () => sleep(delayMs).then(kill)
  },
  'around the receipt': () => {},
  'after the receipt': () => {},
  'while the push service knows no such browser': (browser, kill, delayMs) => {
    browser.status = 410
    browser.afterReply = () => sleep(delayMs).then(kill)
  },
}

const once = (run) => {
  let isDone = false
  return async () => {
    if (isDone) return
    isDone = true
    await run()
  }
}

/** Repeats until it is answered; what a kill interrupts is answered by the next process. */
const repeat = async (run) => {
  for (;;) {
    const outcome = await run().catch(() => null)
    if (outcome) return outcome
    await sleep(REPEAT_MS)
  }
}

const sendReceipt = async (base, { receipt }) => {
  const options = { method: 'POST', reuseConnection: false, timeoutMs: 10_000 }
  return (await send(base, receipt, options)).status === 200
}

/** Each kill: a browser subscribes, and an SOS is sent to it alone. */
export async function runNotifications(options) {
  const { server, account, pushService, kills, random, progress } = options
  const { call } = account
  const { id: userId } = await call('POST', '/api/users', READER)
  await call('PATCH', '/api/account', SETTINGS)
  const { apiKey } = await call('POST', '/api/account/keys', {
    name: 'Browser',
    userId,
    scopes: ['read'],
  })
  const asUser = caller(server.base, await getToken(server.base, account.userName, apiKey))
  const run = { asUser, sent: [], faults: [] }
  for (let index = 0; index < kills; index++) {
    const [moment, prepare] = Object.entries(MOMENTS)[index % Object.keys(MOMENTS).length]
    const browser = pushService.makeBrowser()
    const { pushSubscription } = await asUser('POST', PATH, browser.subscription)
    const { device } = await call('POST', '/api/devices', { name: `Device ${index}` })
    const killed = Promise.withResolvers()
    const delayMs = random.next() * MAX_KILL_DELAY_MS
    const kill = once(async () => {
      await server.kill()
      await server.start()
      killed.resolve()
    })
    prepare(browser, kill, delayMs)
    const headers = { 'Idempotency-Key': randomUUID() }
    const path = `/api/devices/${device.id}/alerts`
    const raise = () => call('POST', path, { alertName: 'SOSButton' }, headers)
    const { alert } = await repeat(raise)
    const isKilledByReceipt = moment.endsWith('the receipt')
    if (!isKilledByReceipt) await killed.promise
    run.faults.push(...(await waitUntilSent(call)))
    const isGone = browser.status === 410
    for (const payload of isGone ? [] : browser.payloads) {
      if (moment === 'around the receipt') sleep(delayMs).then(kill)
      await repeat(() => sendReceipt(server.base, payload))
    }
    if (moment === 'after the receipt') await kill()
    if (isKilledByReceipt) await killed.promise
    if (!isGone) await asUser('DELETE', `${PATH}/${pushSubscription.id}`)
    run.sent.push({ moment, alertId: alert.id, payloads: browser.payloads, isGone })
    progress(`${index + 1} of ${kills} kills around a notification`)
  }
  return run
}

/** Every emergency was sent and is delivered, or its browser is gone and the account notified once. */
export async function auditNotifications(call, { asUser, sent }) {
  const faults = { lost: [], duplicated: [] }
  const readReports = async () => {
    const events = await listAll(call, '/api/events', 'events')
    const reports = events.filter(({ type }) => type === 'alert.undelivered')
    return Map.groupBy(reports, ({ data }) => data.alertId)
  }
  const gone = sent.filter(({ isGone }) => isGone)
  const deadline = Date.now() + REPORTED_WITHIN_MS
  let reports = await readReports()
  while (reports.size < gone.length && Date.now() < deadline) {
    await sleep(REPEAT_MS)
    reports = await readReports()
  }
  for (const { moment, alertId, payloads, isGone } of sent) {
    const { alert } = await call('GET', `/api/alerts/${alertId}`)
    const statuses = alert.deliveries.map(({ status }) => status).join(', ')
    if (!payloads.some((payload) => payload.alertId === alertId))
      faults.lost.push(`${moment}: no notification of ${alertId}`)
    if (statuses !== (isGone ? 'failed' : 'delivered'))
      faults.lost.push(`${moment}: the notification of ${alertId} is ${statuses}`)
    const count = reports.get(alertId)?.length ?? 0
    if (isGone && count === 0)
      faults.lost.push(`nobody was notified that ${alertId} reached nobody`)
    if (count > (isGone ? 1 : 0))
      faults.duplicated.push(`${moment}: ${count} reports that ${alertId} reached nobody`)
  }
  const { pushSubscriptions } = await asUser('GET', PATH)
  if (pushSubscriptions.length > 0)
    faults.lost.push(`${pushSubscriptions.length} subscriptions that are gone are still stored`)
  return faults
}
