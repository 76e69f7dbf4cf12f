import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { app } from '../../../src/app.ts'
import { openCell } from '../../../src/db/open.ts'
import { base32Time } from '../../../src/domain/text/base32.ts'
import { deleteOldRows } from '../../../src/sweep/deletion/oldRows.ts'
import { sweep } from '../../../src/sweep/sweep.ts'
import { fetchTokenWithScopes, openAccount } from '../../support/accounts.ts'
import { actionsOf, auditOf, type Entry } from '../../support/db/audit.ts'
import { createDevice } from '../../support/devices.ts'
import { callAsOperator } from '../../support/http.ts'
import { DAY_MS, eventually, iso } from '../../support/time.ts'
import { createBoundUser } from '../../support/users.ts'

vi.spyOn(console, 'log').mockImplementation(() => {})
afterEach(() => {
  vi.useRealTimers()
})

const ADDRESS = { 'CF-Connecting-IP': '198.51.100.20' }

describe('an entry', () => {
  test('has the actor, what changed, the request and its address', async () => {
    const account = await openAccount()
    const user = await createBoundUser(account, { name: 'Ana', privileges: ['admin'] })
    const group = (await user.call('POST', '/api/groups', { body: { name: 'North' } })).body
    const patched = await user.call('PATCH', `/api/groups/${group.id}`, {
      body: { name: 'South' },
      headers: ADDRESS,
    })
    const [entry, created] = await auditOf(account, `resource=${group.id}`)
    expect(entry).toEqual({
      id: expect.stringMatching(/^aud_/),
      at: expect.any(String),
      actor: { type: 'key', id: user.keyId, name: 'ana' },
      action: 'group.updated',
      resource: { type: 'group', id: group.id },
      changes: [{ path: 'name', from: 'North', to: 'South' }],
      requestId: patched.headers.get('X-Request-Id'),
      address: ADDRESS['CF-Connecting-IP'],
    })
    expect(created).toMatchObject({ action: 'group.created', address: null })
    expect(created?.changes).toContainEqual({ path: 'name', from: null, to: 'North' })
  })

  test('of a decision of the ledger is the same', async () => {
    const account = await openAccount()
    const id = await createDevice(account, 'Tern')
    const body = { name: 'Petrel' }
    const patched = await account.call('PATCH', `/api/devices/${id}`, { body, headers: ADDRESS })
    expect(await auditOf(account, `resource=${id}&action=device.updated`)).toMatchObject([
      {
        actor: { type: 'key', name: 'first' },
        changes: [{ path: 'name', from: 'Tern', to: 'Petrel' }],
        requestId: patched.headers.get('X-Request-Id'),
        address: ADDRESS['CF-Connecting-IP'],
      },
    ])
  })

  test('of the operator names the operator, and the opening of the account has one', async () => {
    const account = await openAccount({ licenses: 7 })
    await callAsOperator('PATCH', `/admin/accounts/${account.id}`, { body: { licenses: 9 } })
    const [updated, key, created] = await auditOf(account, 'actor=operator')
    expect([updated?.action, key?.action, created?.action]).toEqual([
      'account.updated',
      'key.created',
      'account.created',
    ])
    expect(updated?.changes).toContainEqual({ path: 'total', from: 7, to: 9 })
    expect(created?.changes).toContainEqual({ path: 'licenses', from: null, to: 7 })
  })

  test('is not left by what is refused, or changes nothing', async () => {
    const account = await openAccount()
    const group = (await account.call('POST', '/api/groups', { body: { name: 'North' } })).body
    const before = (await auditOf(account)).length
    const path = `/api/groups/${group.id}`
    const stale = { 'If-Match': '"v9"' }
    for (const [method, options] of [
      ['PATCH', { body: { name: 'South' }, headers: stale }],
      ['DELETE', { headers: stale }],
      ['PATCH', { body: { name: '' } }],
    ] as const)
      expect((await account.call(method, path, options)).status).toBeGreaterThanOrEqual(400)
    expect((await account.call('POST', '/api/groups', { body: { name: 'North' } })).status).toBe(
      409,
    )
    expect(await auditOf(account)).toHaveLength(before)
  })

  test('is written once when an Idempotency-Key repeats the request', async () => {
    const account = await openAccount()
    const again = { body: { name: 'Once' }, headers: { 'Idempotency-Key': crypto.randomUUID() } }
    const first = await account.call('POST', '/api/groups', again)
    const second = await account.call('POST', '/api/groups', again)
    expect(second.body).toEqual(first.body)
    expect(await auditOf(account, `resource=${first.body.id}`)).toHaveLength(1)
  })
})

/** Makes inserts of these entries fail inside D1 while `work` runs. */
const withFailingAudit = async (action: string, work: () => Promise<void>): Promise<void> => {
  await env.DB.prepare(
    `CREATE TRIGGER audit_fails BEFORE INSERT ON audit WHEN NEW.action = '${action}'
     BEGIN SELECT RAISE(ABORT, 'refused by the test'); END`,
  ).run()
  try {
    await work()
  } finally {
    await env.DB.prepare('DROP TRIGGER audit_fails').run()
  }
}

describe('a write and its entry are stored together', () => {
  test('a batch that fails leaves neither', async () => {
    const account = await openAccount()
    await withFailingAudit('group.created', async () => {
      const reply = await account.call('POST', '/api/groups', { body: { name: 'Neither' } })
      expect(reply.status).toBeGreaterThanOrEqual(500)
    })
    expect((await account.call('GET', '/api/groups')).body.groups).toEqual([])
    expect(await actionsOf(account, 'resource=group')).toEqual([])
    expect((await account.call('POST', '/api/groups', { body: { name: 'Both' } })).status).toBe(201)
    expect(await actionsOf(account, 'resource=group')).toEqual(['group.created'])
  })

  test('a decision keeps its entry until the cell takes both', async () => {
    const account = await openAccount()
    let id = ''
    await withFailingAudit('device.created', async () => {
      id = await createDevice(account, 'Tern')
      expect(await actionsOf(account, `resource=${id}`)).toEqual([])
    })
    await eventually(async () => {
      expect(await actionsOf(account, `resource=${id}`)).toEqual(['device.created'])
    })
    expect((await account.call('GET', `/api/devices/${id}`)).status).toBe(200)
  })
})

describe('GET /api/account/audit', () => {
  const openWithEntries = async () => {
    const account = await openAccount()
    const user = await createBoundUser(account, { privileges: ['admin'] })
    const zone = {
      name: 'Harbour',
      shape: { type: 'Circle', center: [-9.1393, 38.7223], radius: 500 },
    }
    const { body } = await account.call('POST', '/api/zones', { body: zone })
    await user.call('PATCH', `/api/zones/${body.zone.id}`, { body: { name: 'Old harbour' } })
    const group = (await user.call('POST', '/api/groups', { body: { name: 'North' } })).body
    return { account, user, zoneId: body.zone.id as string, groupId: group.id as string }
  }

  test('filters by actor, action, resource and time', async () => {
    const { account, user, zoneId, groupId } = await openWithEntries()
    const all = await auditOf(account, 'limit=1000')
    const expectFound = async (query: string, is: (entry: Entry) => boolean) => {
      const expected = all.filter(is).map(({ id }) => id)
      expect(expected.length, query).toBeGreaterThan(0)
      expect(
        (await auditOf(account, query)).map(({ id }) => id),
        query,
      ).toEqual(expected)
    }
    await expectFound(`actor=${user.keyId}`, ({ actor }) => actor.id === user.keyId)
    await expectFound('actor=operator', ({ actor }) => actor.type === 'operator')
    await expectFound('action=zone.updated', ({ action }) => action === 'zone.updated')
    await expectFound('action=zone', ({ action }) => action.startsWith('zone.'))
    await expectFound(`resource=${zoneId}`, ({ resource }) => resource.id === zoneId)
    await expectFound('resource=group', ({ resource }) => resource.type === 'group')
    await expectFound(
      `actor=${user.keyId}&resource=${groupId}`,
      ({ actor, resource }) => actor.id === user.keyId && resource.id === groupId,
    )
    const none = ['action=zo', 'action=zone.%25', 'actor=usr_none', 'resource=zon_none']
    for (const query of [
      ...none,
      ...['action', 'actor'].map((name) => `${name}=${'é'.repeat(100)}`),
    ])
      expect(await auditOf(account, query), query).toEqual([])
    const middle = Date.parse(all[1]?.at ?? '')
    await expectFound(`from=${iso(middle)}`, ({ at }) => Date.parse(at) >= middle)
    await expectFound(`to=${iso(middle)}`, ({ at }) => Date.parse(at) < middle)
    expect(await auditOf(account, `from=${iso(Date.now() + 60_000)}`)).toEqual([])
    for (const query of ['actor=', 'from=yesterday', 'colour=red', 'limit=0'])
      expect((await account.call('GET', `/api/account/audit?${query}`)).status, query).toBe(400)
  })

  test('pages by its cursor, newest first, without a gap or a repeat', async () => {
    const { account } = await openWithEntries()
    const all = (await auditOf(account, 'limit=1000')).map(({ id }) => id)
    expect(all).toEqual([...all].sort().reverse())
    for (const filter of ['', '&action=key']) {
      const expected = (await auditOf(account, `limit=1000${filter}`)).map(({ id }) => id)
      const paged: string[] = []
      let cursor = ''
      do {
        const { body } = await account.call(
          'GET',
          `/api/account/audit?limit=2${filter}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
        )
        paged.push(...body.entries.map(({ id }: Entry) => id))
        cursor = body.nextCursor ?? ''
      } while (cursor)
      expect(paged).toEqual(expected)
    }
  })

  test('shows nothing of another account', async () => {
    const { account: other, zoneId, user } = await openWithEntries()
    for (const cell of [0, 1]) {
      const account = await openAccount({ cell })
      for (const { id } of await auditOf(account)) expect(await auditOf(other)).not.toContain(id)
      for (const query of [`resource=${zoneId}`, `actor=${user.keyId}`, `actor=${other.id}`])
        expect(await auditOf(account, query)).toEqual([])
    }
  })

  test('is for administrators of the whole account', async () => {
    const account = await openAccount()
    for (const scopes of [['read'], ['write', 'execute'], ['ingest']]) {
      const token = await fetchTokenWithScopes(account, scopes)
      const reply = await account.call('GET', '/api/account/audit', { token })
      expect([reply.status, reply.body.code], String(scopes)).toEqual([403, 'forbidden'])
    }
    await account.call('POST', '/api/groups', { body: { name: 'North' } })
    const confined = await createBoundUser(account, { privileges: ['admin'], group: 'North' })
    const reply = await confined.call('GET', '/api/account/audit')
    expect([reply.status, reply.body.code]).toEqual([403, 'forbidden'])
  })

  test('can be changed and deleted by no route', async () => {
    const served = app.routes.filter(({ path, method }) => /audit/.test(path) && method !== 'ALL')
    expect(served.map(({ method, path }) => `${method} ${path}`)).toEqual(
      expect.arrayContaining(['GET /api/account/audit', 'GET /admin/audit']),
    )
    expect(new Set(served.map(({ method }) => method))).toEqual(new Set(['GET']))
    const account = await openAccount()
    const [entry] = await auditOf(account)
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      expect((await account.call(method, '/api/account/audit')).status).toBe(405)
      expect((await account.call(method, `/api/account/audit/${entry?.id}`)).status).toBe(404)
    }
  })
})

describe('GET /admin/audit', () => {
  test('merges all cells, newest first, and filters by account', async () => {
    const accounts = [await openAccount({ cell: 0 }), await openAccount({ cell: 1 })]
    for (const account of accounts)
      for (const name of ['A', 'B', 'C'])
        await account.call('POST', '/api/groups', { body: { name } })
    const read = async (query: string): Promise<Entry[]> => {
      const entries: Entry[] = []
      let cursor = ''
      do {
        const { body } = await callAsOperator('GET', `/admin/audit?${query}${cursor}`)
        entries.push(...body.entries)
        cursor = body.nextCursor ? `&cursor=${encodeURIComponent(body.nextCursor)}` : ''
      } while (cursor)
      return entries
    }
    const found = await read('action=group.created&limit=2')
    const ids = found.map(({ id }) => id)
    expect(ids).toEqual([...new Set(ids)].sort().reverse())
    for (const { id, userName } of accounts) {
      const { name } = (await callAsOperator('GET', `/admin/accounts/${id}`)).body.account
      expect(found.filter(({ account }) => account === id)).toHaveLength(3)
      const own = await read(`account=${id}&limit=2`)
      expect(own.length).toBeGreaterThan(3)
      expect(own.every(({ account }) => account === id)).toBe(true)
      expect(own.every(({ accountName }) => accountName === name)).toBe(true)
      expect(await read(`account=${userName.toUpperCase()}&limit=2`)).toEqual(own)
    }
    expect(await read('account=nobody-has-this-name')).toEqual([])
    expect(await read('account=acc_0000000000000000000000')).toEqual([])
  })

  test('has what the operator does to the service itself', async () => {
    await callAsOperator('POST', '/admin/push/rotateKey')
    await callAsOperator('POST', '/admin/cells/1/reconcile', { body: { restored: false } })
    const { body } = await callAsOperator('GET', '/admin/audit?actor=operator&limit=2')
    expect(body.entries).toMatchObject([
      { action: 'cell.reconciled', resource: { type: 'cell', id: '1' }, account: null },
      { action: 'pushKey.rotated', account: null, actor: { type: 'operator' } },
    ])
  })
})

const insertOld = (accountId: string, days: number, actor: string) =>
  env.DB.prepare(
    `INSERT INTO audit (account_id, id, at, actor_type, actor_id, action, resource_type, resource_id, changes, request_id)
     VALUES (?, ?, 0, ?, 'x', 'test.old', 'test', ?, '[]', '')`,
  )
    .bind(
      accountId,
      `aud_${base32Time(Date.now() - days * DAY_MS)}${crypto.randomUUID().slice(0, 8)}`,
      actor,
      String(days),
    )
    .run()

describe('entries are kept', () => {
  test('for 400 days', async () => {
    const account = await openAccount()
    for (const days of [399, 401, 800]) await insertOld(account.id, days, 'key')
    const db = openCell(env, 0)
    const run = { env, cell: 0, db, now: Date.now(), take: () => true, later: () => {} }
    await deleteOldRows(run)
    const { results } = await env.DB.prepare(
      `SELECT resource_id FROM audit WHERE account_id = ? AND action = 'test.old'`,
    )
      .bind(account.id)
      .all<{ resource_id: string }>()
    expect(results).toEqual([{ resource_id: '399' }])
    expect((await auditOf(account)).length).toBeGreaterThan(1)
  })

  test('after the account is erased, if they are the operator’s', async () => {
    const account = await openAccount()
    await account.call('POST', '/api/groups', { body: { name: 'North' } })
    const { status } = await callAsOperator('DELETE', `/admin/accounts/${account.id}?now=true`, {
      body: { userName: account.userName },
    })
    expect(status).toBe(200)
    await eventually(async () => {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 })
      await sweep(env, Date.now())
      const row = await env.DB.prepare('SELECT 1 FROM erasures WHERE account_id = ?')
        .bind(account.id)
        .first()
      expect(row).toBeNull()
    })
    const { body } = await callAsOperator('GET', `/admin/audit?account=${account.id}`)
    expect(body.entries.map(({ action }: Entry) => action)).toEqual([
      'account.erased',
      'key.created',
      'account.created',
    ])
  })
})
