import { env } from 'cloudflare:workers'
import { afterEach, expect, test } from 'vitest'
import { devices as contracts } from '../../../src/devices/contract.ts'
import type { Operation } from '../../../src/http/contract/contract.ts'
import type { Deprecations } from '../../../src/http/version/deprecation.ts'
import {
  type Change,
  FIRST_VERSION,
  NEWEST_VERSION,
  VERSIONS,
} from '../../../src/http/version/versions.ts'
import { fetchToken, openAccount, type TestAccount } from '../../support/accounts.ts'
import { call, callAsOperator } from '../../support/http.ts'

const undo: (() => void)[] = []
afterEach(() => {
  for (const step of undo.splice(0)) step()
})

const HEADER = 'Perigee-Version'
const KEYS = '/api/account/keys'

/** As if a later version had made these changes. */
const addVersion = (...changes: Change[]): void => {
  VERSIONS.push({ date: '9999-01-01', changes })
  undo.push(() => VERSIONS.pop())
}

const deprecate = (contract: Operation, deprecations: Deprecations): void => {
  Object.assign(contract, deprecations)
  undo.push(() => {
    delete contract.deprecated
    delete contract.deprecatedMembers
  })
}

const makeKey = async (account: TestAccount, body: object = {}) =>
  (await account.call('POST', KEYS, { body: { name: 'k', scopes: ['admin'], ...body } })).body

test('replies name their version, and an unknown one is a 400 with what there is', async () => {
  const account = await openAccount()
  const replies = [
    await account.call('GET', '/api/devices'),
    await account.call('GET', '/api/devices', { headers: { [HEADER]: NEWEST_VERSION } }),
    await account.call('GET', '/api/nothing'),
    await call('GET', '/healthz'),
    await callAsOperator('GET', '/admin/accounts?limit=1', {
      headers: { [HEADER]: FIRST_VERSION },
    }),
  ]
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 404, 200, 200])
  for (const { headers } of replies) expect(headers.get(HEADER)).toBe(NEWEST_VERSION)
  for (const version of ['', 'newest', '2001-01-01', `${NEWEST_VERSION} `.repeat(2)]) {
    const headers = { [HEADER]: version }
    const reply = await account.call('POST', '/api/devices', { headers, body: { name: 'Tern' } })
    expect([reply.status, reply.body.code]).toEqual([400, 'invalid-request'])
    expect(reply.body.errors).toEqual([
      { pointer: `#/header/${HEADER}`, detail: expect.stringContaining(NEWEST_VERSION) },
    ])
  }
  expect((await account.call('GET', '/api/devices')).body.devices).toEqual([])
  const headers = { [HEADER]: '2001-01-01' }
  expect((await call('GET', '/api/devices', { headers })).status).toBe(401)
  expect((await call('POST', '/api/Auth/Token', { headers, body: {} })).status).toBe(400)
})

test('browsers may send the version and read what a reply says of it', async () => {
  const preflight = await call('OPTIONS', '/api/devices')
  expect(preflight.headers.get('Access-Control-Allow-Headers')).toContain(HEADER)
  const exposed = (await call('GET', '/healthz')).headers.get('Access-Control-Expose-Headers')
  for (const name of [HEADER, 'Deprecation', 'Sunset']) expect(exposed).toContain(name)
})

test('a key pins the newest version, or the one that was asked for', async () => {
  const account = await openAccount()
  const { key } = await makeKey(account)
  expect(key.version).toBe(NEWEST_VERSION)
  expect((await makeKey(account, { version: FIRST_VERSION })).key.version).toBe(FIRST_VERSION)
  expect((await makeKey(account, { version: null })).key.version).toBe(NEWEST_VERSION)
  const wrong = await account.call('POST', KEYS, {
    body: { name: 'k', scopes: ['read'], version: '2001-01-01' },
  })
  expect([wrong.status, wrong.body.errors[0].pointer]).toEqual([400, '/version'])
  const path = `${KEYS}/${key.id}/regenerate`
  const refused = await account.call('POST', path, { body: { version: 'newest' } })
  expect([refused.status, refused.body.errors[0].pointer]).toEqual([400, '/version'])
  const again = await account.call('POST', path, { body: { version: FIRST_VERSION } })
  expect(again.body.key.version).toBe(FIRST_VERSION)
  const { entries } = (await account.call('GET', '/api/account/audit?action=key.created')).body
  expect(JSON.stringify(entries)).toContain('{"path":"version"')
})

test('a key from before the versions pins the first, one of a later release the newest', async () => {
  const account = await openAccount()
  const { key, apiKey } = await makeKey(account)
  const pin = async (version: string | null) => {
    await env.DB.prepare('UPDATE keys SET api_version = ? WHERE id = ?').bind(version, key.id).run()
    return (await account.call('GET', `${KEYS}/${key.id}`)).body.key.version
  }
  expect(await pin('9999-12-31')).toBe(NEWEST_VERSION)
  expect(await pin(null)).toBe(FIRST_VERSION)
  const token = await fetchToken(account.userName, apiKey)
  const reply = await call('GET', '/api/devices', { token })
  expect([reply.status, reply.headers.get(HEADER)]).toEqual([200, FIRST_VERSION])
  const kept = await account.call('POST', `${KEYS}/${key.id}/regenerate`)
  expect(kept.body.key.version).toBe(FIRST_VERSION)
})

test('bodies and replies of an older version are converted, replays too', async () => {
  const account = await openAccount()
  addVersion({
    operations: ['createDevice', 'listDevices'],
    summary: '`label` is now `name`.',
    upgradeBody: (body) => {
      const { label, ...rest } = body as { label: string }
      return { ...rest, name: label }
    },
    downgradeReply: (reply) => ({ ...reply, isOld: true }),
  })
  const create = () =>
    account.call('POST', '/api/devices', {
      headers: { 'Idempotency-Key': 'one', [HEADER]: FIRST_VERSION },
      body: { label: 'Tern' },
    })
  const created = await create()
  expect(created.body).toMatchObject({ success: true, device: { name: 'Tern' }, isOld: true })
  expect(created.headers.get('Location')).toBe(`/api/devices/${created.body.device.id}`)
  const replayed = await create()
  expect(replayed.headers.get('Idempotent-Replayed')).toBe('true')
  expect(replayed.body).toEqual(created.body)
  expect((await account.call('GET', '/api/devices')).body.isOld).toBe(true)
  expect((await account.call('HEAD', '/api/devices')).text).toBe('')
  expect((await account.call('GET', '/api/account')).body).not.toHaveProperty('isOld')
  const problem = await account.call('GET', '/api/devices?limit=x')
  expect([problem.status, problem.body.isOld]).toEqual([400, undefined])
})

test('what is deprecated says so in its replies, and keeps the link to the next page', async () => {
  const account = await openAccount()
  for (const name of ['Tern', 'Gull'])
    await account.call('POST', '/api/devices', { body: { name } })
  const old = { since: '2001-01-01', sunset: '2002-02-03', instead: 'Use `q`.' }
  deprecate(contracts.list, { deprecated: old })
  const { headers } = await account.call('GET', '/api/devices?limit=1')
  expect(headers.get('Deprecation')).toBe('@978307200')
  expect(headers.get('Sunset')).toBe('Sun, 03 Feb 2002 00:00:00 GMT')
  expect(headers.get('Link')).toMatch(/^<\/docs>; rel="deprecation".*, <.*>; rel="next"$/)
  const others = await account.call('GET', '/api/groups')
  expect(others.headers.has('Deprecation')).toBe(false)
})

test('a deprecated member marks only the replies to requests that have it', async () => {
  const account = await openAccount()
  const members = { model: { since: '2001-01-01', instead: 'Use `tags`.' } }
  for (const contract of [contracts.create, contracts.patch])
    deprecate(contract, { deprecatedMembers: members })
  const marks = async (method: string, path: string, body: unknown) => {
    const { status, headers } = await account.call(method, path, { body })
    expect(status).toBeLessThan(300)
    expect(headers.has('Sunset')).toBe(false)
    return headers.get('Deprecation')
  }
  const devices = '/api/devices'
  expect(await marks('POST', devices, { name: 'Tern', model: 'x' })).toBe('@978307200')
  expect(await marks('POST', devices, { device: { name: 'Auk', model: 'x' } })).toBe('@978307200')
  expect(await marks('POST', devices, { name: 'Gull' })).toBeNull()
  const { id } = (await account.call('GET', devices)).body.devices[0]
  expect(await marks('PATCH', `${devices}/${id}`, { model: 'y' })).toBe('@978307200')
  expect(await marks('PATCH', `${devices}/${id}`, { name: 'Skua' })).toBeNull()
  const patch = [{ op: 'replace', path: '/model', value: 'z' }]
  expect(await marks('PATCH', `${devices}/${id}`, patch)).toBe('@978307200')
})
