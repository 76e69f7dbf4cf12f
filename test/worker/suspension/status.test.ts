import { runDurableObjectAlarm } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, test, vi } from 'vitest'
import { sweep } from '../../../src/sweep/sweep.ts'
import { fetchToken, openAccount, type TestAccount } from '../../support/accounts.ts'
import { createWatch, inMinutes, MINUTE, readWatch } from '../../support/alerts/watches.ts'
import { createDevice } from '../../support/devices.ts'
import { passTime } from '../../support/feed/feed.ts'
import { Listener, listen, upgrade } from '../../support/feed/streams.ts'
import { call, callAsOperator } from '../../support/http.ts'
import { ledgerStub } from '../../support/ledger.ts'
import { garminEvent, garminPush, makeSource } from '../../support/sources.ts'
import { eventually } from '../../support/time.ts'

/* What an account can do in each degree of suspension. An emergency is taken in all of them. */

const STATUSES = ['active', 'notice', 'readOnly', 'ingestOnly', 'disabled'] as const
type Status = (typeof STATUSES)[number]

const setStatus = async (account: TestAccount, status: Status, statusMessage = '') => {
  const body = { status, statusMessage }
  const reply = await callAsOperator('PATCH', `/admin/accounts/${account.id}`, { body })
  expect(reply.status, reply.text).toBe(200)
  return reply.body.account
}

let imei = 300434069100000

/** An account with everything that these tests call, then with the status. */
const suspend = async (status: Status) => {
  const account = await openAccount()
  await account.call('PATCH', '/api/account', {
    body: { emergencyContacts: [{ name: 'Duty', email: 'duty@example.com' }] },
  })
  const identifier = String(++imei)
  const device = await createDevice(account, { identifier })
  const source = await makeSource(account, 'garmin')
  const { body: key } = await account.call('POST', '/api/account/keys', {
    body: { name: 'Trackers', scopes: ['ingest'] },
  })
  await setStatus(account, status)
  return { account, identifier, device, source, ingestKey: key.apiKey as string }
}

const alertsOf = async (account: TestAccount) => {
  await setStatus(account, 'active')
  const { body } = await account.call('GET', '/api/alerts')
  return body.alerts.map(({ alerts: [name] }: { alerts: string[] }) => name)
}
const located = () => ({ dateTime: new Date().toISOString(), latitude: 38.7, longitude: -9.1 })

const REFUSALS: Record<Status, string> = {
  active: '',
  notice: '',
  readOnly: 'account-read-only',
  ingestOnly: 'account-ingest-only',
  disabled: 'account-disabled',
}

describe.each(STATUSES)('an account that is %s', (status) => {
  const degree = STATUSES.indexOf(status)

  test('writes, reads and reports as far as its status allows', async () => {
    const { account, device } = await suspend(status)
    const { body } = await call('GET', `/admin/accounts/${account.id}`, {
      token: env.ADMIN_TOKEN ?? '',
    })
    expect(body.account).toMatchObject({ status, disabled: status === 'disabled' })
    const code = REFUSALS[status]
    const refusal = [status === 'disabled' ? 401 : 403, code]
    const write = await account.call('POST', '/api/groups', { body: { name: 'North' } })
    expect([write.status, write.body.code]).toEqual(degree < 2 ? [201, undefined] : refusal)
    const read = await account.call('GET', '/api/devices')
    expect([read.status, read.body.code]).toEqual(degree < 3 ? [200, undefined] : refusal)
    const self = await account.call('GET', '/api/account')
    expect([self.status, self.body.code]).toEqual(degree < 4 ? [200, undefined] : refusal)
    const report = await account.call('POST', `/api/devices/${device}/locations`, {
      body: { location: located() },
    })
    expect(report.status, report.text).toBe(degree < 4 ? 201 : 401)
  })

  test('raises an SOS that is reported by the API, or pushed, and sends it', async () => {
    const { account, device, source, ingestKey } = await suspend(status)
    const token = await fetchToken(account.userName, ingestKey)
    const raised = await call('POST', `/api/devices/${device}/alerts`, {
      token,
      body: { alert: { alertName: 'SOSButton' } },
    })
    expect(raised.status, raised.text).toBe(201)
    const other = String(++imei)
    await setStatus(account, 'active')
    await createDevice(account, { identifier: other })
    await setStatus(account, status)
    const sos = garminEvent(other, Date.now(), { messageCode: 4 })
    expect((await source.push(garminPush([sos]))).status).toBe(200)
    await eventually(async () => {
      await runDurableObjectAlarm(ledgerStub(account))
      const { results } = await env.DB.prepare('SELECT status FROM messages WHERE account_id = ?')
        .bind(account.id)
        .all()
      expect(results).toEqual([{ status: 'sent' }, { status: 'sent' }])
    })
    expect(await alertsOf(account)).toEqual(['SOSButton', 'SOSButton'])
  })

  test('takes a report that carries an SOS, ordinary alerts unless disabled, and who handles one', async () => {
    const { account, device } = await suspend(status)
    const at = `/api/devices/${device}`
    const sos = { ...located(), alerts: ['SOSButton'] }
    const report = await account.call('POST', `${at}/locations`, { body: { location: sos } })
    expect(report.status, report.text).toBe(201)
    const alertId = await env.DB.prepare('SELECT id FROM alerts WHERE account_id = ?')
      .bind(account.id)
      .first<string>('id')
    expect((await account.call('POST', `/api/alerts/${alertId}/acknowledge`)).status).toBe(200)
    const other = await account.call('POST', `${at}/alerts`, {
      body: { alert: { alertName: 'LowBattery' } },
    })
    expect(other.status, other.text).toBe(status === 'disabled' ? 401 : 201)
    const query = await account.call('POST', `${at}/alerts`, {
      body: { from: '2026-01-01T00:00:00Z', limit: 1 },
    })
    expect(query.status, query.text).toBe([200, 200, 200, 403, 401][degree])
    const names = ['SOSButton', ...(status === 'disabled' ? [] : ['LowBattery'])]
    expect((await alertsOf(account)).toSorted()).toEqual(names.toSorted())
  })

  test('misses nobody who has checked in, and alerts about who has not', async () => {
    const { account, device, identifier, source } = await suspend('active')
    const watch = await createWatch(account, device, { due: inMinutes(30), graceMinutes: 5 })
    const late = await createWatch(account, await createDevice(account), {
      due: inMinutes(30),
      graceMinutes: 5,
    })
    await setStatus(account, status)
    const ok = garminEvent(identifier, Date.now(), { messageCode: 14 })
    expect((await source.push(garminPush([ok]))).status).toBe(200)
    await sweep(env, Date.now() + 40 * MINUTE)
    expect(await alertsOf(account)).toEqual(['MissedCheckIn'])
    expect((await readWatch(account, watch.id)).state).toBe('completed')
    expect((await readWatch(account, late.id)).state).toBe('overdue')
  })
})

test('of a disabled account an ordinary push is not stored nor refused, and an admin gets no token', async () => {
  const { account, source, identifier, device } = await suspend('disabled')
  // A provider that is refused for days would not send an SOS any more.
  const position = garminEvent(identifier, Date.now())
  expect((await source.push(garminPush([position]))).status).toBe(200)
  const { status, body } = await call('POST', '/api/Auth/Token', {
    body: { userName: account.userName, apiKey: account.apiKey },
  })
  expect([status, body.code]).toEqual([403, 'account-disabled'])
  await setStatus(account, 'active')
  const track = await account.call('GET', `/api/devices/${device}/lastLocation`)
  expect([track.status, track.body.code]).toEqual([404, 'no-location'])
})

const NORTH = { body: { name: 'North' } }

test.each([
  [['write'], 200, 201],
  [['ingest', 'read'], 200, 201],
  [['read'], 403, null],
  [['write', 'admin'], 403, null],
])('of a disabled account a key with the scopes %s', async (scopes, signIn, sos) => {
  const { account, device } = await suspend('active')
  const { body: key } = await account.call('POST', '/api/account/keys', {
    body: { name: 'Office', scopes },
  })
  await setStatus(account, 'disabled')
  const { status, body } = await call('POST', '/api/Auth/Token', {
    body: { userName: account.userName, apiKey: key.apiKey },
  })
  expect(status).toBe(signIn)
  if (sos === null) return
  const { token } = body
  const raised = await call('POST', `/api/devices/${device}/alerts`, {
    token,
    body: { alert: { alertName: 'SOSButton' } },
  })
  expect(raised.status, raised.text).toBe(sos)
  for (const [method, path] of [
    ['GET', '/api/devices'],
    ['POST', '/api/groups'],
    ['GET', `/api/devices/${device}/alerts`],
  ] as const) {
    const refused = await call(method, path, { token, ...(method === 'POST' && NORTH) })
    expect([401, 403], `${method} ${path} ${refused.text}`).toContain(refused.status)
  }
})

test.each(STATUSES)('the stream of an account that is %s', async (status) => {
  const { account } = await suspend('active')
  const stream = await listen(account)
  await setStatus(account, status)
  const isOpen = STATUSES.indexOf(status) <= STATUSES.indexOf('readOnly')
  const { webSocket } = await upgrade('/api/stream')
  const later = new Listener(webSocket as WebSocket)
  later.send({ type: 'token', token: account.token })
  if (isOpen) await later.waitForReady()
  else expect((await later.waitForClose()).code).toBe(4401)
  await passTime(account, 31_000)
  vi.useRealTimers()
  if (isOpen) expect(stream.closed).toBeNull()
  else expect((await stream.waitForClose()).code).toBe(4401)
  stream.socket.close()
  later.socket.close()
})

test('the account is shown its status and message, and may not change them', async () => {
  const { account } = await suspend('notice')
  await setStatus(account, 'notice', 'Your invoice of October is open.')
  const { body } = await account.call('GET', '/api/account')
  expect(body.account).toMatchObject({
    status: 'notice',
    statusMessage: 'Your invoice of October is open.',
  })
  const patched = await account.call('PATCH', '/api/account', { body: { status: 'active' } })
  expect([patched.status, patched.body.errors[0].pointer]).toEqual([400, '/status'])
  expect((await account.call('GET', '/api/account')).body.account.status).toBe('notice')
  const unknown = await callAsOperator('PATCH', `/admin/accounts/${account.id}`, {
    body: { status: 'paused' },
  })
  expect([unknown.status, unknown.body.errors[0].pointer]).toEqual([400, '/status'])
})
