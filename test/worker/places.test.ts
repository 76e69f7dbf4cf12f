import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { openCell } from '../../src/db/open.ts'
import { loadDescriber } from '../../src/places/store.ts'
import { openAccount, type TestAccount } from '../support/accounts.ts'
import { raiseAlert, readAlert } from '../support/alerts/alerts.ts'
import {
  MINUTE_MS,
  openAccountWithPeople,
  passTime,
  raiseSos,
} from '../support/alerts/emergencies.ts'
import { readMessages, waitUntilSent } from '../support/alerts/messages.ts'
import { callWithBindings, failStatements, watchBatches } from '../support/bindings.ts'
import { createDevice } from '../support/devices.ts'
import { createGroup } from '../support/groups.ts'
import { call } from '../support/http.ts'
import { beginTestsAtNoon, iso } from '../support/time.ts'
import { createBoundUser, createUser } from '../support/users.ts'
import { createZone } from '../support/zones.ts'

beginTestsAtNoon()

const PORTO = { latitude: 41.18, longitude: -8.7 }
const NEAR_PORTO = '7.2 km NW of Porto'
const AT_SEA = { latitude: 0, longitude: -150 }
const around = ({ latitude, longitude }: typeof PORTO, radius = 1000) => ({
  shape: { type: 'Circle', center: [longitude, latitude], radius },
})

const textsOf = async (account: TestAccount): Promise<string[]> =>
  (await readMessages(account)).map(({ text }: { text: string }) => text)

// First: once the towns were read, the isolate has them.
describe('without the file of towns', () => {
  const html = { 'Content-Type': 'text/html' }
  test.each([
    ['fails', () => Promise.reject(new Error('no assets'))],
    ['never answers', () => new Promise<Response>(() => {})],
    ['shows the console', async () => new Response('<!doctype html>', { headers: html })],
  ])('because the binding %s, an alert is sent all the same', async (_, fetch) => {
    const account = await openAccount()
    await createUser(account)
    const id = await createDevice(account)
    await createZone(account, { name: 'Farm', ...around(AT_SEA) })
    const ASSETS = { fetch } as unknown as Fetcher
    const raise = (place: object) =>
      callWithBindings({ ASSETS }, 'POST', `/api/devices/${id}/alerts`, {
        token: account.token,
        body: { alertName: 'LowBattery', ...place },
      })
    const { status, body } = await raise(PORTO)
    expect([status, body.alert.place]).toEqual([201, null])
    expect((await raise(AT_SEA)).body.alert.place).toBe('in Farm')
    await waitUntilSent(account)
    expect(await readMessages(account, '?status=sent')).toHaveLength(2)
    expect(await readAlert(account, body.alert.id)).toMatchObject({ ...PORTO, place: null })
  })
})

describe('the place of an alert in words', () => {
  test('is stored with it and in its e-mail and SMS', async () => {
    const account = await openAccount()
    await createUser(account, { phone: '+351910000001', notify: { email: true, sms: true } })
    const id = await createDevice(account)
    const { alert } = (await raiseAlert(account, id, PORTO)).body
    expect(alert.place).toBe(NEAR_PORTO)
    expect(await readAlert(account, alert.id)).toMatchObject({ place: NEAR_PORTO })
    const listed = await account.call('GET', `/api/devices/${id}/alerts`)
    expect(listed.body.alerts).toMatchObject([{ place: NEAR_PORTO }])
    await waitUntilSent(account)
    const texts = await textsOf(account)
    expect(texts).toHaveLength(2)
    for (const text of texts) expect(text).toContain(NEAR_PORTO)
    expect((await raiseAlert(account, id, AT_SEA)).body.alert.place).toBeNull()
    expect((await raiseAlert(account, id)).body.alert.place).toBeNull()
  })

  test('is that of the last known position if the alert came without one', async () => {
    const account = await openAccount()
    const id = await createDevice(account)
    const location = { dateTime: iso(Date.now()), ...PORTO }
    await account.call('POST', `/api/devices/${id}/locations`, { body: location })
    const { alert } = (await raiseAlert(account, id)).body
    expect(alert).toMatchObject({ positionSource: 'last-known', place: NEAR_PORTO })
  })

  test('has a zone as it is now called, as long as there is one', async () => {
    const account = await openAccount()
    const id = await createDevice(account)
    const placeNow = async () => (await raiseAlert(account, id, PORTO)).body.alert.place
    const zone = await createZone(account, { name: 'Harbour', ...around(PORTO) })
    expect(await placeNow()).toBe('in Harbour')
    const patched = await account.call('PATCH', `/api/zones/${zone}`, {
      body: { name: 'Leixões' },
    })
    expect(patched.status).toBe(200)
    expect(await placeNow()).toBe('in Leixões')
    await createZone(account, { name: 'Pier', ...around(PORTO, 100) })
    expect(await placeNow()).toBe('in Pier')
    const other = await openAccount()
    const device = await createDevice(other)
    expect((await raiseAlert(other, device, PORTO)).body.alert.place).toBe(NEAR_PORTO)
    const { zones } = (await account.call('GET', '/api/zones')).body
    for (const one of zones) await account.call('DELETE', `/api/zones/${one.id}`)
    expect(await placeNow()).toBe(NEAR_PORTO)
  })

  test('has the name of a zone cut, without links, and escaped on the page of the link', async () => {
    const account = await openAccount()
    await createUser(account)
    const id = await createDevice(account)
    const name = `<b>Bay</b> https://evil.example ${'x'.repeat(100)}`
    await createZone(account, { name, ...around(PORTO) })
    const { alert } = (await raiseAlert(account, id, PORTO)).body
    expect(alert.place).toMatch(/^in <b>Bay<\/b> … x{26}\.\.$/)
    await waitUntilSent(account)
    const [text = ''] = await textsOf(account)
    expect(text).toContain(alert.place)
    expect(text).not.toContain('evil')
    const page = await call('GET', `/a/${/\/a\/([0-9a-z]{16})/.exec(text)?.[1]}`)
    expect(page.text).toContain('in &lt;b&gt;Bay&lt;/b&gt; … x')
    expect(page.text).not.toContain('<b>')
  })

  test('is by a town while the zones cannot be read', async () => {
    const account = await openAccount()
    const id = await createDevice(account)
    await createZone(account, around(PORTO))
    const DB = failStatements(env.DB, /FROM "zones"/)
    const { status, body } = await callWithBindings({ DB }, 'POST', `/api/devices/${id}/alerts`, {
      token: account.token,
      body: { alertName: 'LowBattery', ...PORTO },
    })
    expect([status, body.alert.place]).toEqual([201, NEAR_PORTO])
  })

  test('is by a town while the database does not answer', async () => {
    const never = { prepare: env.DB.prepare.bind(env.DB), batch: () => new Promise(() => {}) }
    const db = openCell({ ...env, DB: never as unknown as D1Database }, 0)
    const inWords = await loadDescriber(env.ASSETS, db, { accountId: 'any', groupId: null })
    expect(inWords(PORTO)).toEqual({ ...PORTO, words: NEAR_PORTO })
    expect(inWords(null)).toBeNull()
  })

  test('reads zones in one call, and only their version until one is changed', async () => {
    const account = await openAccount()
    const zone = await createZone(account, around(PORTO))
    const calls: number[][] = []
    const DB = watchBatches(env.DB, (all) => calls.push(all.map(({ results }) => results.length)))
    const load = () =>
      loadDescriber(env.ASSETS, openCell({ ...env, DB }, 0), {
        accountId: account.id,
        groupId: null,
      })
    await load()
    await load()
    await account.call('PATCH', `/api/zones/${zone}`, { body: { name: 'Quay' } })
    expect((await load())(PORTO)).toMatchObject({ words: 'in Quay' })
    expect(calls).toEqual([
      [1, 1],
      [1, 0],
      [1, 1],
    ])
  })

  test('of an emergency in a location, one that joins it and its rounds is there too', async () => {
    const account = await openAccountWithPeople()
    const id = await createDevice(account)
    const report = (place: object, members: object = {}) =>
      account.call('POST', `/api/devices/${id}/locations`, {
        body: { dateTime: iso(Date.now()), ...place, ...members },
      })
    await report(PORTO, { alerts: ['SOSButton'] })
    const [alert] = (await account.call('GET', '/api/alerts')).body.alerts
    expect(alert).toMatchObject({ emergency: true, place: NEAR_PORTO })
    await passTime(account, MINUTE_MS)
    await createZone(account, { name: 'Rocks', ...around({ latitude: 41.3, longitude: -8.9 }) })
    await raiseSos(account, id, { latitude: 41.3, longitude: -8.9 })
    expect(await readAlert(account, alert.id)).toMatchObject({
      place: NEAR_PORTO,
      updates: [{ place: 'in Rocks' }],
      newestPosition: { source: 'update', place: 'in Rocks' },
    })
    await passTime(account, MINUTE_MS)
    await report({ latitude: 41.15, longitude: -8.62 })
    expect((await readAlert(account, alert.id)).newestPosition).toMatchObject({
      source: 'location',
      place: 'in Porto',
    })
    await passTime(account, 10 * MINUTE_MS)
    await waitUntilSent(account)
    const rounds = (await readMessages(account)).filter(
      ({ kind, channel }: { kind: string; channel: string }) =>
        kind === 'escalation' && channel === 'Email',
    )
    expect(rounds.length).toBeGreaterThan(0)
    for (const { text } of rounds) expect(text).toContain('          in Porto\n')
    const link = /\/a\/([0-9a-z]{16})/.exec(rounds[0].text)?.[1]
    const page = (await call('GET', `/a/${link}`)).text
    expect(page).toContain('in Porto')
    expect(page).toContain(NEAR_PORTO)
  })
})

describe('GET /api/place', () => {
  const ask = (caller: Pick<TestAccount, 'call'>, query: string) =>
    caller.call('GET', `/api/place${query}`)
  const inPorto = '?latitude=41.18&longitude=-8.7'

  test('describes a place by zones and towns, and says null where there are none', async () => {
    const account = await openAccount()
    expect((await ask(account, inPorto)).body).toEqual({ success: true, place: NEAR_PORTO })
    await createZone(account, { name: 'Harbour', ...around(PORTO) })
    expect((await ask(account, inPorto)).body.place).toBe('in Harbour')
    expect((await ask(account, '?latitude=0&longitude=-150')).body.place).toBeNull()
    expect((await ask(account, '?latitude=90&longitude=180')).body.place).toBeNull()
  })

  test('names no zone to a user who is confined to a group', async () => {
    const account = await openAccount()
    await createZone(account, { name: 'Harbour', ...around(PORTO) })
    const group = await createGroup(account, { name: 'North', devices: [] })
    const confined = await createBoundUser(account, { group: group.id, privileges: ['read'] })
    expect((await ask(confined, inPorto)).body.place).toBe(NEAR_PORTO)
  })

  test.each([
    ['', ['#/query/latitude', '#/query/longitude']],
    ['?latitude=&longitude=1', ['#/query/latitude']],
    ['?latitude=90.1&longitude=1', ['#/query/latitude']],
    ['?latitude=1&longitude=-180.5', ['#/query/longitude']],
    ['?latitude=1&longitude=east', ['#/query/longitude']],
  ])('refuses %s', async (query, pointers) => {
    const { status, body } = await ask(await openAccount(), query)
    expect(status).toBe(400)
    expect(body.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual(pointers)
  })
})
