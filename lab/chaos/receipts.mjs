import { createHmac, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { listAll, send } from '../harness/http.mjs'
import { waitUntilSent } from './auditAlerts.mjs'

/* Receipts that arrive around a kill: what is answered is applied, and applied once. */

const SECRET = Buffer.from('the-webhook-secret-of-chaos')
/** Resend then gives receipts. There is no SMS, whose provider would give none. */
export const RECEIPT_VARS = { RESEND_WEBHOOK_SECRET: `whsec_${SECRET.toString('base64')}` }
const READER = { name: 'Reader', email: 'reader@example.com', country: 'PT', timeZone: 'UTC' }
const SETTINGS = {
  emergencyContacts: [{ name: 'Coast guard', email: 'guard@example.com' }],
  escalation: null,
}
const MAX_KILL_DELAY_MS = 60
const REPORTED_WITHIN_MS = 60_000

/** A bounce as Resend reports it. Its repeat has the same id. */
const bounceOf = (account, message) => {
  const id = `msg_${randomUUID()}`
  return () => {
    const body = JSON.stringify({ type: 'email.bounced', data: { tags: { account, message } } })
    const time = String(Math.floor(Date.now() / 1000))
    const signature = createHmac('sha256', SECRET).update(`${id}.${time}.${body}`).digest('base64')
    const headers = {
      'Content-Type': 'application/json',
      'svix-id': id,
      'svix-timestamp': time,
      'svix-signature': `v1,${signature}`,
    }
    return { method: 'POST', headers, body, reuseConnection: false, timeoutMs: 10_000 }
  }
}

const sendReceipt = async (base, receipt) => {
  const reply = await send(base, '/hooks/resend/all', receipt()).catch(() => null)
  return reply?.status === 200
}

/** Each kill: an SOS is accepted, its only message bounces, and the server ends at that moment. */
export async function runReceipts({ server, account, kills, random, progress }) {
  const { call, id: accountId } = account
  await call('POST', '/api/users', READER)
  await call('PATCH', '/api/account', SETTINGS)
  const run = { bounced: [], repeated: 0, faults: [] }
  for (let kill = 0; kill < kills; kill++) {
    const { device } = await call('POST', '/api/devices', { name: `Device ${kill}` })
    const path = `/api/devices/${device.id}/alerts`
    const { alert } = await call('POST', path, { alertName: 'SOSButton' })
    run.faults.push(...(await waitUntilSent(call)))
    const receipt = bounceOf(accountId, alert.deliveries[0].id)
    const killed = sleep(random.next() * MAX_KILL_DELAY_MS).then(() => server.kill())
    let [isAnswered] = await Promise.all([sendReceipt(server.base, receipt), killed])
    await server.start()
    while (!isAnswered) {
      run.repeated++
      isAnswered = await sendReceipt(server.base, receipt)
      if (!isAnswered) await sleep(500)
    }
    run.bounced.push(alert.id)
    progress(`${kill + 1} of ${kills} kills around a receipt`)
  }
  return run
}

/** Every bounced message is shown as failed, and the account is notified of each emergency once. */
export async function auditReceipts(call, { bounced }) {
  const faults = { lost: [], duplicated: [] }
  const readReports = async () => {
    const events = await listAll(call, '/api/events', 'events')
    return Map.groupBy(
      events.filter(({ type }) => type === 'alert.undelivered'),
      ({ data }) => data.alertId,
    )
  }
  const deadline = Date.now() + REPORTED_WITHIN_MS
  let reports = await readReports()
  while (reports.size < bounced.length && Date.now() < deadline) {
    await sleep(500)
    reports = await readReports()
  }
  for (const id of bounced) {
    const { alert } = await call('GET', `/api/alerts/${id}`)
    if (alert.deliveries[0].status !== 'failed')
      faults.lost.push(`the bounce of ${alert.deliveries[0].id} is lost`)
    const count = reports.get(id)?.length ?? 0
    if (count === 0) faults.lost.push(`nobody was notified that ${id} reached nobody`)
    if (count > 1) faults.duplicated.push(`${count} reports that ${id} reached nobody`)
  }
  return faults
}
