import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { sweep } from '../../../src/sweep/sweep.ts'
import { eraseAccount, fetchToken, openAccount, type TestAccount } from '../../support/accounts.ts'
import { openAccountWithPeople, raiseSos } from '../../support/alerts/emergencies.ts'
import { waitUntilSent } from '../../support/alerts/messages.ts'
import { createWatch } from '../../support/alerts/watches.ts'
import { callWithBindings } from '../../support/bindings.ts'
import { createDevice } from '../../support/devices.ts'
import { listen } from '../../support/feed/streams.ts'
import { createGroup } from '../../support/groups.ts'
import { call, callAsOperator } from '../../support/http.ts'
import { ledgerStub } from '../../support/ledger.ts'
import { makeSource } from '../../support/sources.ts'
import { eventually } from '../../support/time.ts'
import { createBoundUser } from '../../support/users.ts'

const DAY = 86_400_000
const pathOf = ({ id }: { id: string }) => `/admin/accounts/${id}`
const deleteIt = (account: TestAccount) => callAsOperator('DELETE', pathOf(account))
const undelete = (account: TestAccount) => callAsOperator('POST', `${pathOf(account)}/undelete`)
const report = (account: TestAccount, device: string) =>
  account.call('POST', `/api/devices/${device}/locations`, {
    body: { location: { dateTime: new Date().toISOString(), latitude: 38.7, longitude: -9.1 } },
  })
const getToken = ({ userName, apiKey }: TestAccount) =>
  call('POST', '/api/Auth/Token', { body: { userName, apiKey } })

describe('a deleted account', () => {
  test('is unreachable at once, keeps its user name, and comes back whole', async () => {
    const account = await openAccount({ licenses: 3 })
    const device = await createDevice(account, { identifier: 'alpha-1' })
    await report(account, device)
    const source = await makeSource(account, 'osmand')
    await createWatch(account, device, { everyMinutes: 60 })
    const stream = await listen(account)
    const before = (await account.call('GET', '/api/account')).body.account
    const events = (await account.call('GET', '/api/events?limit=100')).body.events
    const { body } = await deleteIt(account)
    expect(body.success).toBe(true)

    expect((await stream.waitForClose()).code).toBe(4401)
    expect((await account.call('GET', '/api/devices')).status).toBe(401)
    expect((await getToken(account)).status).toBe(401)
    expect((await source.push({ query: '?id=alpha-1&lat=1&lon=1&alarm=sos' })).status).toBe(404)
    const shown = (await callAsOperator('GET', pathOf(account))).body.account
    expect(Date.parse(shown.erasesAt) - Date.parse(shown.deletedAt)).toBe(30 * DAY)
    for (const [method, path] of [
      ['PATCH', pathOf(account)],
      ['POST', `${pathOf(account)}/keys`],
      ['POST', `${pathOf(account)}/support`],
    ] as const) {
      const body = path.endsWith('support') ? { reason: 'Why' } : { name: 'New' }
      const refused = await callAsOperator(method, path, { body })
      expect([refused.status, refused.body.detail], path).toEqual([
        404,
        expect.stringContaining('is deleted'),
      ])
    }
    const taken = await callAsOperator('POST', '/admin/accounts', {
      body: { userName: account.userName, name: 'Again', licenses: 1, timeZone: 'UTC' },
    })
    expect([taken.status, taken.body.code]).toEqual([409, 'user-name-taken'])
    // Nothing of it is due while it is deleted.
    await sweep(env, Date.now() + 2 * 3_600_000)
    expect((await deleteIt(account)).status).toBe(200)

    expect((await undelete(account)).status).toBe(200)
    const again = (await account.call('GET', '/api/account')).body.account
    expect(again.licenses).toEqual(before.licenses)
    expect((await account.call('GET', '/api/events?limit=100')).body.events).toEqual(events)
    const last = await account.call('GET', `/api/devices/${device}/lastLocation`)
    expect(last.body.lastLocation).toMatchObject({ latitude: 38.7 })
    expect((await report(account, device)).status).toBe(201)
    expect((await getToken(account)).status).toBe(200)
    const reply = await undelete(account)
    expect([reply.status, reply.body.code]).toEqual([409, 'account-not-deleted'])
  })

  test('is erased after thirty days, and not before', async () => {
    const account = await openAccount()
    await deleteIt(account)
    await sweep(env, Date.now() + 29 * DAY)
    expect((await undelete(account)).status).toBe(200)
    await deleteIt(account)
    await sweep(env, Date.now() + 30 * DAY)
    expect((await undelete(account)).body.code).toBe('account-not-found')
    expect((await callAsOperator('GET', pathOf(account))).status).toBe(404)
  })

  test('is not erased when it came back but its cell does not know yet', async () => {
    const account = await openAccount()
    await deleteIt(account)
    await undelete(account)
    await env.DB.prepare('UPDATE accounts SET deleted_at = 1 WHERE id = ?').bind(account.id).run()
    await sweep(env, Date.now())
    expect(await env.LEDGER.get(env.LEDGER.idFromName(account.id)).readAccount()).toMatchObject({
      ok: true,
    })
  })

  test('is erased at once only with its user name in the body', async () => {
    const account = await openAccount()
    for (const body of [undefined, {}, { userName: 'another' }]) {
      const refused = await callAsOperator('DELETE', `${pathOf(account)}?now=true`, {
        ...(body && { body }),
      })
      expect([refused.status, refused.body.errors?.[0]?.pointer]).toEqual([400, '/userName'])
    }
    expect((await account.call('GET', '/api/devices')).status).toBe(200)
    expect((await eraseAccount(account)).status).toBe(200)
    expect((await undelete(account)).status).toBe(404)
  })
})

describe('emergencies of a deleted account', () => {
  /** An account that was deleted before its SOS could be sent. */
  const deleteUnsent = async () => {
    const account = await openAccountWithPeople()
    const device = await createDevice(account)
    await raiseSos(account, device)
    await waitUntilSent(account)
    await deleteIt(account)
    await runInDurableObject(ledgerStub(account), (_, { storage }) => {
      storage.sql.exec(`UPDATE messages SET status = 'queued', next_try = accepted`)
    })
    await runDurableObjectAlarm(ledgerStub(account))
    return { account, device }
  }
  const statesAfter = async (account: TestAccount) => {
    expect((await undelete(account)).status).toBe(200)
    const token = await fetchToken(account.userName, account.apiKey)
    await runDurableObjectAlarm(ledgerStub(account))
    return eventually(async () => {
      const { body } = await call('GET', '/api/account/messages', { token })
      const states = body.messages.map(({ kind, status }: Record<string, string>) => [kind, status])
      expect(JSON.stringify(states)).not.toContain('queued')
      return states as [string, string][]
    })
  }

  afterEach(() => {
    vi.useRealTimers()
  })

  test('that waited are sent when it comes back within a day', async () => {
    const { account } = await deleteUnsent()
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + DAY / 24 })
    const states = await statesAfter(account)
    expect(states.filter(([kind]) => kind === 'alert')).not.toEqual([])
    for (const [, status] of states) expect(status).toBe('sent')
    expect(states.map(([kind]) => kind)).toContain('escalation')
  })

  test('are of the past when it comes back later: nothing is sent', async () => {
    const { account } = await deleteUnsent()
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 20 * DAY })
    const states = await statesAfter(account)
    for (const [, status] of states) expect(status).toBe('failed')
    expect(states.map(([kind]) => kind)).not.toContain('escalation')
  })

  test('that are old but due later go on, however long ago they were raised', async () => {
    const account = await openAccountWithPeople()
    await raiseSos(account, await createDevice(account))
    const againAt = Date.now() + DAY / 24
    await runInDurableObject(ledgerStub(account), (_, { storage }) => {
      const old = Date.now() - 1.5 * DAY
      const settled = 'raised_at = ?, check_at = NULL, next_round = NULL, again_at = ?'
      storage.sql.exec(`UPDATE emergencies SET ${settled}`, old, againAt)
    })
    await deleteIt(account)
    expect((await undelete(account)).status).toBe(200)
    const kept = await runInDurableObject(ledgerStub(account), (_, { storage }) =>
      storage.sql.exec('SELECT again_at FROM emergencies').toArray(),
    )
    expect(kept).toEqual([{ again_at: againAt }])
  })

  test('that no ledger has decided on hold up no other account, and are raised when it comes back', async () => {
    const [gone, other] = [await openAccount(), await openAccount()]
    const devices = [await createDevice(gone), await createDevice(other)]
    const crash = async (account: TestAccount, device: string) => {
      const location = { dateTime: new Date().toISOString(), latitude: 1, longitude: 2 }
      const body = { location: { ...location, alerts: ['SOSButton'] } }
      const LEDGER = {
        idFromName: (name: string) => env.LEDGER.idFromName(name),
        get: () => ({ raisePendingAlerts: () => Promise.reject(new Error('crashed')) }),
      } as unknown as typeof env.LEDGER
      const path = `/api/devices/${device}/locations`
      const reply = await callWithBindings({ LEDGER }, 'POST', path, { token: account.token, body })
      expect(reply.status, reply.text).toBe(503)
    }
    await crash(gone, devices[0] as string)
    await env.DB.prepare(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
        INSERT INTO pending_raises (id, account_id, creation, "raise")
        SELECT 'alr_x' || i, account_id, i, "raise" FROM n, pending_raises WHERE account_id = ?`,
    )
      .bind(gone.id)
      .run()
    await deleteIt(gone)
    await crash(other, devices[1] as string)
    const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
    await sweep(env, Date.now() + 60_000)
    errors.mockRestore()
    expect((await other.call('GET', '/api/alerts')).body.alerts).toHaveLength(1)
    await env.DB.prepare(`DELETE FROM pending_raises WHERE id LIKE 'alr_x%'`).run()
    expect((await undelete(gone)).status).toBe(200)
    await sweep(env, Date.now() + 60_000)
    expect((await gone.call('GET', '/api/alerts')).body.alerts).toHaveLength(1)
  })
})

describe('a deleted device', () => {
  const restore = (account: TestAccount, id: string) =>
    account.call('POST', `/api/devices/${id}/restore`)

  test('is listed for a week, and comes back with its track, groups and identifier', async () => {
    const account = await openAccount()
    const device = await createDevice(account, { name: 'Tern', identifier: 'bravo-1' })
    const group = await createGroup(account, { name: 'North', devices: [device] })
    await report(account, device)
    await account.call('DELETE', `/api/devices/${device}`)
    const { body } = await account.call('GET', '/api/devices?deleted=true')
    expect(body.devices).toMatchObject([{ id: device, name: 'Tern' }])
    const [{ deletedAt, restorableUntil }] = body.devices
    expect(Date.parse(restorableUntil) - Date.parse(deletedAt)).toBe(7 * DAY)
    expect((await account.call('GET', '/api/devices')).body.devices).toEqual([])
    const restored = await restore(account, device)
    expect(restored.status, restored.text).toBe(200)
    expect(restored.body.device).toMatchObject({ id: device, identifier: 'bravo-1' })
    const track = await account.call('GET', `/api/devices/${device}/lastLocation`)
    expect(track.body.lastLocation).toMatchObject({ latitude: 38.7 })
    const members = (await account.call('GET', `/api/groups/${group.id}`)).body
    expect(JSON.stringify(members)).toContain(device)
    expect((await account.call('GET', '/api/devices?deleted=true')).body.devices).toEqual([])
    // A repeat changes nothing.
    expect((await restore(account, device)).body.device.version).toBe(restored.body.device.version)
    const types = (await account.call('GET', '/api/events?types=device.*')).body.events
    expect(types.map(({ type }: { type: string }) => type)).toEqual([
      'device.created',
      'device.deleted',
      'device.restored',
    ])
    await sweep(env, Date.now() + 8 * DAY)
    expect((await account.call('GET', `/api/devices/${device}/lastLocation`)).status).toBe(200)
  })

  test('needs a free license and its identifier, in time, and is its account’s', async () => {
    const account = await openAccount({ licenses: 1 })
    const device = await createDevice(account, { identifier: 'charlie-1' })
    await account.call('DELETE', `/api/devices/${device}`)
    const other = await createDevice(account)
    const full = await restore(account, device)
    expect([full.status, full.body.code]).toEqual([409, 'no-license-available'])
    await account.call('DELETE', `/api/devices/${other}`)
    const taker = await createDevice(account, { identifier: 'charlie-1' })
    await callAsOperator('PATCH', pathOf(account), { body: { licenses: 5 } })
    const taken = await restore(account, device)
    expect([taken.status, taken.body.code]).toEqual([409, 'identifier-taken'])
    await account.call('DELETE', `/api/devices/${taker}`)
    expect((await restore(await openAccount(), device)).status).toBe(404)
    await createGroup(account, { name: 'South' })
    const outsider = await createBoundUser(account, {
      privileges: ['admin'],
      group: 'South',
    })
    expect((await outsider.call('POST', `/api/devices/${device}/restore`)).status).toBe(404)
    expect((await outsider.call('GET', '/api/devices?deleted=true')).body.devices).toEqual([])
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 7 * DAY })
    const token = await fetchToken(account.userName, account.apiKey)
    const late = await call('POST', `/api/devices/${device}/restore`, { token })
    vi.useRealTimers()
    expect([late.status, late.body.code]).toEqual([404, 'device-not-found'])
  })

  test('of ten concurrent restores with one license left, one device comes back', async () => {
    const account = await openAccount({ licenses: 10 })
    const ids = await Promise.all(Array.from({ length: 10 }, () => createDevice(account)))
    for (const id of ids) await account.call('DELETE', `/api/devices/${id}`)
    await callAsOperator('PATCH', pathOf(account), { body: { licenses: 1 } })
    const replies = await Promise.all(ids.map((id) => restore(account, id)))
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1)
    expect((await account.call('GET', '/api/account')).body.account.licenses).toMatchObject({
      used: 1,
    })
  })
})
