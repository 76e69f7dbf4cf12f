import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { createDevice } from '../../support/devices.ts'
import { ledgerStub } from '../../support/ledger.ts'
import { createBoundUser } from '../../support/users.ts'

const names = (reply: { body: { devices: { name: string }[] } }) =>
  reply.body.devices.map(({ name }) => name)

/** Follows `nextCursor` to the end. */
const readAllPages = async (account: TestAccount, path: string): Promise<string[]> => {
  const seen: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const reply = await account.call(
      'GET',
      `${path}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
    )
    expect(reply.status).toBe(200)
    seen.push(...names(reply))
    cursor = reply.body.nextCursor
  }
  return seen
}

test('a device is created with its defaults, takes a license and can be read back', async () => {
  const account = await openAccount({ licenses: 2 })
  const created = await account.call('POST', '/api/devices', { body: { name: 'Tern 7' } })
  expect(created.status).toBe(201)
  expect(created.headers.get('Location')).toBe(`/api/devices/${created.body.device.id}`)
  expect(created.body.device).toMatchObject({
    name: 'Tern 7',
    description: '',
    min: '',
    identifier: null,
    model: '',
    tags: {},
    groups: [],
    state: 'active',
    expires: null,
    limits: { expires: false, expirationDate: null, dailyEmailLimit: 100, dailySmsLimit: 20 },
    usage: { emailsSent: 0, smsSent: 0 },
    lastLocation: null,
    lastContact: null,
  })
  const read = await account.call('GET', `/api/devices/${created.body.device.id}`)
  expect(read.body).toEqual(created.body)
  expect(read.headers.get('ETag')).toBe(created.headers.get('ETag'))
  expect((await account.call('GET', '/api/account')).body.account.licenses).toEqual({
    total: 2,
    used: 1,
    available: 1,
  })
})

describe('a device’s phone number', () => {
  test.each(['', '+881632000000', '+881 (632) 000-000'])('can be %j', async (min) => {
    const account = await openAccount()
    const made = await account.call('POST', '/api/devices', { body: { name: 'Tern', min } })
    expect([made.status, made.body.device?.min]).toEqual([201, min])
  })

  test.each(['881632000000', '0049301234567', '+49', 'ask Ana', '+49 30 12a34567'])(
    'cannot be %j',
    async (min) => {
      const account = await openAccount()
      const id = await createDevice(account, 'Tern')
      const body = { name: 'Tern', min }
      const errors = [{ pointer: '/min', detail: expect.stringContaining('E.164, such as +') }]
      const path = `/api/devices/${id}`
      for (const refused of [
        await account.call('POST', '/api/devices', { body }),
        await account.call('PUT', path, { body }),
        await account.call('PATCH', path, { body: { min } }),
      ])
        expect([refused.status, refused.body.errors]).toEqual([400, errors])
    },
  )

  test('of before they were checked stays until it is changed', async () => {
    const account = await openAccount()
    const id = await createDevice(account, { name: 'Tern', identifier: 'A1' })
    const path = `/api/devices/${id}`
    const found = await ledgerStub(account).readDevice(id)
    if (!found.ok) throw new Error(found.refusal)
    const { key, id: _, creation, lastModified, version, ...record } = found.device
    await ledgerStub(account).editDevice(id, { ...record, min: 'ask Ana' }, null)
    const renamed = await account.call('PATCH', path, { body: { name: 'Auk' } })
    expect(renamed.body.device).toMatchObject({ name: 'Auk', min: 'ask Ana', identifier: 'A1' })
    const refused = await account.call('PATCH', path, { body: { name: '', min: 'ask Ana' } })
    expect(refused.body.errors).toMatchObject([{ pointer: '/name' }])
    const replaced = await account.call('PUT', path, { body: { name: 'Gull', min: 'ask Ana' } })
    expect(replaced.body.device).toMatchObject({ name: 'Gull', min: 'ask Ana', identifier: null })
    for (const method of ['PUT', 'PATCH'] as const) {
      const device = { name: 'Skua', min: 'ask Bo' }
      const changed = await account.call(method, path, { body: { device } })
      expect([changed.status, changed.body.errors]).toMatchObject([
        400,
        [{ pointer: '/device/min' }],
      ])
    }
    const cleared = await account.call('PATCH', path, { body: { min: '' } })
    expect(cleared.body.device.min).toBe('')
  })
})

test('the body of GET, edited, is accepted by PUT, bare or under device', async () => {
  const account = await openAccount()
  const id = await createDevice(account, { name: 'One', identifier: 'A1', tags: { k: 'v' } })
  const read = await account.call('GET', `/api/devices/${id}`)
  read.body.device.name = 'Two'
  const wrapped = await account.call('PUT', `/api/devices/${id}`, { body: read.body })
  expect(wrapped.body.device).toMatchObject({ name: 'Two', identifier: 'A1', tags: { k: 'v' } })
  const bare = await account.call('PUT', `/api/devices/${id}`, { body: { name: 'Three' } })
  expect(bare.body.device).toMatchObject({ name: 'Three', identifier: null, tags: {} })
})

test('both patch formats change only the members they name', async () => {
  const account = await openAccount()
  const id = await createDevice(account, {
    name: 'One',
    identifier: 'B1',
    tags: { a: '1', b: '2' },
  })
  const path = `/api/devices/${id}`
  const merged = await account.call('PATCH', path, {
    body: { tags: { a: null, c: '3' }, limits: { dailySmsLimit: 5 } },
  })
  expect(merged.body.device).toMatchObject({
    name: 'One',
    identifier: 'B1',
    tags: { b: '2', c: '3' },
    limits: { dailyEmailLimit: 100, dailySmsLimit: 5 },
  })
  const steps = [
    { op: 'test', path: '/name', value: 'One' },
    { op: 'replace', path: '/device/name', value: 'Two' },
    { op: 'remove', path: '/identifier' },
  ]
  const patched = await account.call('PATCH', path, {
    body: steps,
    headers: { 'Content-Type': 'application/json-patch+json' },
  })
  expect(patched.body.device).toMatchObject({ name: 'Two', identifier: null })
  const slip = await account.call('PATCH', path, {
    body: { tags: { nowhere: null }, limits: { dailySmsLimits: null } },
  })
  expect([slip.status, slip.body.errors]).toEqual([
    400,
    [
      {
        pointer: '/limits/dailySmsLimits',
        detail: 'is not a known name: check the spelling, or leave it out',
      },
    ],
  ])
  expect(
    (
      await account.call('PATCH', path, {
        body: { tags: { nowhere: null }, limits: { expirationDate: null } },
      })
    ).status,
  ).toBe(200)
  const long = 'x'.repeat(65)
  const unheld = await account.call('PATCH', path, { body: { tags: { [long]: null } } })
  expect([unheld.status, unheld.body.errors]).toEqual([
    400,
    [
      {
        pointer: `/tags/${long}`,
        detail: 'is not a known name: check the spelling, or leave it out',
      },
    ],
  ])
  const written = await account.call('PATCH', path, { body: { state: 'expired' } })
  expect(written.status).toBe(400)
  expect(written.body.errors).toEqual([
    { pointer: '/state', detail: 'is written by the server and cannot be changed' },
  ])
  const shown = (await account.call('GET', path)).body
  expect(shown.device).toMatchObject({ lastContact: null, lastLocation: null, expires: null })
  const whole = await account.call('PATCH', path, {
    body: { ...shown, device: { ...shown.device, name: 'Three' } },
  })
  expect([whole.status, whole.body.device.name]).toEqual([200, 'Three'])
  const lost = await account.call('PATCH', path, {
    body: [{ op: 'add', path: '/tags/__proto__', value: 'x' }],
  })
  expect([lost.status, lost.body.errors[0].pointer]).toEqual([400, '/0/path'])
})

test('a cursor works for a name that becomes long when folded', async () => {
  const account = await openAccount()
  for (let n = 0; n < 3; n++) await createDevice(account, { name: `${'ﷺ'.repeat(199)}${n}` })
  expect(await readAllPages(account, '/api/devices?limit=1')).toHaveLength(3)
})

test('twenty parallel patches of different tags are all applied', async () => {
  const account = await openAccount()
  const id = await createDevice(account, { name: 'Busy' })
  const replies = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      account.call('PATCH', `/api/devices/${id}`, { body: { tags: { [`t${n}`]: 'x' } } }),
    ),
  )
  expect(replies.map(({ status }) => status)).toEqual(Array(20).fill(200))
  const { body } = await account.call('GET', `/api/devices/${id}`)
  expect(Object.keys(body.device.tags)).toHaveLength(20)
})

test('If-Match is compared at the moment of the write', async () => {
  const account = await openAccount()
  const id = await createDevice(account, { name: 'Matched' })
  const path = `/api/devices/${id}`
  const etag = (await account.call('GET', path)).headers.get('ETag') ?? ''
  const rivals = await Promise.all(
    Array.from({ length: 10 }, (_, n) =>
      account.call('PUT', path, { body: { name: `Rival ${n}` }, headers: { 'If-Match': etag } }),
    ),
  )
  expect(rivals.filter(({ status }) => status === 200)).toHaveLength(1)
  expect(rivals.filter(({ status }) => status === 412)).toHaveLength(9)
  expect((await account.call('DELETE', path, { headers: { 'If-Match': etag } })).status).toBe(412)
})

describe('identifiers', () => {
  test('are unique in an account without regard to case, and free again after a delete', async () => {
    const account = await openAccount()
    const id = await createDevice(account, { name: 'One', identifier: 'imei-1' })
    const rival = await account.call('POST', '/api/devices', {
      body: { name: 'Two', identifier: 'IMEI-1' },
    })
    expect(rival.body).toMatchObject({ status: 409, code: 'identifier-taken' })
    expect((await account.call('DELETE', `/api/devices/${id}`)).body).toEqual({ success: true })
    expect((await account.call('GET', `/api/devices/${id}`)).status).toBe(404)
    expect(
      (await account.call('POST', '/api/devices', { body: { name: 'Two', identifier: 'IMEI-1' } }))
        .status,
    ).toBe(201)
    const other = await openAccount()
    expect(
      (await other.call('POST', '/api/devices', { body: { name: 'Two', identifier: 'IMEI-1' } }))
        .status,
    ).toBe(201)
  })

  test('name the field and the device that has it, to who can see that device', async () => {
    const account = await openAccount()
    const hidden = await createDevice(account, { name: 'Hidden', identifier: 'h-1' })
    const seen = await createDevice(account, { name: 'Seen', identifier: 's-1' })
    const own = await createDevice(account, { name: 'Own' })
    const { body: group } = await account.call('POST', '/api/groups', {
      body: { name: 'G', devices: [seen, own] },
    })
    const user = await createBoundUser(account, { group: group.id, privileges: ['admin'] })
    const path = `/api/devices/${own}`
    const take = async (caller: Pick<TestAccount, 'call'>, identifier: string) => {
      const bodies = [
        await caller.call('POST', '/api/devices', { body: { name: 'New', identifier } }),
        await caller.call('PUT', path, { body: { name: 'Own', identifier } }),
        await caller.call('PATCH', path, { body: { identifier } }),
      ].map(({ body: { code, error, deviceId, errors } }) => ({ code, error, deviceId, errors }))
      expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1)
      return bodies[0]
    }
    const named = (deviceId: string, name: string) => ({
      code: 'identifier-taken',
      error: `The identifier is used by the device “${name}”.`,
      deviceId,
      errors: [{ pointer: '/identifier', detail: `is used by the device “${name}”` }],
    })
    expect(await take(account, 'H-1')).toEqual(named(hidden, 'Hidden'))
    expect(await take(user, 'S-1')).toEqual(named(seen, 'Seen'))
    expect(await take(user, 'H-1')).toEqual({
      code: 'identifier-taken',
      error: 'Another device of the account has this identifier.',
      errors: [{ pointer: '/identifier', detail: 'is used by another device' }],
    })
  })

  test('that are taken are named where the body has them', async () => {
    const account = await openAccount()
    await createDevice(account, { name: 'One', identifier: 'imei-1' })
    const path = `/api/devices/${await createDevice(account, 'Two')}`
    const body = { device: { name: 'Two', identifier: 'IMEI-1' } }
    const step = { op: 'add', path: '/device/identifier', value: 'IMEI-1' }
    for (const { status, body: refused } of [
      await account.call('POST', '/api/devices', { body }),
      await account.call('PUT', path, { body }),
      await account.call('PATCH', path, { body }),
    ])
      expect([status, refused.errors]).toMatchObject([409, [{ pointer: '/device/identifier' }]])
    const patched = await account.call('PATCH', path, { body: [step] })
    expect(patched.body.errors).toMatchObject([{ pointer: '/identifier' }])
  })

  test('let one of fifty parallel creations with the same identifier succeed', async () => {
    const account = await openAccount({ licenses: 100 })
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        account.call('POST', '/api/devices', { body: { name: `N${n}`, identifier: 'SAME' } }),
      ),
    )
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1)
    expect((await account.call('GET', '/api/account')).body.account.licenses.used).toBe(1)
  })
})

describe('an invalid device is refused with a pointer to the member', () => {
  test.each([
    [{}, '/name'],
    [{ name: '  ' }, '/name'],
    [{ name: 7 }, '/name'],
    [{ name: 'x', colour: 'red' }, '/colour'],
    [{ name: 'x', limits: { expires: true } }, '/limits/expirationDate'],
    [
      { name: 'x', limits: { expires: true, expirationDate: '2027-02-30' } },
      '/limits/expirationDate',
    ],
    [{ name: 'x', limits: { dailySmsLimit: 100001 } }, '/limits/dailySmsLimit'],
    [{ name: 'x', limits: { dailyEmailLimit: 1.5 } }, '/limits/dailyEmailLimit'],
    [{ name: 'x', tags: { a: 1 } }, '/tags/a'],
    [{ device: { name: 7 } }, '/device/name'],
    [{ device: { name: 'x' }, other: 1 }, '/other'],
  ])('%j', async (body, pointer) => {
    const account = await openAccount()
    const reply = await account.call('POST', '/api/devices', { body })
    expect(reply.status).toBe(400)
    expect(reply.body.errors.map((error: { pointer: string }) => error.pointer)).toContain(pointer)
    expect((await account.call('GET', '/api/devices')).body.devices).toEqual([])
  })
})

describe('the device list', () => {
  test('returns each row exactly once in every order while rows are added and deleted', async () => {
    const account = await openAccount({ licenses: 100 })
    const all = Array.from({ length: 23 }, (_, n) => `device ${String(n).padStart(2, '0')}`)
    for (const name of all.toSorted(() => 0.5 - Math.random()))
      await createDevice(account, { name })
    expect(await readAllPages(account, '/api/devices?limit=5')).toEqual(all)
    expect(await readAllPages(account, '/api/devices?limit=5&sort=-name')).toEqual(all.toReversed())
    expect((await readAllPages(account, '/api/devices?limit=7&sort=creation')).toSorted()).toEqual(
      all,
    )
    const first = await account.call('GET', '/api/devices?limit=5')
    expect(first.headers.get('Link')).toMatch(
      /^<\/api\/devices\?limit=5&cursor=[^>]+>; rel="next"$/,
    )
    await createDevice(account, { name: 'aaa' })
    await account.call('DELETE', `/api/devices/${first.body.devices[4].id}`)
    const second = await account.call('GET', `/api/devices?limit=5&cursor=${first.body.nextCursor}`)
    expect(names(second)).toEqual(all.slice(5, 10))
  })

  test.each(['last locations', 'tags'])(
    'has shorter pages when %s are large, and returns each device once',
    async (what) => {
      const account = await openAccount({ licenses: 100 })
      const all = Array.from({ length: 50 }, (_, n) => `device ${String(n).padStart(2, '0')}`)
      for (const name of all) await createDevice(account, { name })
      const large = 'x'.repeat(60_000)
      await (what === 'tags'
        ? env.DB.prepare(`UPDATE devices SET tags = json_object('large', ?2) WHERE account_id = ?1`)
        : env.DB.prepare(
            `INSERT INTO locations (device_key, time, latitude, longitude, rest, received_at)
           SELECT key, 1, 0, 0, json_object('custom', json_object('large', ?2)), 1 FROM devices WHERE account_id = ?1`,
          )
      )
        .bind(account.id, large)
        .run()
      for (const query of ['', '&sort=-creation', '&state=active', '&q=dev']) {
        const first = await account.call('GET', `/api/devices?limit=1000${query}`)
        expect(first.text.length, query).toBeLessThan(2_200_000)
        expect(first.body.devices.length, query).toBe(34)
        expect(
          (await readAllPages(account, `/api/devices?limit=1000${query}`)).toSorted(),
          query,
        ).toEqual(all)
      }
    },
  )

  test('finds by prefix of name or identifier, in any case, and by state', async () => {
    const account = await openAccount()
    await createDevice(account, { name: 'Ålesund' })
    await createDevice(account, { name: 'Bergen', identifier: 'XJ9' })
    await createDevice(account, { name: 'xjørn' })
    await createDevice(account, {
      name: 'Old',
      limits: { expires: true, expirationDate: '2020-01-01' },
    })
    expect(await readAllPages(account, '/api/devices?q=xJ')).toEqual(['Bergen', 'xjørn'])
    expect(await readAllPages(account, '/api/devices?q=åLE')).toEqual(['Ålesund'])
    expect(await readAllPages(account, '/api/devices?q=%25')).toEqual([])
    expect(await readAllPages(account, '/api/devices?state=expired')).toEqual(['Old'])
    expect(await readAllPages(account, '/api/devices?state=active&q=old')).toEqual([])
  })

  test.each([
    'sort=colour',
    'state=asleep',
    'limit=0',
    'limit=1001',
    'limit=x',
    'group=grp_none',
    'cursor=abc.def',
    'colour=red',
    'limit=1&limit=2',
  ])('refuses ?%s', async (query) => {
    const account = await openAccount()
    expect((await account.call('GET', `/api/devices?${query}`)).status).toBe(400)
  })
})

test('creating twice with one Idempotency-Key makes one device and takes one license', async () => {
  const account = await openAccount({ licenses: 5 })
  const request = { body: { name: 'Once' }, headers: { 'Idempotency-Key': 'k1' } }
  const first = await account.call('POST', '/api/devices', request)
  const again = await account.call('POST', '/api/devices', request)
  expect(again.text).toBe(first.text)
  expect(again.headers.get('Idempotent-Replayed')).toBe('true')
  expect(again.headers.get('ETag')).toBe(first.headers.get('ETag'))
  expect((await account.call('GET', '/api/account')).body.account.licenses.used).toBe(1)
  expect(
    (await account.call('POST', '/api/devices', { ...request, body: { name: 'Other' } })).status,
  ).toBe(422)
})

test('usage can be read up to the last day of the calendar', async () => {
  const account = await openAccount()
  const { id } = (await account.call('POST', '/api/devices', { body: { name: 'Tern' } })).body
    .device
  const { status, body } = await account.call(
    'GET',
    `/api/devices/${id}/usage?from=9999-12-30&to=9999-12-31`,
  )
  expect([status, body.usage.map(({ date }: { date: string }) => date)]).toEqual([
    200,
    ['9999-12-30', '9999-12-31'],
  ])
})

test('usage has every day of a span, by default the last ninety', async () => {
  const account = await openAccount()
  const id = await createDevice(account, { name: 'Quiet' })
  const usage = await account.call('GET', `/api/devices/${id}/usage`)
  expect(usage.body.usage).toHaveLength(90)
  expect(usage.body.usage.at(-1)).toEqual({
    date: new Date().toISOString().slice(0, 10),
    emailsSent: 0,
    smsSent: 0,
  })
  expect(
    (await account.call('GET', `/api/devices/${id}/usage?from=2026-02-01&to=2026-01-01`)).status,
  ).toBe(400)
})
