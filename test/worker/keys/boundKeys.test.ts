import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { ledgerOf } from '../../../src/ledger/stub.ts'
import { type Caller, openAccount, type TestAccount } from '../../support/accounts.ts'
import { postDevice } from '../../support/devices.ts'
import { createGroup } from '../../support/groups.ts'
import { call } from '../../support/http.ts'
import { PASSWORD } from '../../support/sessions.ts'
import { createBoundUser, createUser } from '../../support/users.ts'

afterEach(() => {
  vi.useRealTimers()
})

/** The id of a new device, or the code of the refusal. */
const createOrRefuse = async (by: Caller, name = 'Tern'): Promise<string> => {
  const { body } = await postDevice(by, { name })
  return body.device?.id ?? body.code
}
const statusOf = async (reply: Promise<{ status: number }>) => (await reply).status

describe('the privileges of a user', () => {
  test('limit what the key allows, and a change applies to existing tokens', async () => {
    const account = await openAccount()
    const ana = await createBoundUser(account, { privileges: ['read'] })
    const tries = async () => [
      await statusOf(ana.call('GET', '/api/devices')),
      await statusOf(ana.call('POST', '/api/devices', { body: { name: 'T' } })),
      await statusOf(ana.call('GET', '/api/account/keys')),
    ]
    expect(await tries()).toEqual([200, 403, 403])
    await account.call('PATCH', `/api/users/${ana.id}`, { body: { privileges: ['write'] } })
    expect(await tries()).toEqual([200, 201, 403])
    await account.call('PATCH', `/api/users/${ana.id}`, { body: { privileges: ['admin'] } })
    expect(await tries()).toEqual([200, 201, 200])
    await account.call('PATCH', `/api/users/${ana.id}`, { body: { privileges: [] } })
    expect(await tries()).toEqual([403, 403, 403])
  })

  test('do not extend the scopes of the key', async () => {
    const account = await openAccount()
    const ana = await createBoundUser(account, { privileges: ['admin'] }, { scopes: ['read'] })
    expect(await statusOf(ana.call('GET', '/api/devices'))).toBe(200)
    expect(await statusOf(ana.call('POST', '/api/devices', { body: { name: 'T' } }))).toBe(403)
  })

  test('apply within 30 seconds when changed by another isolate', async () => {
    const account = await openAccount()
    const ana = await createBoundUser(account, { privileges: ['write'] })
    expect(await statusOf(ana.call('GET', '/api/devices'))).toBe(200)
    await env.DB.prepare('UPDATE users SET disabled = 1 WHERE id = ?').bind(ana.id).run()
    vi.setSystemTime(Date.now() + 30_000)
    expect(await statusOf(ana.call('GET', '/api/devices'))).toBe(401)
  })
})

describe('a user who cannot act', () => {
  const token = (account: TestAccount, apiKey: string) =>
    call('POST', '/api/Auth/Token', { body: { userName: account.userName, apiKey } })

  test('gets no token, and its existing tokens stop; `disabledMessage` is the reason given', async () => {
    const account = await openAccount()
    const ana = await createBoundUser(account, {})
    await account.call('PATCH', `/api/users/${ana.id}`, {
      body: { disabled: true, disabledMessage: 'On leave until May.' },
    })
    expect(await statusOf(ana.call('GET', '/api/account'))).toBe(401)
    const refused = await token(account, ana.apiKey)
    expect(refused.body).toMatchObject({
      success: false,
      status: 403,
      code: 'user-disabled',
      error: 'On leave until May.',
    })
    await account.call('PATCH', `/api/users/${ana.id}`, { body: { disabled: false } })
    expect(await statusOf(ana.call('GET', '/api/account'))).toBe(200)
  })

  test('can act from `from` (inclusive) until `expires` (exclusive)', async () => {
    const now = Date.now()
    const account = await openAccount()
    const at = (seconds: number) => new Date(now + seconds * 1000).toISOString()
    const ana = await createBoundUser(account, { from: at(-10), expires: at(100) })
    const tries = async () => [
      await statusOf(ana.call('GET', '/api/account')),
      (await token(account, ana.apiKey)).status,
    ]
    expect(await tries()).toEqual([200, 200])
    vi.setSystemTime(now + 99_999)
    expect(await tries()).toEqual([200, 200])
    vi.setSystemTime(now + 100_000)
    expect(await tries()).toEqual([401, 403])
    vi.useRealTimers()
    await account.call('PATCH', `/api/users/${ana.id}`, { body: { from: at(50) } })
    expect(await tries()).toEqual([401, 403])
  })

  test('is deleted with its keys, each with a `key.revoked` event', async () => {
    const account = await openAccount()
    const ana = await createBoundUser(account, { privileges: ['write'] })
    await createOrRefuse(ana)
    const { body: second } = await account.call('POST', '/api/account/keys', {
      body: { name: '2', scopes: ['read'], userId: ana.id },
    })
    await account.call('POST', `/api/account/keys/${second.key.id}/regenerate`, {
      body: { overlapSeconds: 600 },
    })
    const before = await env.DB.prepare('SELECT sequence FROM event_heads WHERE account_id = ?')
      .bind(account.id)
      .first<number>('sequence')
    expect(await statusOf(account.call('DELETE', `/api/users/${ana.id}`))).toBe(200)
    expect(await statusOf(ana.call('GET', '/api/account'))).toBe(401)
    expect(await token(account, ana.apiKey)).toMatchObject({
      status: 401,
      body: { code: 'wrong-credentials' },
    })
    expect((await account.call('GET', '/api/account/keys')).body.keys).toHaveLength(1)
    const { results } = await env.DB.prepare(
      "SELECT * FROM events WHERE account_id = ? AND type = 'key.revoked' ORDER BY sequence",
    )
      .bind(account.id)
      .all<{ sequence: number; data: string }>()
    // The regenerated key has its event already: two are new, and no number is skipped.
    expect(results).toHaveLength(3)
    expect(results.slice(1).map(({ sequence }) => sequence)).toEqual([
      (before ?? 0) + 1,
      (before ?? 0) + 2,
    ])
    expect(JSON.stringify(results)).toContain(ana.keyId)
    expect((await account.call('GET', '/api/devices')).body.devices).toHaveLength(1)
  })
})

describe('a user confined to a group', () => {
  const confined = async (privileges = ['admin']) => {
    const account = await openAccount({ licenses: 20 })
    const [seen, unseen] = [
      await createOrRefuse(account, 'Seen'),
      await createOrRefuse(account, 'Unseen'),
    ]
    const [own, other] = [
      (await createGroup(account, { name: 'Own', devices: [seen] })).id,
      (await createGroup(account, { name: 'Other', devices: [seen, unseen] })).id,
    ]
    return {
      account,
      seen,
      unseen,
      own,
      other,
      ana: await createBoundUser(account, { privileges, group: own }),
    }
  }

  test('sees the devices of the group and no other device or group', async () => {
    const { ana, seen, unseen, own, other } = await confined()
    const listed = async (query = '') =>
      ((await ana.call('GET', `/api/devices${query}`)).body.devices ?? []).map(
        ({ id }: { id: string }) => id,
      )
    expect(await listed()).toEqual([seen])
    for (const query of ['?sort=-name', '?q=u', '?state=active', '?limit=1', `?group=${own}`])
      expect(await listed(query)).not.toContain(unseen)
    expect((await ana.call('GET', `/api/devices?group=${other}`)).body).toMatchObject({
      status: 400,
      code: 'invalid-request',
    })
    expect((await ana.call('GET', `/api/devices/${seen}`)).body.device.groups).toEqual([own])

    const none = await ana.call('GET', '/api/devices/dev_none')
    const bare = (text: string) => text.replace(/"instance":"[^"]*","requestId":"[^"]*"/, '')
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['PUT', '', { name: 'X' }],
      ['PATCH', '', { name: 'X' }],
      ['DELETE', '', undefined],
      ['POST', '/reactivate', undefined],
      ['GET', '/usage', undefined],
    ] as const) {
      const reply = await ana.call(method, `/api/devices/${unseen}${path}`, body ? { body } : {})
      expect([method, path, reply.status, bare(reply.text)]).toEqual([
        method,
        path,
        404,
        bare(none.text),
      ])
    }

    expect(
      (await ana.call('GET', '/api/groups')).body.groups.map(({ id }: { id: string }) => id),
    ).toEqual([own])
    expect((await ana.call('GET', '/api/groups?q=oth')).body.groups).toEqual([])
    expect((await ana.call('GET', `/api/groups/${own}`)).body.devices).toEqual([seen])
    expect(await statusOf(ana.call('GET', `/api/groups/${other}`))).toBe(404)
  })

  test('has no access to the rest of the account', async () => {
    const { account, ana, own } = await confined()
    const person = { name: 'B', email: 'b@example.com', country: 'PT', timeZone: 'UTC' }
    const { body: keys } = await account.call('GET', '/api/account/keys')
    const others = keys.keys.find(({ userId }: { userId: string | null }) => userId === null).id
    const closed: [string, string, object?][] = [
      ['GET', '/api/users'],
      ['POST', '/api/users', person],
      ['GET', `/api/users/${ana.id}`],
      ['PUT', `/api/users/${ana.id}`, person],
      ['PATCH', `/api/users/${ana.id}`, { group: null }],
      ['DELETE', `/api/users/${ana.id}`],
      ['PATCH', '/api/account', { name: 'Mine' }],
      ['GET', '/api/account/licenses/log'],
      ['POST', '/api/groups', { name: 'New' }],
      ['PUT', `/api/groups/${own}`, { name: 'Own', devices: [] }],
      ['PATCH', `/api/groups/${own}`, [{ op: 'remove', path: '/devices/0' }] as object],
      ['DELETE', `/api/groups/${own}`],
      ['GET', `/api/account/keys/${others}`],
      ['DELETE', `/api/account/keys/${others}`],
      ['POST', `/api/account/keys/${others}/regenerate`],
    ]
    for (const [method, path, body] of closed)
      expect([method, path, await statusOf(ana.call(method, path, body ? { body } : {}))]).toEqual([
        method,
        path,
        403,
      ])
    expect(
      (await ana.call('GET', '/api/account/keys')).body.keys.map(({ id }: { id: string }) => id),
    ).toEqual([ana.keyId])
    expect(await statusOf(ana.call('GET', `/api/account/keys/${ana.keyId}`))).toBe(200)
    expect(await statusOf(ana.call('GET', '/api/users/countries'))).toBe(200)
    expect(await statusOf(ana.call('DELETE', '/api/account/keys/key_none'))).toBe(404)
  })

  test('sees another group after being moved there', async () => {
    const { account, ana, seen, unseen, other } = await confined()
    await account.call('PATCH', `/api/users/${ana.id}`, { body: { group: 'other' } })
    expect(
      (await ana.call('GET', '/api/devices')).body.devices.map(({ id }: { id: string }) => id),
    ).toEqual([seen, unseen])
    expect((await ana.call('GET', '/api/groups')).body.groups[0].id).toBe(other)
  })

  test('creates devices that join the group and so change its version', async () => {
    const { account, ana, seen, own } = await confined(['write'])
    const etag = (await account.call('GET', `/api/groups/${own}`)).headers.get('ETag') ?? ''
    const created = await ana.call('POST', '/api/devices', { body: { name: 'Mine' } })
    expect(created.body.device.groups).toEqual([own])
    expect((await ana.call('GET', `/api/groups/${own}`)).body.devices).toEqual([
      seen,
      created.body.device.id,
    ])
    expect(
      await statusOf(
        account.call('PUT', `/api/groups/${own}`, {
          body: { name: 'Own' },
          headers: { 'If-Match': etag },
        }),
      ),
    ).toBe(412)
  })

  test('does not get a device back that left the group when the outbox repeats an effect', async () => {
    const { account, ana, seen, own } = await confined(['write'])
    const id = await createOrRefuse(ana)
    await account.call('PATCH', `/api/groups/${own}`, { body: { devices: [seen] } })
    const outcome = await ledgerOf(env, account.id).readDevice(id)
    if (!outcome.ok) throw new Error(outcome.refusal)
    const row = await env.DB.prepare('SELECT seq FROM devices WHERE id = ?')
      .bind(id)
      .first<{ seq: number }>()
    const effect = JSON.stringify({
      kind: 'device',
      accountId: account.id,
      device: outcome.device,
      joins: own,
    })
    await runInDurableObject(env.LEDGER.get(env.LEDGER.idFromName(account.id)), (_, state) => {
      state.storage.sql.exec(
        'INSERT INTO outbox (seq, effect) VALUES (?, ?)',
        row?.seq ?? 0,
        effect,
      )
    })
    await account.call('PATCH', `/api/devices/${seen}`, { body: { name: 'Renamed' } })
    const { body } = await account.call('GET', `/api/groups/${own}`)
    expect([
      body.devices,
      (await account.call('GET', `/api/devices/${id}`)).body.device.groups,
    ]).toEqual([[seen], []])
  })

  test('creates no device when the group is full', async () => {
    const { ana, own, account } = await confined(['write'])
    await env.DB.prepare(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9999)
       INSERT INTO group_devices (group_id, device_key, account_id) SELECT ?, -i, ? FROM n`,
    )
      .bind(own, account.id)
      .run()
    expect(await createOrRefuse(ana)).toBe('group-full')
  })
})

test('`adminDevices` limits the devices that a user creates, also concurrently', async () => {
  const account = await openAccount({ licenses: 20 })
  const ana = await createBoundUser(account, { privileges: ['write'], adminDevices: 3 })
  await createOrRefuse(account)
  const made = await Promise.all(Array.from({ length: 8 }, () => createOrRefuse(ana)))
  const own = made.filter((id) => id.startsWith('dev_'))
  expect([own.length, made.filter((code) => code === 'device-cap-reached').length]).toEqual([3, 5])
  await account.call('DELETE', `/api/devices/${own[0]}`)
  expect([await createOrRefuse(ana), await createOrRefuse(ana)]).toEqual([
    expect.stringMatching(/^dev_/),
    'device-cap-reached',
  ])
})

describe('a bound token cannot extend its rights', () => {
  test('by keys: those it creates are bound to the same user and expire no later', async () => {
    const account = await openAccount()
    const end = new Date(Date.now() + 3_600_000).toISOString()
    const ana = await createBoundUser(account, { privileges: ['admin'] }, { expires: end })
    const bea = await createBoundUser(account, { privileges: ['admin'] })
    const make = (body: object) =>
      ana.call('POST', '/api/account/keys', { body: { name: 'k', scopes: ['admin'], ...body } })
    for (const body of [{}, { userId: null, expires: null }, { userId: ana.id }, { expires: end }])
      expect((await make(body)).body.key).toMatchObject({ userId: ana.id, expires: end })
    for (const body of [
      { userId: bea.id },
      { expires: new Date(Date.now() + 7_200_000).toISOString() },
    ])
      expect((await make(body)).status).toBe(403)
    const regenerate = (id: string) =>
      ana.call('POST', `/api/account/keys/${id}/regenerate`, { body: { overlapSeconds: 60 } })
    expect((await regenerate(ana.keyId)).body.key).toMatchObject({ userId: ana.id, expires: end })
    const { body } = await account.call('GET', '/api/account/keys')
    const unbound = body.keys.find(({ userId }: { userId: string | null }) => userId === null).id
    for (const id of [bea.keyId, unbound]) expect((await regenerate(id)).status).toBe(403)
    const { body: forever } = await account.call('POST', '/api/account/keys', {
      body: { name: 'f', scopes: ['admin'], userId: ana.id },
    })
    expect((await regenerate(forever.key.id)).status).toBe(403)
  })

  test('by changing the rights of its own user', async () => {
    const account = await openAccount()
    const limits = { adminDevices: 1, expires: '2099-01-01T00:00:00Z' }
    const ana = await createBoundUser(account, { privileges: ['admin'], ...limits })
    const patch = (body: object) => ana.call('PATCH', `/api/users/${ana.id}`, { body })
    for (const body of [
      { adminDevices: null },
      { expires: null },
      { privileges: ['read'] },
      { disabled: true },
      { from: '2020-01-01T00:00:00Z' },
    ])
      expect((await patch(body)).body).toMatchObject({ status: 403, code: 'forbidden' })
    expect(
      (
        await ana.call('PUT', `/api/users/${ana.id}`, {
          body: { name: 'A', email: 'a@a.io', country: 'PT', timeZone: 'UTC' },
        })
      ).status,
    ).toBe(403)
    expect((await patch({ name: 'Ana S.', phone: '+351912345678' })).body.name).toBe('Ana S.')
    const bea = await createBoundUser(account, limits)
    expect(
      await statusOf(
        ana.call('PATCH', `/api/users/${bea.id}`, { body: { privileges: ['write'] } }),
      ),
    ).toBe(200)
  })
})

describe('an administrator with limits', () => {
  const LIMITS = { adminDevices: 0, expires: '2099-01-01T00:00:00.000Z' }
  const openLimited = async () => {
    const account = await openAccount()
    const ana = await createBoundUser(account, { privileges: ['admin'], ...LIMITS })
    const make = (members: object) =>
      ana.call('POST', '/api/users', {
        body: {
          name: 'Bea',
          email: `${crypto.randomUUID()}@example.com`,
          country: 'PT',
          timeZone: 'UTC',
          privileges: ['admin'],
          password: PASSWORD,
          ...members,
        },
      })
    const edit = (id: string, body: object) => ana.call('PATCH', `/api/users/${id}`, { body })
    return { account, ana, make, edit }
  }

  test('creates no user with wider ones', async () => {
    const { make, edit } = await openLimited()
    for (const [members, wider] of [
      [{}, 'adminDevices, expires'],
      [{ adminDevices: 0 }, 'expires'],
      [{ ...LIMITS, adminDevices: 1 }, 'adminDevices'],
      [{ ...LIMITS, expires: '2099-01-01T00:00:00.001Z' }, 'expires'],
    ] as const) {
      const { status, body } = await make(members)
      expect([status, body.detail]).toEqual([403, expect.stringMatching(`: ${wider}\\.$`)])
    }
    const bea = await make(LIMITS)
    expect(bea.status).toBe(201)
    for (const body of [
      { adminDevices: null },
      { expires: null },
      { expires: '2100-01-01T00:00:00Z' },
    ])
      expect((await edit(bea.body.id, body)).status).toBe(403)
    expect((await edit(bea.body.id, { password: PASSWORD, email: 'b@b.io' })).status).toBe(200)
  })

  test('gets at no user who has wider ones', async () => {
    const { account, ana, edit } = await openLimited()
    const { id: group } = await createGroup(account, { name: 'G' })
    const bea = await createUser(account, { from: '2020-01-01T00:00:00Z', group })
    for (const body of [
      { password: PASSWORD },
      { email: 'ana.too@example.com' },
      { privileges: ['admin'] },
      { group: null },
      { from: null },
    ])
      expect([body, (await edit(bea.id, body)).status]).toEqual([body, 403])
    // What lets nobody do more stays possible.
    for (const body of [{ name: 'Bea B.' }, { disabled: true }])
      expect((await edit(bea.id, body)).status).toBe(200)
    expect((await edit(bea.id, { disabled: false })).status).toBe(403)
    // With limits like the caller's it is a user like any other.
    expect((await edit(bea.id, { disabled: false, ...LIMITS })).status).toBe(200)
    expect((await edit(ana.id, { password: PASSWORD })).status).toBe(200)
    const unbound = await account.call('PATCH', `/api/users/${bea.id}`, { body: { expires: null } })
    expect(unbound.status).toBe(200)
  })
})

test('a key can be bound only to a user of its own account', async () => {
  const [account, other] = [await openAccount(), await openAccount()]
  const theirs = await createBoundUser(other, {})
  for (const userId of [theirs.id, 'usr_none', '']) {
    const reply = await account.call('POST', '/api/account/keys', {
      body: { name: 'k', scopes: ['read'], userId },
    })
    expect(reply.body).toMatchObject({
      status: 400,
      errors: [{ pointer: '/userId', detail: 'is not a user of this account' }],
    })
  }
  expect((await account.call('GET', '/api/account/keys')).body.keys).toHaveLength(1)
})
