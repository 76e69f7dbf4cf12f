import { strict as assert } from 'node:assert'
import { waitUntilSent } from '../chaos/auditAlerts.mjs'
import { caller, getToken, listAll, send } from '../harness/http.mjs'
import { adminToken } from '../harness/server.mjs'

/** Everybody who gets a message of an emergency. */
export async function addPeople(call) {
  const person = { name: 'Ana', email: 'ana@example.com', country: 'PT', timeZone: 'UTC' }
  await call('POST', '/api/users', { ...person, notify: { email: true } })
  await call('PATCH', '/api/account', CONTACTS)
}
const CONTACTS = { emergencyContacts: [{ name: 'Coast guard', email: 'guard@example.com' }] }

export async function sweep(base) {
  const reply = await send(base, '/cdn-cgi/local/scheduled', { timeoutMs: 60_000 })
  assert.equal(reply.status, 200, `the sweep: ${reply.text.slice(0, 300)}`)
}

let lastMinute = 0
const nextTime = () => new Date(Date.now() - 86_400_000 + ++lastMinute * 60_000).toISOString()

export const reportLocation = (call, id) =>
  call('POST', `/api/devices/${id}/locations`, {
    locations: [{ dateTime: nextTime(), latitude: 38.7 + lastMinute / 1000, longitude: -9.1 }],
  })

/** Raises an emergency, and waits until the provider has its messages. */
async function raiseEmergency(call, id, provider) {
  const { alert } = await call('POST', `/api/devices/${id}/alerts`, { alertName: 'SOSButton' })
  assert.ok(alert.emergency && alert.deliveries.length > 0, 'an emergency has messages')
  assert.deepEqual(await waitUntilSent(call), [])
  for (const message of alert.deliveries)
    assert.ok(provider.emails.has(message.id), 'the provider has got the message')
  const { alert: sent } = await call('GET', `/api/alerts/${alert.id}`)
  assert.ok(sent.deliveries.every(({ status }) => status === 'sent'))
  return alert
}

/** What both releases can do, on an account that either has made. Returns the device that it keeps. */
export async function doDaysWork(base, account, { name, provider }) {
  const call = caller(base, await getToken(base, account.userName, account.apiKey))
  const operate = caller(base, adminToken)
  const usedBefore = (await call('GET', '/api/account')).account.licenses.used
  const { device } = await call('POST', '/api/devices', { name, description: 'first' })
  await reportLocation(call, device.id)
  const track = await listAll(call, `/api/devices/${device.id}/locations`, 'locations')
  assert.equal(track.length, 1)
  await call('PATCH', `/api/devices/${device.id}`, { description: 'second' })
  assert.equal((await call('GET', `/api/devices/${device.id}`)).device.description, 'second')

  const raised = await raiseEmergency(call, device.id, provider)
  await call('POST', `/api/alerts/${raised.id}/acknowledge`, {})
  await call('POST', `/api/alerts/${raised.id}/resolve`, {})
  await reportLocation(call, device.id)

  await call('PATCH', '/api/account', { ...CONTACTS, name: `Account of ${name}` })
  const { account: operated } = await operate('PATCH', `/admin/accounts/${account.id}`, {
    licenses: 40 + lastMinute,
  })
  assert.equal(operated.licenses.total, 40 + lastMinute)
  assert.equal(operated.disabled, false)
  const shown = (await call('GET', '/api/account')).account
  assert.equal(shown.name, `Account of ${name}`)
  assert.deepEqual(shown.licenses, {
    ...shown.licenses,
    used: usedBefore + 1,
    total: 40 + lastMinute,
  })
  const { entries } = await call('GET', '/api/account/licenses/log')
  assert.equal(entries.find(({ deviceId }) => deviceId === device.id)?.what, 'granted')

  const { device: temporary } = await call('POST', '/api/devices', { name: `${name}, temporary` })
  await reportLocation(call, temporary.id)
  await call('DELETE', `/api/devices/${temporary.id}`)
  assert.equal((await call('GET', '/api/account')).account.licenses.used, usedBefore + 1)
  await sweep(base)
  return device
}

/** An account is opened, used and erased. */
export async function openAndErase(base, userName) {
  const operate = caller(base, adminToken)
  const { account, apiKey } = await operate('POST', '/admin/accounts', {
    userName,
    name: userName,
    licenses: 3,
    timeZone: 'Europe/Lisbon',
  })
  const call = caller(base, await getToken(base, userName, apiKey))
  const { device } = await call('POST', '/api/devices', { name: 'Auk' })
  await reportLocation(call, device.id)
  await operate('DELETE', `/admin/accounts/${account.id}?now=true`, { userName })
  await sweep(base)
  const again = await send(base, '/api/devices', { headers: { Authorization: `Bearer ${apiKey}` } })
  assert.equal(again.status, 401)
  return account
}
