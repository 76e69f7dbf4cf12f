import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { fetchToken, openAccount, type TestAccount } from '../../support/accounts.ts'
import { callWithBindings } from '../../support/bindings.ts'
import { createGroup } from '../../support/groups.ts'
import { call, callAsOperator } from '../../support/http.ts'
import { createBoundUser } from '../../support/users.ts'

afterEach(() => {
  vi.useRealTimers()
})

const ACCOUNTS = '/admin/accounts'
const opening = (more: object = {}) => ({
  userName: `acc-${crypto.randomUUID().slice(0, 8)}`,
  name: 'Shipping',
  licenses: 2,
  timeZone: 'Europe/Lisbon',
  ...more,
})
const pointersOf = (body: { errors: { pointer: string }[] }) =>
  body.errors.map(({ pointer }) => pointer)
const patch = (account: TestAccount, body: unknown, headers: Record<string, string> = {}) =>
  callAsOperator('PATCH', `${ACCOUNTS}/${account.id}`, { body, headers })

test('the operator opens an account, and its first key has the scope admin', async () => {
  const body = opening()
  const reply = await callAsOperator('POST', ACCOUNTS, { body })
  expect(reply.status).toBe(201)
  const { account, apiKey } = reply.body
  expect(account).toMatchObject({
    id: expect.stringMatching(/^acc_[0-9a-z]{22}$/),
    userName: body.userName,
    name: 'Shipping',
    timeZone: 'Europe/Lisbon',
    licenses: { total: 2, used: 0, available: 2 },
    disabled: false,
  })
  expect(reply.headers.get('Location')).toBe(`${ACCOUNTS}/${account.id}`)
  const token = await fetchToken(body.userName, apiKey)
  expect((await call('GET', '/api/account/keys', { token })).status).toBe(200)
  const read = await callAsOperator('GET', `${ACCOUNTS}/${account.id}`)
  expect(read.body).toEqual({ success: true, account })
})

test('a user name can be taken only once, ignoring case', async () => {
  const body = opening()
  expect((await callAsOperator('POST', ACCOUNTS, { body })).status).toBe(201)
  const again = await callAsOperator('POST', ACCOUNTS, {
    body: { ...body, userName: body.userName.toUpperCase() },
  })
  expect([again.status, again.body.code]).toEqual([409, 'user-name-taken'])
  const concurrent = opening()
  const replies = await Promise.all(
    Array.from({ length: 5 }, () => callAsOperator('POST', ACCOUNTS, { body: concurrent })),
  )
  expect(replies.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409])
})

test('an account with invalid values is refused with pointers and takes no user name', async () => {
  const refused = async (more: object) =>
    pointersOf((await callAsOperator('POST', ACCOUNTS, { body: opening(more) })).body)
  for (const userName of ['ab', '-ab', 'ab-', 'a b', 'ä-ö-ü', 'x'.repeat(65), 'a/b', 7])
    expect(await refused({ userName })).toEqual(['/userName'])
  for (const licenses of [-1, 1.5, '3', 10_000_001, null])
    expect(await refused({ licenses })).toEqual(['/licenses'])
  for (const timeZone of ['+02:00', 'Mars/Base', '', 'UTC+1', null])
    expect(await refused({ timeZone })).toEqual(['/timeZone'])
  for (const cell of [7, -1, 0.5, '1']) expect(await refused({ cell })).toEqual(['/cell'])
  const body = opening({ name: '' })
  expect(pointersOf((await callAsOperator('POST', ACCOUNTS, { body })).body)).toEqual(['/name'])
  expect(
    (await callAsOperator('POST', ACCOUNTS, { body: { ...body, name: 'Corrected' } })).status,
  ).toBe(201)
})

test('accounts are listed in pages, each once, with their licenses in use', async () => {
  const made = [
    await openAccount({ cell: 0 }),
    await openAccount({ cell: 1 }),
    await openAccount({ cell: 0 }),
  ]
  await made[1]?.call('POST', '/api/devices', { body: { name: 'Tern' } })
  const listed = []
  let path: string | undefined = `${ACCOUNTS}?limit=2`
  while (path) {
    const reply = await callAsOperator('GET', path)
    expect(reply.body.accounts.length).toBeLessThanOrEqual(2)
    listed.push(...reply.body.accounts)
    path = /^<(.*)>; rel="next"$/.exec(reply.headers.get('Link') ?? '')?.[1]
    expect(path === undefined).toBe(reply.body.nextCursor === null)
  }
  expect(new Set(listed.map(({ id }) => id)).size).toBe(listed.length)
  const mine = listed.filter(({ id }) => made.some((account) => account.id === id))
  expect(mine.map(({ cell, licenses }) => [cell, licenses.used])).toEqual([
    [0, 0],
    [1, 1],
    [0, 0],
  ])
})

test('the operator changes licenses, name and `disabled`, by merge patch and JSON Patch', async () => {
  const account = await openAccount()
  const merged = await patch(
    account,
    { licenses: 5, name: 'Renamed' },
    { 'Content-Type': 'application/merge-patch+json' },
  )
  expect(merged.body.account).toMatchObject({
    name: 'Renamed',
    licenses: { total: 5 },
    disabled: false,
  })
  const steps = [
    { op: 'test', path: '/licenses', value: 5 },
    { op: 'replace', path: '/disabled', value: true },
    { op: 'replace', path: '/account/name', value: 'Again' },
  ]
  const patched = await patch(account, steps, { 'Content-Type': 'application/json-patch+json' })
  expect(patched.body.account).toMatchObject({
    name: 'Again',
    licenses: { total: 5 },
    disabled: true,
  })
  expect((await patch(account, { account: { disabled: false } })).body.account.disabled).toBe(false)
  for (const [body, pointer] of [
    [{ licenses: -1 }, '/licenses'],
    [{ account: { licenses: 1.5 } }, '/account/licenses'],
    [{ userName: 'other' }, '/userName'],
    [{ timeZone: 'UTC' }, null],
    [{ timeZone: 'Asia/Tokyo' }, '/timeZone'],
    [{ cell: 1 }, '/cell'],
    [{ id: null }, '/id'],
    [{ name: null }, '/name'],
    [{ surprise: null }, '/surprise'],
    [{ success: false }, '/success'],
    [{ success: true, name: 'Kept' }, null],
  ] as const) {
    const reply = await patch(account, body)
    expect(reply.status === 200 ? null : pointersOf(reply.body)[0], JSON.stringify(body)).toBe(
      pointer,
    )
  }
})

test('the total of licenses can be lower than the number in use: no device expires, none is granted', async () => {
  const account = await openAccount({ licenses: 2 })
  const create = () => account.call('POST', '/api/devices', { body: { name: 'Tern' } })
  await create()
  await create()
  expect((await patch(account, { licenses: 1 })).body.account.licenses).toEqual({
    total: 1,
    used: 2,
    available: 0,
  })
  expect((await create()).body.code).toBe('no-license-available')
  expect((await account.call('GET', '/api/devices?state=active')).body.devices).toHaveLength(2)
})

test('an account can change its own name and time zone, but not its licenses', async () => {
  const account = await openAccount({ licenses: 2 })
  const change = (body: unknown, headers: Record<string, string> = {}) =>
    account.call('PATCH', '/api/account', { body, headers })
  const changed = await change({ account: { name: 'Ours', timeZone: 'Asia/Kolkata' } })
  expect(changed.body.account).toMatchObject({ name: 'Ours', timeZone: 'Asia/Kolkata' })
  for (const body of [
    { licenses: { total: 99 } },
    { licenses: 99 },
    { account: { licenses: { total: 99 } } },
    [{ op: 'replace', path: '/licenses/total', value: 99 }],
    [{ op: 'remove', path: '/account/licenses' }],
    [{ op: 'copy', from: '/creation', path: '/id' }],
  ]) {
    const reply = await change(body)
    expect([reply.status, reply.body.code], JSON.stringify(body)).toEqual([400, 'invalid-patch'])
    expect(pointersOf(reply.body)[0]).toMatch(/\/(licenses|id)$/)
  }
  expect(pointersOf((await change({ disabled: true })).body)).toEqual(['/disabled'])
  expect(pointersOf((await change({ timeZone: '+01:00' })).body)).toEqual(['/timeZone'])
  expect((await account.call('GET', '/api/account')).body.account.licenses.total).toBe(2)
})

describe('budgets', () => {
  const show = async (account: TestAccount) => {
    const own = (await account.call('GET', '/api/account')).body.account
    const { body } = await callAsOperator('GET', `${ACCOUNTS}/${account.id}`)
    expect(body.account.budgets).toEqual(own.budgets)
    expect(body.account.budgetUsage).toEqual(own.budgetUsage)
    return own.budgets
  }

  test('are by default 10,000 locations a day and 100 MB for each license, and for none', async () => {
    for (const [licenses, shares] of [
      [0, 1],
      [1, 1],
      [25, 25],
    ] as const) {
      const account = await openAccount({ licenses })
      expect(await show(account)).toMatchObject({
        locationsPerDay: 10_000 * shares,
        storageBytes: 100_000_000 * shares,
      })
      expect((await account.call('GET', '/api/account')).body.account.budgetUsage).toMatchObject({
        date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
        locations: 0,
        storageBytes: expect.any(Number),
      })
    }
    const account = await openAccount({ licenses: 2 })
    const read = (bindings: object) =>
      callWithBindings(bindings, 'GET', '/api/account', { token: account.token })
    const configured = { LOCATIONS_PER_LICENSE_PER_DAY: '7', STORAGE_MB_PER_LICENSE: '3' }
    expect((await read(configured)).body.account.budgets).toMatchObject({
      locationsPerDay: 14,
      storageBytes: 6_000_000,
    })
    expect((await read({ STORAGE_MB_PER_LICENSE: '0' })).status).toBe(500)
    const messages = { MESSAGES_PER_LICENSE_PER_DAY: 'SMS 3' }
    expect((await read(messages)).body.account.budgets.messagesPerDay).toEqual({
      Email: 200,
      SMS: 6,
      Push: 2000,
      Voice: 40,
    })
    expect((await read({ MESSAGES_PER_LICENSE_PER_DAY: '7' })).status).toBe(500)
    await patch(account, { licenses: 4 })
    expect(await show(account)).toMatchObject({
      locationsPerDay: 40_000,
      storageBytes: 400_000_000,
    })
  })

  test('are changed by the operator alone, each back to its default with null', async () => {
    const account = await openAccount({ licenses: 1 })
    const changed = await patch(account, { budgets: { locationsPerDay: 5 } })
    expect(changed.body.account.budgets).toMatchObject({
      locationsPerDay: 5,
      storageBytes: 100_000_000,
    })
    await patch(account, [{ op: 'replace', path: '/budgets/storageBytes', value: 0 }])
    expect(await show(account)).toMatchObject({ locationsPerDay: 5, storageBytes: 0 })
    const row = await env.DB.prepare(
      'SELECT locations_per_day, storage_bytes FROM accounts WHERE id = ?',
    )
      .bind(account.id)
      .first()
    expect(row).toEqual({ locations_per_day: 5, storage_bytes: 0 })
    const listed = (await callAsOperator('GET', ACCOUNTS)).body.accounts.find(
      ({ id }: { id: string }) => id === account.id,
    )
    const { support, ...read } = (await callAsOperator('GET', `${ACCOUNTS}/${account.id}`)).body
      .account
    expect(support).toEqual([])
    // Lists leave out the messages, which only the ledger counts.
    const { messages, ...budgetUsage } = read.budgetUsage
    expect(listed).toEqual({ ...read, budgetUsage })
    // Another edit keeps them.
    await patch(account, { name: 'Renamed' })
    expect(await show(account)).toMatchObject({ locationsPerDay: 5, storageBytes: 0 })
    await patch(account, { budgets: { locationsPerDay: null } })
    expect(await show(account)).toMatchObject({ locationsPerDay: 10_000, storageBytes: 0 })
    await patch(account, { budgets: null })
    expect(await show(account)).toMatchObject({
      locationsPerDay: 10_000,
      storageBytes: 100_000_000,
    })
  })

  test('with invalid values, or changed by the account itself, are refused', async () => {
    const account = await openAccount()
    for (const [budgets, pointer] of [
      [{ locationsPerDay: -1 }, '/budgets/locationsPerDay'],
      [{ locationsPerDay: 1.5 }, '/budgets/locationsPerDay'],
      [{ storageBytes: '1' }, '/budgets/storageBytes'],
      [{ storageBytes: 1e13 }, '/budgets/storageBytes'],
      [{ surprise: 1 }, '/budgets/surprise'],
      [7, '/budgets'],
    ] as const) {
      const reply = await patch(account, { budgets })
      expect([reply.status, pointersOf(reply.body)[0]]).toEqual([400, pointer])
    }
    const usage = { budgetUsage: { locations: 0 } }
    expect((await patch(account, usage)).status).toBe(200)
    expect((await patch(account, { budgetUsage: { locations: 1 } })).status).toBe(400)
    for (const body of [
      { budgets: { locationsPerDay: 1 } },
      { budgetUsage: { locations: 1 } },
      [{ op: 'replace', path: '/budgets/storageBytes', value: 1 }],
    ]) {
      const reply = await account.call('PATCH', '/api/account', { body })
      expect([reply.status, reply.body.code]).toEqual([400, 'invalid-patch'])
    }
    const own = (await account.call('GET', '/api/account')).body
    expect((await account.call('PATCH', '/api/account', { body: own })).status).toBe(200)
  })
})

test('a patch applies completely or not at all', async () => {
  const account = await openAccount()
  const change = (steps: unknown) => account.call('PATCH', '/api/account', { body: steps })
  const before = (await account.call('GET', '/api/account')).text
  const failed = await change([
    { op: 'replace', path: '/name', value: 'Half' },
    { op: 'test', path: '/timeZone', value: 'Mars' },
  ])
  expect([failed.status, failed.body.code, pointersOf(failed.body)]).toEqual([
    409,
    'patch-test-failed',
    ['/1'],
  ])
  for (const [steps, pointer] of [
    [[{ op: 'replace', path: '/nmae', value: 'x' }], '/0'],
    [
      [
        { op: 'replace', path: '/name', value: 'x' },
        { op: 'remove', path: '/nothing' },
      ],
      '/1',
    ],
    [[{ op: 'frobnicate', path: '/name' }], '/0/op'],
    [[{ op: 'add', path: 'name', value: 1 }], '/0/path'],
    [[{ op: 'add', path: '/name' }], '/0/value'],
    [[{ op: 'move', path: '/name' }], '/0/from'],
    [[{ op: 'replace', path: '', value: 7 }], ''],
    [[{ op: 'add', path: '/__proto__', value: { name: 'x' } }], '/0/path'],
    [[{ op: 'replace', path: '/__proto__/name', value: 'x' }], '/0/path'],
    [[{ op: 'add', path: '/constructor', value: 'x' }], '/constructor'],
    [[null], '/0'],
  ] as const) {
    const reply = await change(steps)
    expect([reply.status, pointersOf(reply.body)[0]], JSON.stringify(steps)).toEqual([400, pointer])
  }
  expect((await account.call('GET', '/api/account')).text).toBe(before)
})

test('a patch that keeps doubling the document is stopped early', async () => {
  const account = await openAccount()
  const steps: object[] = [{ op: 'add', path: '/name', value: [['x'.repeat(1000)]] }]
  for (let round = 0; round < 60; round++)
    steps.push({ op: 'copy', from: '/name', path: '/name/0/-' })
  const reply = await account.call('PATCH', '/api/account', { body: steps })
  expect([reply.status, reply.body.code]).toEqual([400, 'invalid-patch'])
  const deep = Array.from({ length: 500 }, () => ({
    op: 'copy',
    from: '',
    path: `/name${'/0'.repeat(20)}`,
  }))
  const nested = [
    { op: 'add', path: '/name', value: JSON.parse(`${'['.repeat(25)}${']'.repeat(25)}`) },
    ...deep,
  ]
  expect((await account.call('PATCH', '/api/account', { body: nested })).status).toBe(400)
  const far = await account.call('PATCH', '/api/account', {
    body: [{ op: 'test', path: '/a'.repeat(300_000), value: 1 }],
  })
  expect([far.status, pointersOf(far.body)]).toEqual([400, ['/0/path']])
})

test('If-Match compares the version, which only edits change', async () => {
  const account = await openAccount()
  const read = async () => (await account.call('GET', '/api/account')).headers.get('ETag') ?? ''
  const change = (name: string, tag: string) =>
    account.call('PATCH', '/api/account', { body: { name }, headers: { 'If-Match': tag } })
  const first = await read()
  const version = first.split('.')[0]
  await account.call('POST', '/api/devices', { body: { name: 'Tern' } })
  const second = await read()
  expect(second).not.toBe(first)
  expect(second.split('.')[0]).toBe(version)
  expect((await change('One', first)).status).toBe(200)
  expect((await change('Two', first)).status).toBe(412)
  expect((await change('Two', `${first}, ${await read()}`)).status).toBe(200)
  const stale = await account.call('PATCH', '/api/account', {
    body: [{ op: 'test', path: '/name', value: 'One' }],
    headers: { 'If-Match': first },
  })
  expect(stale.status).toBe(412)
})

test('concurrent edits all succeed; with the same If-Match only one does', async () => {
  const account = await openAccount()
  const rename = (name: string, headers: Record<string, string> = {}) =>
    account.call('PATCH', '/api/account', { body: { name }, headers })
  const free = await Promise.all(Array.from({ length: 8 }, (_, number) => rename(`Name ${number}`)))
  expect(free.map(({ status }) => status)).toEqual(Array(8).fill(200))
  const tag = (await account.call('GET', '/api/account')).headers.get('ETag') ?? ''
  const edits = await Promise.all(
    Array.from({ length: 8 }, (_, number) => rename(`Other ${number}`, { 'If-Match': tag })),
  )
  expect(edits.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(412)])
})

test('tokens of a disabled account stop at once, in other isolates within 30 s, and work again once enabled', async () => {
  const account = await openAccount()
  await patch(account, { disabled: true })
  expect((await account.call('GET', '/api/account')).status).toBe(401)
  await patch(account, { disabled: false })
  expect((await account.call('GET', '/api/account')).status).toBe(200)
  await env.DB.prepare('UPDATE accounts SET disabled = 1 WHERE id = ?').bind(account.id).run()
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 30_000 })
  expect((await account.call('GET', '/api/account')).status).toBe(401)
})

test('the operator can create a key for an account', async () => {
  const account = await openAccount()
  const make = (body?: object) =>
    callAsOperator('POST', `${ACCOUNTS}/${account.id}/keys`, body ? { body } : {})
  const plain = await make()
  expect([plain.status, plain.body.key.name, plain.body.key.scopes]).toEqual([
    201,
    'operator',
    ['admin'],
  ])
  await fetchToken(account.userName, plain.body.apiKey)
  const narrow = await make({ name: 'Auditor', scopes: ['read'], expires: '2099-01-01T00:00:00Z' })
  expect(narrow.body.key).toMatchObject({
    name: 'Auditor',
    scopes: ['read'],
    expires: '2099-01-01T00:00:00.000Z',
  })
  const dead = await make({ expires: '2020-01-01T00:00:00Z' })
  expect([dead.status, pointersOf(dead.body)]).toEqual([400, ['/expires']])
})

test('an ADMIN_TOKEN of fewer than 32 characters is refused, and a warning logged once', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  const ask = (ADMIN_TOKEN: string) =>
    callWithBindings({ ADMIN_TOKEN }, 'GET', ACCOUNTS, { token: ADMIN_TOKEN })
  for (const short of ['x'.repeat(31), 'secret', 'x'.repeat(31)])
    expect([(await ask(short)).status, (await ask(short)).body.code]).toEqual([
      404,
      'route-not-found',
    ])
  expect(warn.mock.calls).toEqual([
    [JSON.stringify({ level: 'warn', event: 'admin-token-too-short' })],
  ])
  expect((await ask('x'.repeat(32))).status).toBe(200)
  warn.mockRestore()
})

test('without ADMIN_TOKEN every operator endpoint is 404', async () => {
  const account = await openAccount()
  for (const ADMIN_TOKEN of [undefined, '', 'too-short']) {
    const bindings = { ADMIN_TOKEN } as { ADMIN_TOKEN: string }
    for (const [method, path] of [
      ['GET', ACCOUNTS],
      ['POST', ACCOUNTS],
      ['PUT', ACCOUNTS],
      ['DELETE', `${ACCOUNTS}/${account.id}`],
      ['GET', '/admin/nothing'],
    ] as const) {
      for (const token of [env.ADMIN_TOKEN ?? '', 'undefined', account.token]) {
        const reply = await callWithBindings(bindings, method, path, {
          token,
          headers: { 'X-Request-Id': 'x' },
        })
        expect([reply.status, reply.body.code], `${method} ${path}`).toEqual([
          404,
          'route-not-found',
        ])
      }
      expect((await callWithBindings(bindings, method, path)).status).toBe(404)
    }
  }
})

test('emergency contacts are shown to callers with `write` and the whole account only', async () => {
  const account = await openAccount()
  const contacts = [{ name: 'Harbour', email: 'harbour@example.com' }]
  await account.call('PATCH', '/api/account', { body: { emergencyContacts: contacts } })
  const { id: group } = await createGroup(account, { name: 'G' })
  const shownTo = async (user: object) => {
    const caller = await createBoundUser(account, user)
    const { status, body } = await caller.call('GET', '/api/account')
    expect(status).toBe(200)
    return body.account.emergencyContacts
  }
  for (const privileges of [['read'], ['read', 'execute']])
    expect(await shownTo({ privileges })).toEqual([])
  for (const privileges of [['read'], ['write'], ['admin']])
    expect(await shownTo({ privileges, group })).toEqual([])
  for (const privileges of [['write'], ['admin']])
    expect(await shownTo({ privileges })).toEqual(contacts)
  expect((await account.call('GET', '/api/account')).body.account.emergencyContacts).toEqual(
    contacts,
  )
})
