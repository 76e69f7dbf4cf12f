import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { callerWith, openAccount, type TestAccount } from '../../support/accounts.ts'
import { callWithBindings, failStatements } from '../../support/bindings.ts'
import { call, callAsOperator } from '../../support/http.ts'

afterEach(() => {
  vi.useRealTimers()
})

const MINUTE_MS = 60_000

const start = (account: TestAccount, body: object = {}, token = env.ADMIN_TOKEN ?? '') =>
  call('POST', `/admin/accounts/${account.id}/support`, {
    token,
    body: { reason: 'Ticket 4711', ...body },
  })

const startReading = async (account: TestAccount, body: object = {}, token?: string) => {
  const reply = await start(account, body, token)
  expect(reply.status, reply.text).toBe(201)
  return { id: reply.body.support.id as string, ...callerWith(reply.body.token) }
}

const createOperator = async (role = 'support') => {
  const { body } = await callAsOperator('POST', '/admin/operators', {
    body: { name: 'Ana Sousa', role },
  })
  return { id: body.operator.id as string, apiKey: body.apiKey as string }
}

const auditOf = async (account: TestAccount, action: string) =>
  (await account.call('GET', `/api/account/audit?action=${action}`)).body.entries

const allowWriting = async (account: TestAccount, supportMayWrite = true) => {
  const reply = await account.call('PATCH', '/api/account', { body: { supportMayWrite } })
  expect(reply.body.account.supportMayWrite).toBe(supportMayWrite)
}

const DEVICE = { body: { name: 'Tern' } }

describe('access of support', () => {
  test('reads, and is shown to the account and the operator while it lasts', async () => {
    const account = await openAccount({ cell: 1 })
    const operator = await createOperator()
    const support = await startReading(account, { minutes: 480 }, operator.apiKey)
    expect((await support.call('GET', '/api/devices')).status).toBe(200)
    expect((await support.call('POST', '/api/devices', DEVICE)).body.code).toBe('forbidden')
    expect((await support.call('GET', '/api/account/keys')).body.code).toBe('forbidden')
    const shown = (await account.call('GET', '/api/account')).body.account.support
    expect(shown).toMatchObject([
      { id: support.id, operator: 'Ana Sousa', reason: 'Ticket 4711', scopes: ['read'] },
    ])
    expect(Date.parse(shown[0].until) - Date.parse(shown[0].creation)).toBe(480 * MINUTE_MS)
    const operated = await callAsOperator('GET', `/admin/accounts/${account.id}`)
    expect(operated.body.account.support).toEqual(shown)
    const { keys } = (await account.call('GET', '/api/account/keys')).body
    expect(keys.find(({ id }: { id: string }) => id === support.id).support).toEqual({
      operator: 'Ana Sousa',
      reason: 'Ticket 4711',
    })
  })

  test('is in the audit of the account: its start, and each use once a minute', async () => {
    const account = await openAccount()
    const operator = await createOperator()
    const minute = Math.ceil(Date.now() / MINUTE_MS) * MINUTE_MS
    vi.useFakeTimers({ toFake: ['Date'], now: minute + 5000 })
    const support = await startReading(account, {}, operator.apiKey)
    const actor = { type: 'operator', id: operator.id, name: 'Ana Sousa' }
    const [started] = await auditOf(account, 'support.started')
    expect(started).toMatchObject({ actor, resource: { type: 'key', id: support.id } })
    expect(JSON.stringify(started.changes)).toContain('Ticket 4711')
    for (let request = 0; request < 3; request++) await support.call('GET', '/api/devices')
    await support.call('POST', '/api/devices', DEVICE)
    await support.call('GET', '/api/nothing')
    vi.setSystemTime(minute + MINUTE_MS + 5000)
    await support.call('GET', '/api/devices')
    const used = await auditOf(account, 'support.used')
    const of = (method: string, route: string) => ({
      actor,
      changes: [
        { path: 'method', from: null, to: method },
        { path: 'route', from: null, to: route },
      ],
    })
    expect(used).toHaveLength(4)
    expect(used[0]).toMatchObject(of('GET', '/api/devices'))
    expect(used).toEqual(
      expect.arrayContaining([
        expect.objectContaining(of('POST', '/api/devices')),
        expect.objectContaining(of('GET', '/*')),
      ]),
    )
  })

  test('is refused when its use cannot be recorded', async () => {
    const account = await openAccount()
    const reply = await start(account)
    const DB = failStatements(env.DB, /INSERT INTO "?audit/i)
    const read = await callWithBindings({ DB }, 'GET', '/api/devices', { token: reply.body.token })
    expect(read.status).toBe(503)
  })

  test('writes only while the account agrees', async () => {
    const account = await openAccount()
    const refused = await start(account, { scopes: ['read', 'write'] })
    expect([refused.status, refused.body.code]).toEqual([403, 'forbidden'])
    await allowWriting(account)
    const support = await startReading(account, { scopes: ['write'] })
    const made = await support.call('POST', '/api/devices', DEVICE)
    expect(made.status).toBe(201)
    const [entry] = await auditOf(account, 'device.created')
    expect(entry.actor).toEqual({ type: 'operator', id: 'operator', name: 'ADMIN_TOKEN' })
    const patched = await support.call('PATCH', '/api/account', { body: { name: 'Mine' } })
    expect(patched.body.code).toBe('forbidden')
    const body = { name: 'W', deviceId: made.body.device.id, everyMinutes: 60 }
    const watch = await support.call('POST', '/api/watches', { body })
    expect([watch.status, watch.body.url]).toEqual([201, ''])
    const link = await support.call('POST', `/api/watches/${watch.body.watch.id}/link`)
    expect(link.body.code).toBe('forbidden')
    await allowWriting(account, false)
    expect((await support.call('POST', '/api/devices', DEVICE)).body.code).toBe('forbidden')
    expect((await support.call('GET', '/api/devices')).status).toBe(200)
  })

  test('never has the scope admin, needs a reason, and ends within eight hours', async () => {
    const account = await openAccount()
    await allowWriting(account)
    for (const body of [
      { scopes: ['admin'] },
      { scopes: ['ingest'] },
      { scopes: [] },
      { reason: ' ' },
      { reason: 'x'.repeat(201) },
      { minutes: 0 },
      { minutes: 481 },
    ])
      expect((await start(account, body)).status, JSON.stringify(body)).toBe(400)
  })

  test('ends at its end', async () => {
    const account = await openAccount()
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
    const support = await startReading(account, { minutes: 90 })
    vi.setSystemTime(Date.now() + 89 * MINUTE_MS)
    expect((await support.call('GET', '/api/devices')).status).toBe(200)
    vi.setSystemTime(Date.now() + 2 * MINUTE_MS)
    expect((await support.call('GET', '/api/devices')).status).toBe(401)
    const path = `/admin/accounts/${account.id}`
    expect((await callAsOperator('GET', path)).body.account.support).toEqual([])
  })

  test('is ended by the account, which cannot renew it', async () => {
    const account = await openAccount()
    const support = await startReading(account)
    const path = `/api/account/keys/${support.id}`
    expect((await account.call('POST', `${path}/regenerate`)).body.code).toBe('forbidden')
    expect((await account.call('DELETE', path)).status).toBe(200)
    expect((await support.call('GET', '/api/devices')).body.code).toBe('key-revoked')
    expect((await account.call('GET', '/api/account')).body.account.support).toEqual([])
    const [entry] = await auditOf(account, 'key.revoked')
    expect(entry.resource.id).toBe(support.id)
  })

  test('is ended by an operator, who cannot delete keys of the account', async () => {
    const account = await openAccount()
    const operator = await createOperator()
    const support = await startReading(account, {}, operator.apiKey)
    const end = (id: string, of = account) =>
      call('DELETE', `/admin/accounts/${of.id}/support/${id}`, { token: operator.apiKey })
    const { keys } = (await account.call('GET', '/api/account/keys')).body
    const own = keys.find(({ name }: { name: string }) => name === 'first')
    expect((await end(own.id)).body.code).toBe('key-not-found')
    expect((await end(support.id, await openAccount())).body.code).toBe('key-not-found')
    expect((await end(support.id)).status).toBe(200)
    expect((await support.call('GET', '/api/devices')).status).toBe(401)
    expect((await end(support.id)).body.code).toBe('key-not-found')
  })

  test.each([
    ['is deleted', (id: string) => callAsOperator('DELETE', `/admin/operators/${id}`)],
    [
      'loses the right',
      (id: string) =>
        callAsOperator('PATCH', `/admin/operators/${id}`, { body: { role: 'billing' } }),
    ],
  ])('ends in all cells when the operator %s', async (_, change) => {
    const operator = await createOperator()
    const accounts = [await openAccount(), await openAccount({ cell: 1 })]
    const other = await startReading(accounts[0] as TestAccount)
    const held = await Promise.all(
      accounts.map((account) => startReading(account, {}, operator.apiKey)),
    )
    expect((await change(operator.id)).status).toBe(200)
    for (const support of held) expect((await support.call('GET', '/api/devices')).status).toBe(401)
    expect((await other.call('GET', '/api/devices')).status).toBe(200)
  })

  test('a deleted account and an unknown one have none', async () => {
    const account = await openAccount()
    const support = await startReading(account)
    await callAsOperator('DELETE', `/admin/accounts/${account.id}`)
    expect((await support.call('GET', '/api/devices')).status).toBe(401)
    expect((await start(account)).body.code).toBe('account-not-found')
    expect((await start({ ...account, id: 'acc_none' })).body.code).toBe('account-not-found')
  })
})
