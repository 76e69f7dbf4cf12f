import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { countSignIn } from '../../../src/auth/signIns.ts'
import { openCell } from '../../../src/db/open.ts'
import { formatApiKey } from '../../../src/domain/account/apiKey.ts'
import { deleteOldRows } from '../../../src/sweep/deletion/oldRows.ts'
import { fetchToken, openAccount } from '../../support/accounts.ts'
import { actionsOf, auditOf } from '../../support/db/audit.ts'
import { call, callAsOperator } from '../../support/http.ts'
import {
  createSignInUser,
  credentialsOf,
  postSignIn,
  postWithCookie,
  signIn,
} from '../../support/sessions.ts'
import { DAY_MS, daysAgo, eventually, iso } from '../../support/time.ts'
import { createBoundUser } from '../../support/users.ts'

vi.spyOn(console, 'log').mockImplementation(() => {})
afterEach(() => {
  vi.useRealTimers()
})

const from = (address: string) => ({ 'CF-Connecting-IP': address })
const attempts = (count: number) => [{ path: 'attempts', from: null, to: count }]

describe('sign-ins', () => {
  test('of users have an entry each, and so has their end', async () => {
    const account = await openAccount()
    const user = await createSignInUser(account, { name: 'Ana' })
    const { sessionId, cookie } = await signIn(account, user)
    await postWithCookie('/api/Auth/SignOut', cookie, { body: { everywhere: false } })
    const [ended, started] = await auditOf(account, `resource=${sessionId}`)
    const actor = { type: 'user', id: user.id, name: 'Ana' }
    expect(started).toMatchObject({ action: 'session.started', actor })
    expect(started?.changes).toContainEqual({ path: 'userAgent', from: null, to: 'Test/1.0' })
    expect(ended).toMatchObject({ action: 'session.ended', actor })
  })

  test('of keys are counted by the hour and network', async () => {
    const account = await openAccount()
    for (const address of ['192.0.2.1', '192.0.2.1', '198.51.100.1'])
      await fetchToken(account.userName, account.apiKey, from(address))
    await eventually(async () => {
      const found = await auditOf(account, 'action=key.signedIn&limit=1000')
      const of = (address: string) => found.filter((entry) => entry.address === address)
      expect(of('192.0.2.1')).toMatchObject([{ changes: attempts(2), actor: { name: 'first' } }])
      expect(of('198.51.100.1')).toMatchObject([{ changes: attempts(1) }])
    })
  })

  test('that are refused are counted: wrong keys, wrong passwords and unknown users', async () => {
    const account = await openAccount()
    const user = await createSignInUser(account)
    const keyId = `key_${account.apiKey.split('_')[1]}`
    const wrong = formatApiKey(keyId, '0'.repeat(40))
    for (const apiKey of [wrong, wrong]) {
      const body = { userName: account.userName, apiKey }
      expect((await call('POST', '/api/Auth/Token', { body })).status).toBe(401)
    }
    const credentials = credentialsOf(account, user)
    for (const email of [user.email, 'nobody@example.com'])
      expect((await postSignIn({ ...credentials, email, password: 'wrong horse' })).status).toBe(
        401,
      )
    await eventually(async () => {
      const found = await auditOf(account, 'action=signIn.refused')
      expect(found).toHaveLength(3)
      expect(found.find(({ resource }) => resource.type === 'key')?.changes).toEqual(attempts(2))
      const ofUser = found.filter(({ resource }) => resource.type === 'user')
      expect(ofUser.map(({ resource }) => resource.id).sort()).toEqual(['', user.id])
      expect(JSON.stringify(found)).not.toMatch(/wrong horse|nobody@example|00000000/)
    })
  })

  test('with right credentials that may not sign in are refused ones', async () => {
    const account = await openAccount()
    const user = await createSignInUser(account)
    const getToken = (apiKey: string) =>
      call('POST', '/api/Auth/Token', { body: { userName: account.userName, apiKey } })
    const body = { disabled: true }
    await account.call('PATCH', `/api/users/${user.id}`, { body })
    expect((await postSignIn(credentialsOf(account, user))).status).toBe(403)
    await callAsOperator('PATCH', `/admin/accounts/${account.id}`, { body })
    expect((await getToken(account.apiKey)).status).toBe(403)
    await callAsOperator('PATCH', `/admin/accounts/${account.id}`, { body: { disabled: false } })
    await eventually(async () => {
      const found = await auditOf(account, 'action=signIn.refused')
      const resources = found.map(({ resource }) => resource.id).sort()
      expect(resources).toEqual([`key_${account.apiKey.split('_')[1]}`, user.id])
    })
    // The token of `openAccount`, and no other.
    expect(await auditOf(account, 'action=key.signedIn')).toMatchObject([{ changes: attempts(1) }])
  })

  test('to a user name that does not exist leave nothing', async () => {
    const rows = () => env.DB.prepare('SELECT count(*) AS n FROM audit').first('n')
    const before = await rows()
    const body = { userName: 'no-such-account', apiKey: 'pgk_none' }
    expect((await call('POST', '/api/Auth/Token', { body })).status).toBe(401)
    await scheduler.wait(200)
    expect(await rows()).toBe(before)
  })

  test('fill at most 100 entries an hour, which go on counting', async () => {
    const account = await openAccount()
    const db = openCell(env, 0)
    // Not today: the account's own entries are of now.
    const at = (hour: number, minute = 0) => daysAgo(2) + (hour * 60 + minute) * 60_000
    const span = (from: number, to: number) => `from=${iso(from)}&to=${iso(to)}&limit=1000`
    const now = at(10, 30)
    const count = (network: number, action: 'signIn.refused' | 'key.signedIn', time = now) =>
      countSignIn(db, {
        accountId: account.id,
        action,
        resource: { type: 'key', id: 'key_x' },
        writer: { actor: { type: 'system', id: 'test', name: null }, requestId: '', address: null },
        network: String(network),
        now: time,
      })
    for (let network = 0; network < 110; network++) await count(network, 'signIn.refused')
    await count(0, 'signIn.refused', now + 60_000)
    await count(200, 'key.signedIn')
    const read = (query: string) => auditOf(account, `${span(at(10), at(11))}&${query}`)
    const refused = await read('action=signIn.refused')
    expect(refused).toHaveLength(100)
    expect(refused.filter(({ changes }) => changes[0]?.to === 2)).toMatchObject([
      { at: iso(at(10, 31)) },
    ])
    expect(await read('action=key.signedIn')).toHaveLength(1)
    const since = (minute: number) => auditOf(account, span(at(10, minute), at(11)))
    expect(await since(30)).toHaveLength(101)
    expect(await since(31)).toHaveLength(1)
    expect(await since(32)).toEqual([])
    await count(150, 'signIn.refused', now + 3_600_000)
    expect(await actionsOf(account, span(at(11), at(12)))).toEqual(['signIn.refused'])
  })
})

const networksOf = (keyId: string) =>
  env.DB.prepare('SELECT count(*) AS n FROM key_networks WHERE key_id = ?').bind(keyId).first('n')

describe('a key that is used from a new network', () => {
  test('has an entry for each network, the first time', async () => {
    const account = await openAccount()
    const { keyId, token } = await createBoundUser(account, { privileges: ['admin'] })
    const use = (address: string) => call('GET', '/api/me', { token, headers: from(address) })
    for (const address of ['192.0.2.9', '192.0.2.9', '2001:db8:1::1', '192.0.2.9'])
      await use(address)
    await eventually(async () => {
      const found = await auditOf(account, `resource=${keyId}&action=key.usedFromNewNetwork`)
      expect(found.map(({ address }) => address).sort()).toEqual(['192.0.2.9', '2001:db8:1::1'])
      expect(found[0]).toMatchObject({ actor: { type: 'key', id: keyId } })
    })
    expect(await networksOf(keyId)).toBe(2)
    const { results } = await env.DB.prepare('SELECT network FROM key_networks WHERE key_id = ?')
      .bind(keyId)
      .all()
    expect(JSON.stringify(results)).not.toContain('192.0.2')
  })

  test('a report from a known network writes no row', async () => {
    const account = await openAccount()
    const { body } = await account.call('POST', '/api/devices', { body: { name: 'Tern' } })
    const path = `/api/devices/${body.device.id}/locations`
    const report = (minute: number) =>
      account.call('POST', path, {
        body: {
          dateTime: new Date(Date.now() - minute * 60_000).toISOString(),
          latitude: 1,
          longitude: 2,
        },
        headers: from('192.0.2.44'),
      })
    await report(1)
    await eventually(async () =>
      expect(await actionsOf(account)).toContain('key.usedFromNewNetwork'),
    )
    const before = await actionsOf(account, 'limit=1000')
    for (let minute = 2; minute < 6; minute++) expect((await report(minute)).status).toBe(201)
    await scheduler.wait(200)
    expect(await actionsOf(account, 'limit=1000')).toEqual(before)
  })

  test('its networks go with the key: revoked, of a deleted user, or expired', async () => {
    const account = await openAccount()
    const make = async () => {
      const user = await createBoundUser(account, { privileges: ['admin'] })
      await user.call('GET', '/api/me', { headers: from('192.0.2.77') })
      await eventually(async () => expect(await networksOf(user.keyId)).toBe(1))
      return user
    }
    const [revoked, ofDeleted, expired] = [await make(), await make(), await make()]
    await account.call('DELETE', `/api/account/keys/${revoked.keyId}`)
    expect(await networksOf(revoked.keyId)).toBe(0)
    await account.call('DELETE', `/api/users/${ofDeleted.id}`)
    expect(await networksOf(ofDeleted.keyId)).toBe(0)
    expect(await actionsOf(account, `resource=${ofDeleted.keyId}`)).toContain('key.revoked')
    await env.DB.prepare('UPDATE keys SET expires = ? WHERE id = ?')
      .bind(Date.now(), expired.keyId)
      .run()
    const run = { env, cell: 0, db: openCell(env, 0), take: () => true, later: () => {} }
    await deleteOldRows({ ...run, now: Date.now() + 29 * DAY_MS })
    expect(await networksOf(expired.keyId)).toBe(1)
    await deleteOldRows({ ...run, now: Date.now() + 31 * DAY_MS })
    expect(await networksOf(expired.keyId)).toBe(0)
  })

  test('counts at most 100 networks', async () => {
    const account = await openAccount()
    const { keyId, token } = await createBoundUser(account, { privileges: ['admin'] })
    await env.DB.prepare(
      `INSERT INTO key_networks (key_id, network, account_id, creation)
       WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
       SELECT ?, 'n' || i, ?, 0 FROM n`,
    )
      .bind(keyId, account.id)
      .run()
    await call('GET', '/api/me', { token, headers: from('192.0.2.200') })
    await scheduler.wait(300)
    expect(await networksOf(keyId)).toBe(100)
    expect(await actionsOf(account, `resource=${keyId}`)).not.toContain('key.usedFromNewNetwork')
  })
})
