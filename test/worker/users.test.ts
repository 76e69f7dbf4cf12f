import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { isPassword } from '../../src/auth/password.ts'
import { openCell } from '../../src/db/open.ts'
import { updateUser } from '../../src/users/edit.ts'
import { findUser } from '../../src/users/store.ts'
import { fetchToken, openAccount, type TestAccount } from '../support/accounts.ts'
import { createDevice } from '../support/devices.ts'
import { callAsOperator } from '../support/http.ts'

const ANA = {
  name: 'Ana Sousa',
  email: 'ana@example.com',
  country: 'PT',
  timeZone: 'Europe/Lisbon',
}
const user = async (account: TestAccount, body: object = {}) =>
  (await account.call('POST', '/api/users', { body: { ...ANA, ...body } })).body

const DEFAULTS = {
  phone: null,
  notify: { email: true, sms: false, push: true, voice: false },
  description: '',
  message: '',
  disabled: false,
  disabledMessage: '',
  tags: {},
  privileges: ['read'],
  group: null,
  groupId: null,
  deviceId: null,
  adminDevices: null,
  from: null,
  expires: null,
  password: null,
  lastLogin: null,
  lastSeen: null,
  invited: false,
}

test('a user created with the four required members gets defaults, flat next to `success`', async () => {
  const account = await openAccount()
  const created = await account.call('POST', '/api/users', { body: ANA })
  expect(created.status).toBe(201)
  const { creation } = created.body
  expect(created.body).toEqual({
    success: true,
    id: expect.stringMatching(/^usr_/),
    ...ANA,
    ...DEFAULTS,
    creation,
    modification: creation,
  })
  expect(created.headers.get('Location')).toBe(`/api/users/${created.body.id}`)
  const read = await account.call('GET', `/api/users/${created.body.id}`)
  expect([read.text, read.headers.get('ETag')]).toEqual([created.text, created.headers.get('ETag')])
})

test('every member is returned as sent, and PUT resets members left out to their default', async () => {
  const account = await openAccount()
  const [{ body: group }, deviceId] = [
    await account.call('POST', '/api/groups', { body: { name: 'North' } }),
    await createDevice(account),
  ]
  const full = {
    ...ANA,
    phone: '+8821612345678',
    notify: { email: false, sms: true },
    description: 'd',
    message: 'm',
    disabled: true,
    disabledMessage: 'gone fishing',
    tags: { shift: 'night', getSQL: 'x' },
    privileges: ['read', 'write'],
    deviceId,
    adminDevices: 3,
    from: '2026-01-01T00:00:00.000Z',
    expires: '2030-01-01T00:00:00.000Z',
  }
  const created = await user(account, {
    ...full,
    group: 'NORTH',
    country: 'PRT',
    from: '2026-01-01T01:00:00+01:00',
    password: 'a long secret',
  })
  const shown = { group: 'North', groupId: group.id, password: null }
  expect(created).toMatchObject({ ...full, ...shown })
  const path = `/api/users/${created.id}`
  const back = await account.call('PUT', path, { body: created })
  expect(back.body).toEqual({ ...created })
  expect((await account.call('PUT', path, { body: ANA })).body).toMatchObject({
    ...ANA,
    ...DEFAULTS,
  })
})

describe('the group of a user', () => {
  const withGroups = async () => {
    const account = await openAccount()
    const create = async (name: string): Promise<string> =>
      (await account.call('POST', '/api/groups', { body: { name } })).body.id
    const [north, south] = [await create('North'), await create('South')]
    const ana = await user(account, { ...ANA, group: north })
    return { account, north, south, ana, path: `/api/users/${ana.id}` }
  }

  test('is written by name or id and answered by name, with its id beside it', async () => {
    const { account, north, south, ana, path } = await withGroups()
    expect([ana.group, ana.groupId]).toEqual(['North', north])
    for (const group of ['SOUTH', south]) {
      const { body } = await account.call('PUT', path, { body: { ...ANA, group } })
      expect([body.group, body.groupId]).toEqual(['South', south])
    }
    const { body: list } = await account.call('GET', '/api/users')
    expect([list.users[0].group, list.users[0].groupId]).toEqual(['South', south])
    await account.call('PATCH', `/api/groups/${south}`, { body: { name: 'Far South' } })
    const read = await account.call('GET', path)
    expect([read.body.group, read.body.groupId]).toEqual(['Far South', south])
  })

  test('`group` and `groupId` that name different groups are 400, and nothing changes', async () => {
    const { account, north, south, path } = await withGroups()
    for (const body of [
      { ...ANA, group: 'North', groupId: south },
      { ...ANA, group: null, groupId: south },
    ]) {
      const reply = await account.call('PUT', path, { body })
      expect([reply.status, reply.body.errors[0].pointer]).toEqual([400, '/groupId'])
    }
    const same = { ...ANA, group: 'North', groupId: north }
    expect((await account.call('PUT', path, { body: same })).body.groupId).toBe(north)
  })

  test('a patch of `group` alone moves the user; `groupId` alone cannot be patched', async () => {
    const { account, north, south, path } = await withGroups()
    const moved = await account.call('PATCH', path, { body: { group: 'South' } })
    expect([moved.status, moved.body.groupId]).toEqual([200, south])
    const refused = await account.call('PATCH', path, { body: { groupId: north } })
    expect([refused.status, refused.body.errors[0].pointer]).toEqual([400, '/groupId'])
    const out = await account.call('PATCH', path, { body: { group: null } })
    expect([out.body.group, out.body.groupId]).toEqual([null, null])
  })

  test('no group has a name that begins like an id', async () => {
    const { account, north } = await withGroups()
    for (const name of ['grp_1', 'GRP_north', ' grp_x']) {
      const reply = await account.call('POST', '/api/groups', { body: { name } })
      expect([reply.status, reply.body.errors?.[0].pointer], name).toEqual([400, '/name'])
    }
    const renamed = await account.call('PATCH', `/api/groups/${north}`, { body: { name: 'grp_' } })
    expect(renamed.status).toBe(400)
  })
})

test('a country may be given by its English name, and `execute` is a privilege', async () => {
  const account = await openAccount()
  const privileges = ['read', 'execute']
  const created = await user(account, { ...ANA, country: 'Colombia', privileges })
  expect([created.country, created.privileges]).toEqual(['CO', privileges])
  for (const [country, code] of [
    ['united states', 'US'],
    ['Côte d’Ivoire', 'CI'],
    ['DEU', 'DE'],
    ['de', 'DE'],
  ]) {
    const { body } = await account.call('PUT', `/api/users/${created.id}`, {
      body: { ...ANA, country },
    })
    expect(body.country, country).toBe(code)
  }
  const unknown = await account.call('POST', '/api/users', { body: { ...ANA, country: 'Narnia' } })
  expect([unknown.status, unknown.body.errors[0].pointer]).toEqual([400, '/country'])
})

describe('an invalid member is refused with its pointer', () => {
  const cases: [object, string][] = [
    [{ name: '  ' }, '/name'],
    [{ email: 'ana@example.com\r\nBcc: all@example.com' }, '/email'],
    [{ email: 'ana sousa@example.com' }, '/email'],
    [{ email: 'ana@localhost' }, '/email'],
    [{ country: 'XK' }, '/country'],
    [{ country: 'UK' }, '/country'],
    [{ timeZone: '+01:00' }, '/timeZone'],
    [{ timeZone: 'Mars/Base' }, '/timeZone'],
    [{ phone: '8816320000' }, '/phone'],
    [{ phone: '+0123456789' }, '/phone'],
    [{ phone: '+1234567890123456' }, '/phone'],
    [{ privileges: ['root'] }, '/privileges/0'],
    [{ notify: { email: 'yes' } }, '/notify/email'],
    [{ notify: { fax: true } }, '/notify/fax'],
    [{ from: '2027-01-01T00:00:00Z', expires: '2026-01-01T00:00:00Z' }, '/expires'],
    [{ from: '2026-02-30T00:00:00Z' }, '/from'],
    [{ from: '0000-01-01T00:00:00+14:00' }, '/from'],
    [{ expires: '9999-12-31T23:59:59-01:00' }, '/expires'],
    [{ adminDevices: -1 }, '/adminDevices'],
    [{ password: 'short' }, '/password'],
    [{ password: 'eleven char' }, '/password'],
    [{ password: '🦭'.repeat(6) }, '/password'],
    [{ password: 'Password1234!' }, '/password'],
    [{ group: 'nobody' }, '/group'],
    [{ deviceId: 'dev_none' }, '/deviceId'],
    [{ tags: { a: 1 } }, '/tags/a'],
    [{ colour: 'red' }, '/colour'],
  ]
  test.for(cases)('%j', async ([body, pointer]) => {
    const account = await openAccount()
    const reply = await account.call('POST', '/api/users', { body: { ...ANA, ...body } })
    expect([reply.status, reply.body.errors?.[0]?.pointer]).toEqual([400, pointer])
    expect((await account.call('GET', '/api/users')).body.users).toEqual([])
  })

  test('a group or device of another account is refused', async () => {
    const [account, other] = [await openAccount(), await openAccount()]
    const { body: foreign } = await other.call('POST', '/api/groups', { body: { name: 'Theirs' } })
    for (const group of [foreign.id, 'Theirs'])
      expect((await user(account, { group })).errors[0].pointer).toBe('/group')
    const mine = await user(account)
    const reply = await account.call('PATCH', `/api/users/${mine.id}`, {
      body: { name: 'X', deviceId: await createDevice(other) },
    })
    expect(reply.body).toMatchObject({ status: 400, errors: [{ pointer: '/deviceId' }] })
    expect((await account.call('GET', `/api/users/${mine.id}`)).body).toEqual(mine)
    expect((await other.call('GET', `/api/users/${mine.id}`)).status).toBe(404)
  })
})

test.for([
  ['+870773100000', 'Inmarsat'],
  ['+881632000000', 'Iridium'],
  ['+8821612345678', 'Thuraya'],
  ['+351912345678', 'a mobile'],
])('%s (%s) is a phone number', async ([phone]) => {
  expect((await user(await openAccount(), { phone })).phone).toBe(phone)
})

test('an e-mail address is unique in its account in any spelling, and free in another', async () => {
  const [account, other] = [await openAccount(), await openAccount()]
  const first = await user(account, { email: 'Ana@Bücher.example' })
  expect(first.email).toBe('Ana@Bücher.example')
  for (const email of ['ana@bücher.example', 'ANA@xn--bcher-kva.example'])
    expect(await user(account, { email })).toMatchObject({ status: 409, code: 'email-taken' })
  const second = await user(account, { email: 'bea@example.com' })
  const taken = await account.call('PATCH', `/api/users/${second.id}`, {
    body: { email: 'ana@BÜCHER.example' },
  })
  expect(taken.body).toMatchObject({
    code: 'email-taken',
    errors: [{ pointer: '/email', detail: 'is used by another user' }],
  })
  expect(
    (
      await account.call('PATCH', `/api/users/${first.id}`, {
        body: { email: 'ANA@bücher.example' },
      })
    ).status,
  ).toBe(200)
  expect((await user(other, { email: 'ana@bücher.example' })).success).toBe(true)
})

test('of ten concurrent creations with one e-mail address, one succeeds', async () => {
  const account = await openAccount()
  const replies = await Promise.all(
    Array.from({ length: 10 }, () => account.call('POST', '/api/users', { body: ANA })),
  )
  expect(replies.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(409)])
})

test('of ten concurrent creations as many succeed as the account may have users', async () => {
  const account = await openAccount()
  const budgetsOf = async () => (await account.call('GET', '/api/account')).body.account.budgets
  expect((await budgetsOf()).maxUsers).toBe(500)
  const setMaxUsers = (maxUsers: number | null) =>
    callAsOperator('PATCH', `/admin/accounts/${account.id}`, { body: { budgets: { maxUsers } } })
  await setMaxUsers(3)
  expect((await budgetsOf()).maxUsers).toBe(3)
  const create = (email: string) =>
    account.call('POST', '/api/users', {
      body: { name: 'Ana', email, country: 'PT', timeZone: 'Europe/Lisbon' },
    })
  const replies = await Promise.all(
    Array.from({ length: 10 }, (_, index) => create(`many${index}@example.com`)),
  )
  const refused = replies.filter(({ status }) => status !== 201)
  expect(refused.map(({ status, body }) => [status, body.code])).toEqual(
    Array(7).fill([409, 'user-limit-reached']),
  )
  const made = replies.find(({ status }) => status === 201)?.body
  await account.call('DELETE', `/api/users/${made.id}`)
  expect((await create('another@example.com')).status).toBe(201)
  await setMaxUsers(null)
  expect((await create('another@example.com')).body.code).toBe('email-taken')
  expect((await create('last@example.com')).status).toBe(201)
})

test('of ten concurrent edits with If-Match one succeeds; without it no edit is lost', async () => {
  const account = await openAccount()
  const created = await account.call('POST', '/api/users', { body: ANA })
  const path = `/api/users/${created.body.id}`
  const headers = { 'If-Match': created.headers.get('ETag') ?? '' }
  const names = Array.from({ length: 10 }, (_, n) => `t${n}`)
  const matched = await Promise.all(
    names.map((name) => account.call('PATCH', path, { body: { name }, headers })),
  )
  expect(matched.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(412)])
  await Promise.all(
    names.map((name) => account.call('PATCH', path, { body: { tags: { [name]: name } } })),
  )
  expect(Object.keys((await account.call('GET', path)).body.tags).sort()).toEqual(names)
})

test('an edit of an outdated version writes nothing', async () => {
  const account = await openAccount()
  const { id } = await user(account)
  const db = openCell(env, 0)
  const before = await findUser(db, account.id, id)
  if (!before) throw new Error('no user')
  const rename = (name: string) =>
    updateUser(db, {
      accountId: account.id,
      before,
      record: { ...before, name },
      password: null,
      now: 1,
    })
  expect(await rename('B')).toMatchObject({ ok: true, row: { version: 2 } })
  const late = await rename('C')
  expect(late).toEqual({ ok: false, refusal: 'precondition-failed' })
  expect((await account.call('GET', `/api/users/${id}`)).body.name).toBe('B')
})

describe('a password', () => {
  const kept = (id: string) =>
    env.DB.prepare('SELECT password FROM users WHERE id = ?').bind(id).first<string>('password')

  test('is stored as a salted PBKDF2 hash, shown as null, and stays until a new one is sent', async () => {
    const account = await openAccount()
    const created = await account.call('POST', '/api/users', {
      body: { ...ANA, password: 'correct horse' },
    })
    expect(created.text).not.toContain('horse')
    const path = `/api/users/${created.body.id}`
    const first = (await kept(created.body.id)) ?? ''
    expect(first).toMatch(/^pbkdf2-sha256\$10x10000\$/)
    expect([
      await isPassword(env, 'correct horse', first),
      await isPassword(env, 'correct horsf', first),
    ]).toEqual([true, false])
    await account.call('PUT', path, { body: { ...ANA, name: 'B' } })
    await account.call('PUT', path, { body: { ...ANA, password: null } })
    await account.call('PATCH', path, { body: { password: null } })
    expect(await kept(created.body.id)).toBe(first)
    const changed = await account.call('PATCH', path, {
      body: [{ op: 'replace', path: '/password', value: 'correct horse' }],
    })
    expect(changed.body.password).toBeNull()
    const second = (await kept(created.body.id)) ?? ''
    expect(second).not.toBe(first)
    expect(await isPassword(env, 'correct horse', second)).toBe(true)
  })

  test('leaves no fast hash of itself when the request has an Idempotency-Key', async () => {
    const account = await openAccount()
    const text = JSON.stringify({ ...ANA, password: 'correct horse' })
    await account.call('POST', '/api/users', { body: text, headers: { 'Idempotency-Key': 'once' } })
    const digest = await crypto.subtle.digest(
      'SHA-256',
      new TextEncoder().encode(`POST /api/users\n${text}`),
    )
    const row = await env.DB.prepare('SELECT * FROM idempotency WHERE account_id = ?')
      .bind(account.id)
      .first()
    expect(row?.status).toBe(201)
    expect(JSON.stringify(row)).not.toContain(new Uint8Array(digest).toHex())
    expect(JSON.stringify(row)).not.toContain('horse')
  })
})

test('an edit changes the version and `modification`; a sign-in only `lastLogin` and `lastSeen`', async () => {
  const account = await openAccount()
  const created = await account.call('POST', '/api/users', { body: ANA })
  const path = `/api/users/${created.body.id}`
  const etag = created.headers.get('ETag') ?? ''
  const { body: made } = await account.call('POST', '/api/account/keys', {
    body: { name: 'ana', scopes: ['read'], userId: created.body.id },
  })
  await fetchToken(account.userName, made.apiKey)
  const seen = await account.call('GET', path, { headers: { 'If-None-Match': etag } })
  expect(seen.status).toBe(200)
  const { lastLogin } = seen.body
  expect(seen.body).toEqual({ ...created.body, lastLogin: expect.any(String), lastSeen: lastLogin })
  const edited = await account.call('PATCH', path, {
    body: { tags: { a: 'b' } },
    headers: { 'If-Match': etag },
  })
  expect(edited.body).toMatchObject({ tags: { a: 'b' }, lastLogin: seen.body.lastLogin })
  expect(
    (await account.call('PUT', path, { body: ANA, headers: { 'If-Match': etag } })).status,
  ).toBe(412)
  expect((await account.call('DELETE', path, { headers: { 'If-Match': etag } })).status).toBe(412)
  const refused = await account.call('PATCH', path, { body: { lastLogin: null } })
  expect(refused.body.errors).toEqual([
    { pointer: '/lastLogin', detail: 'is written by the server and cannot be changed' },
  ])
})

test('deleting a device removes it from its users', async () => {
  const account = await openAccount()
  const deviceId = await createDevice(account)
  const { id } = await user(account, { deviceId })
  await account.call('DELETE', `/api/devices/${deviceId}`)
  expect((await account.call('GET', `/api/users/${id}`)).body.deviceId).toBeNull()
})

test('a group cannot be deleted while users are confined to it', async () => {
  const account = await openAccount()
  const { body: group } = await account.call('POST', '/api/groups', { body: { name: 'North' } })
  const [one, two] = [
    await user(account, { group: group.id }),
    await user(account, { email: 'b@example.com', group: group.id }),
  ]
  const remove = () => account.call('DELETE', `/api/groups/${group.id}`)
  expect((await remove()).body).toMatchObject({ status: 409, code: 'group-in-use' })
  await account.call('PATCH', `/api/users/${one.id}`, { body: { group: null } })
  expect((await remove()).status).toBe(409)
  await account.call('DELETE', `/api/users/${two.id}`)
  expect((await remove()).status).toBe(200)
})

test('users are listed in pages and found by a prefix of name or e-mail, each only once', async () => {
  const account = await openAccount()
  const people = [
    ['Maria Alves', 'm.alves@example.com'],
    ['Ana', 'x@example.com'],
    ['Bea', 'mara@example.com'],
    ['mario', 'mario@example.com'],
    ['Çağla', 'c@example.com'],
    ['Zoe', 'ma@example.com'],
  ]
  for (const [name, email] of people) await user(account, { name, email })
  const walk = async (limit: number, q = '') => {
    const seen: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await account.call(
        'GET',
        `/api/users?limit=${limit}&q=${encodeURIComponent(q)}${cursor && `&cursor=${cursor}`}`,
      )
      seen.push(...body.users.map(({ name }: { name: string }) => name))
      cursor = body.nextCursor
    }
    return seen
  }
  for (const limit of [1, 2, 3, 1000]) {
    expect(await walk(limit)).toEqual(people.map(([name]) => name))
    expect(await walk(limit, 'MA')).toEqual(['Maria Alves', 'mario', 'Zoe', 'Bea'])
  }
  expect(await walk(1000, 'ça')).toEqual(['Çağla'])
  expect(await walk(1000, 'nobody')).toEqual([])
})

describe('countries and time zones', () => {
  test('have an ETag, can be cached for an hour, and are never taken for a user id', async () => {
    const account = await openAccount()
    for (const path of ['/api/users/countries', '/api/users/timeZones']) {
      const reply = await account.call('GET', path)
      expect([reply.status, reply.headers.get('Cache-Control')]).toEqual([
        200,
        'public, max-age=3600',
      ])
      const again = await account.call('GET', path, {
        headers: { 'If-None-Match': reply.headers.get('ETag') ?? '' },
      })
      expect([again.status, again.text, again.headers.get('Cache-Control')]).toEqual([
        304,
        '',
        'public, max-age=3600',
      ])
      for (const method of ['PUT', 'PATCH', 'DELETE'])
        expect(
          (await account.call(method, path, method === 'DELETE' ? {} : { body: { ...ANA } }))
            .status,
        ).toBe(405)
    }
  })

  test('are the 249 countries of ISO 3166-1 with their English names', async () => {
    const { body } = await (await openAccount()).call('GET', '/api/users/countries')
    expect(Object.keys(body.countries)).toHaveLength(249)
    expect(body.countries).toMatchObject({
      US: 'United States',
      CI: 'Côte d’Ivoire',
      TR: 'Türkiye',
      SS: 'South Sudan',
      AX: 'Åland Islands',
    })
    expect(body.countries).not.toHaveProperty('XK')
  })

  test('are IANA time zones with long names, including those that the runtime lacks', async () => {
    const { body } = await (await openAccount()).call('GET', '/api/users/timeZones')
    expect(body.timeZones).toMatchObject({
      'America/New_York': 'Eastern Time',
      UTC: 'Coordinated Universal Time',
      'Asia/Kolkata': 'India Standard Time',
      'Europe/Kyiv': 'Eastern European Time',
      'Etc/GMT+5': 'GMT-05:00',
    })
    for (const zone of Intl.supportedValuesOf('timeZone'))
      expect(body.timeZones).toHaveProperty([zone])
  })
})
