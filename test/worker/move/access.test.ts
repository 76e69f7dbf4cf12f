import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { runMove } from '../../../src/move/run.ts'
import { callerWith, openAccount, type TestAccount } from '../../support/accounts.ts'
import { raiseAlert } from '../../support/alerts/alerts.ts'
import { readMessages, waitUntilSent } from '../../support/alerts/messages.ts'
import { createWatch, readWatch } from '../../support/alerts/watches.ts'
import {
  dump,
  endGrace,
  evictAll,
  finishMove,
  insertMove,
  movePath,
  readMove,
  report,
  stopMove,
} from '../../support/db/moves.ts'
import { createDevice } from '../../support/devices.ts'
import { from, headOf } from '../../support/feed/events.ts'
import { listen } from '../../support/feed/streams.ts'
import { createWebhook, receiver } from '../../support/feed/webhooks.ts'
import { call, callAsOperator } from '../../support/http.ts'
import { createSignInUser, makeLink, refresh, signIn } from '../../support/sessions.ts'
import { makeSource } from '../../support/sources.ts'
import { eventually } from '../../support/time.ts'
import { createUser } from '../../support/users.ts'

/** Ends a freeze as its time does. */
const endFreeze = ({ id }: TestAccount) =>
  env.DB.prepare('UPDATE moved_accounts SET until = 0 WHERE account_id = ?').bind(id).run()

describe('what names the first cell works', () => {
  const stop = (account: TestAccount, at: 'copying' | 'moved' | 'arrived' | 'done') =>
    at === 'done' ? insertMove(account).then(() => finishMove(account)) : stopMove(account, at)

  test.each(['copying', 'moved', 'arrived', 'done'] as const)(
    'while the move is %s: cookies, password links, answers to alerts and check-ins',
    async (at) => {
      const account = await openAccount()
      const device = await createDevice(account, 'Tern')
      const { cookie } = await signIn(account, await createSignInUser(account))
      const invited = await createUser(account, { email: `invited-${at}@example.com` })
      const link = await makeLink(account, invited)
      const watch = await createWatch(account, device, { counts: 'checkIn' })
      const { url } = (await account.call('POST', `/api/watches/${watch.id}/link`)).body
      const { alert } = (await raiseAlert(account, device, { alertName: 'SOSButton' })).body
      await waitUntilSent(account)
      const [message] = await readMessages(account, `?alertId=${alert.id}`)
      const [answer] = /\/a\/[0-9a-z]{16}/.exec(message.text) ?? []
      await stop(account, at)
      await evictAll(account)

      const refreshed = await refresh(cookie)
      expect(refreshed.status, refreshed.text).toBe(200)
      const { call: callInSession } = callerWith(refreshed.body.token)
      expect((await callInSession('GET', '/api/devices')).body.devices).toHaveLength(1)
      const password = { link, password: 'a long enough password' }
      const set = await call('POST', '/api/Auth/Password', { body: password })
      expect(set.status, set.text).toBe(200)
      expect((await call('GET', `${answer}`)).status).toBe(200)
      expect((await call('POST', `${answer}`)).status).toBe(200)
      expect((await call('POST', new URL(url).pathname)).text).toContain('Checked in.')

      await finishMove(account)
      expect((await readMove(account)).corrected).toBe(0)
      expect((await readWatch(account, watch.id)).lastCheckIn).not.toBeNull()
      const answered = await account.call('GET', `/api/alerts/${alert.id}`)
      expect(answered.body.alert.state).toBe('acknowledged')
      const rows = await dump(1, account.id)
      expect(rows.alerts).toHaveLength(1)
      expect(await dump(0, account.id)).toEqual({})
    },
  )
})

test('streams and webhooks get every event once, in order, across the move', async () => {
  const account = await openAccount({ licenses: 20 })
  const target = receiver()
  await createWebhook(account, { url: target.url(), events: ['device.*'] })
  const head = await headOf(account)
  const stream = await listen(account, { query: `?after=${head}` })
  await createDevice(account, 'One')
  await stopMove(account, 'copying')
  await createDevice(account, 'Two')
  await runMove(env, account.id)
  expect((await readMove(account)).switched).not.toBeNull()
  await createDevice(account, 'Three')
  await endGrace(account.id)
  await finishMove(account)
  await createDevice(account, 'Four')
  await stream.waitForEvents(4)
  expect(stream.sequences).toEqual(from(head + 1, head + stream.sequences.length))
  expect(stream.closed).toBeNull()
  const names = await eventually(async () => {
    const events = (await target.calls()).flatMap((one) => one.events)
    expect(events.length).toBeGreaterThanOrEqual(4)
    return events.map(({ data }) => data.name)
  })
  expect(names).toEqual(['One', 'Two', 'Three', 'Four'])
})

describe('an emergency in the freeze', () => {
  const sos = (time: number) => ({
    dateTime: new Date(time).toISOString(),
    latitude: 38.7,
    longitude: -9.1,
    alerts: ['SOSButton'],
  })
  const alertsOf = async (account: TestAccount, device: string) =>
    (await account.call('GET', `/api/devices/${device}/alerts`)).body.alerts

  test('that is reported gets a 503, and its repeat raises one alert', async () => {
    const account = await openAccount()
    const device = await createDevice(account, 'Tern')
    await stopMove(account, 'frozen')
    const body = sos(Date.now() - 5000)
    const path = `/api/devices/${device}/locations`
    const refused = await account.call('POST', path, { body })
    expect([refused.status, refused.body.code]).toEqual([503, 'account-moving'])
    await finishMove(account)
    expect((await account.call('POST', path, { body })).status).toBe(201)
    expect((await account.call('POST', path, { body })).status).toBe(201)
    await eventually(async () => expect(await alertsOf(account, device)).toHaveLength(1))
  })

  test('that the ledger raises is decided at once, and shown once the freeze is over', async () => {
    const account = await openAccount()
    await createUser(account)
    const device = await createDevice(account, 'Tern')
    await stopMove(account, 'frozen')
    const raised = await raiseAlert(account, device, { alertName: 'SOSButton' })
    expect(raised.status, raised.text).toBe(201)
    await finishMove(account)
    await waitUntilSent(account)
    await eventually(async () => {
      const alerts = await alertsOf(account, device)
      expect(alerts).toHaveLength(1)
      expect(alerts[0].deliveries).not.toHaveLength(0)
    })
    expect((await dump(1, account.id)).alerts).toHaveLength(1)
  })

  test('that a source pushes waits for the switch, and is raised in the new cell', async () => {
    const account = await openAccount()
    const device = await createDevice(account, { name: 'Tern', identifier: 'T-1' })
    const source = await makeSource(account, 'osmand')
    await stopMove(account, 'frozen')
    const query = `?id=T-1&lat=47.1&lon=8.2&alarm=sos&timestamp=${Date.now() - 1000}`
    const [push] = await Promise.all([source.push({ query }), runMove(env, account.id)])
    expect(push.status).toBe(200)
    expect((await readMove(account)).switched).not.toBeNull()
    await finishMove(account)
    await eventually(async () => expect(await alertsOf(account, device)).toHaveLength(1))
    expect((await dump(1, account.id)).locations).toHaveLength(1)
  })
})

test('what is written while an account of several pages is copied, arrives as it is at the end', async () => {
  const account = await openAccount()
  const [first, second] = [await createDevice(account, 'Tern'), await createDevice(account, 'Gull')]
  const start = Date.now() - 86_400_000
  for (let page = 0; page < 3; page++) {
    const locations = Array.from({ length: 900 }, (_, index) => ({
      dateTime: new Date(start + (page * 900 + index) * 1000).toISOString(),
      latitude: 38.7,
      longitude: -9.1,
    }))
    const path = `/api/devices/${first}/locations`
    expect((await account.call('POST', path, { body: { locations } })).status).toBe(201)
  }
  const group = await account.call('POST', '/api/groups', {
    body: { name: 'North', devices: [first] },
  })
  await stopMove(account, 'secondPage')
  const copied = (await dump(1, account.id)).locations?.length ?? 0
  expect(copied).toBe(1000)
  // Before and after the rows that are copied already, changed and deleted rows.
  expect((await report(account, first, 2000)).status).toBe(201)
  expect((await report(account, first, 1)).status).toBe(201)
  await account.call('PATCH', `/api/devices/${first}`, { body: { name: 'Renamed' } })
  await account.call('DELETE', `/api/groups/${group.body.id}`)
  await account.call('DELETE', `/api/devices/${second}`)
  await finishMove(account)
  expect(await readMove(account)).toMatchObject({ step: 'done', corrected: 0 })
  const rows = await dump(1, account.id)
  expect(rows.locations).toHaveLength(2702)
  expect(rows.groups ?? []).toEqual([])
  const { devices } = (await account.call('GET', '/api/devices')).body
  expect(devices.map(({ name }: { name: string }) => name)).toEqual(['Renamed'])
  expect(await dump(0, account.id)).toEqual({})
})

test('of two moves at the same time one is made, by one run at a time', async () => {
  const account = await openAccount()
  const device = await createDevice(account, 'Tern')
  const order = () => callAsOperator('POST', movePath(account), { body: { cell: 1 } })
  const statuses = (await Promise.all([order(), order()])).map(({ status }) => status)
  expect(statuses.sort()).toEqual([200, 409])
  await Promise.all([runMove(env, account.id), runMove(env, account.id)])
  await endFreeze(account)
  await finishMove(account)
  expect(await readMove(account)).toMatchObject({ step: 'done', corrected: 0 })
  expect((await report(account, device, 1)).status).toBe(201)
  expect((await dump(1, account.id)).devices).toHaveLength(1)
  expect(await dump(0, account.id)).toEqual({})
})
