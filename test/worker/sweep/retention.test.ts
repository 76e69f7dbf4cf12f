import { env } from 'cloudflare:workers'
import { expect, test, vi } from 'vitest'
import { sweep } from '../../../src/sweep/sweep.ts'
import { eraseAccount, openAccount, type TestAccount } from '../../support/accounts.ts'
import { failStatements } from '../../support/bindings.ts'
import { createDevice } from '../../support/devices.ts'
import { callAsOperator } from '../../support/http.ts'
import { iso } from '../../support/time.ts'

const DAY = 86_400_000
const place = (at: number) => ({ dateTime: iso(at), latitude: 1, longitude: 2 })

const report = async (account: TestAccount, device: string, ...times: number[]) =>
  expect(
    (await account.call('POST', `/api/devices/${device}/locations`, { body: times.map(place) }))
      .status,
  ).toBe(201)
const timesOf = async (account: TestAccount, device: string): Promise<number[]> =>
  (await account.call('GET', `/api/devices/${device}/locations`)).body.locations.map(
    ({ dateTime }: { dateTime: string }) => Date.parse(dateTime),
  )
const keyOf = (device: string, db = env.DB) =>
  db.prepare('SELECT key FROM devices WHERE id = ?').bind(device).first<number>('key')
const rowsUnder = (key: number | null, db = env.DB) =>
  db
    .prepare('SELECT count(*) AS n FROM locations WHERE device_key = ?')
    .bind(key)
    .first<number>('n')
/** Adds a long track without reporting each location. */
const addRows = (key: number | null, count: number, from: number, db = env.DB) =>
  db
    .prepare(
      `INSERT INTO locations (device_key, time, latitude, longitude, received_at)
       WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?2 - 1) SELECT ?1, ?3 + i, 0, 0, ?3 FROM n`,
    )
    .bind(key, count, from)
    .run()

/** Adds six hundred devices between the keys of two: more than one slice. */
const addDevicesBetween = async (first: string, last: string) => {
  await env.DB.prepare(
    `INSERT INTO devices (key, id, account_id, name, name_key, description, min, model, tags, expires, daily_email_limit, daily_sms_limit, creation, last_modified, version, seq)
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600)
     SELECT key + 1000 + i, 'dev_x' || (key + i), account_id, '', '', '', '', '', '{}', 0, 0, 0, 0, 0, 1, 1 FROM devices, n WHERE id = ?`,
  )
    .bind(first)
    .run()
  await env.DB.prepare('UPDATE devices SET key = key + 5000 WHERE id = ?').bind(last).run()
}

test('an account keeps locations for 365 days by default, or for its `retentionDays`', async () => {
  const account = await openAccount()
  expect((await account.call('GET', '/api/account')).body.account.retentionDays).toBe(365)
  for (const retentionDays of [0, 3651, 1.5, '30', null]) {
    const refused = await account.call('PATCH', '/api/account', { body: { retentionDays } })
    expect(refused.status).toBe(400)
    expect(refused.body.errors[0].pointer).toBe('/retentionDays')
  }
  const changed = await account.call('PATCH', '/api/account', { body: { retentionDays: 30 } })
  expect(changed.body.account).toMatchObject({ retentionDays: 30 })
  expect((await account.call('GET', '/api/account')).body.account.retentionDays).toBe(30)
  expect(
    (await callAsOperator('GET', `/admin/accounts/${account.id}`)).body.account.retentionDays,
  ).toBe(30)
  expect(
    await env.DB.prepare('SELECT retention_days FROM accounts WHERE id = ?')
      .bind(account.id)
      .first('retention_days'),
  ).toBe(30)
})

test('the sweep deletes locations older than each account’s own `retentionDays`', async () => {
  const [short, long] = await Promise.all([openAccount(), openAccount({ cell: 1 })])
  const [shortId, longId] = [await createDevice(short), await createDevice(long)]
  const now = Date.now()
  const times = [
    now - 365 * DAY + 30_000,
    now - 20 * DAY,
    now - 10 * DAY - 60_000,
    now - 10 * DAY + 60_000,
    now,
  ]
  await report(short, shortId, ...times)
  await report(long, longId, ...times)
  await short.call('PATCH', '/api/account', { body: { retentionDays: 10 } })
  await sweep(env, now + 31_000)
  expect(await timesOf(long, longId)).toEqual(times.slice(1))
  expect(await timesOf(short, shortId)).toEqual(times.slice(3))
})

test('a device that is silent for longer keeps its newest location and its `lastContact`', async () => {
  const account = await openAccount()
  const device = await createDevice(account)
  const now = Date.now()
  const times = [now - 4 * DAY, now - 3 * DAY, now - 2 * DAY]
  await report(account, device, ...times)
  const before = (await account.call('GET', `/api/devices/${device}`)).body.device
  await account.call('PATCH', '/api/account', { body: { retentionDays: 1 } })
  for (let run = 0; run < 2; run++) await sweep(env, now)
  expect(await timesOf(account, device)).toEqual(times.slice(2))
  const after = (await account.call('GET', `/api/devices/${device}`)).body.device
  expect(after.lastLocation).toEqual(before.lastLocation)
  expect(after.lastContact).toBe(before.lastContact)
  await report(account, device, now)
  await sweep(env, now)
  expect(await timesOf(account, device)).toEqual([now])
})

test('what is deleted is subtracted from the stored bytes of its own account', async () => {
  const [old, fresh] = [await openAccount(), await openAccount()]
  const now = Date.now()
  const reportWith = (account: TestAccount, device: string, time: number, note: string) =>
    account.call('POST', `/api/devices/${device}/locations`, {
      body: { ...place(time), attributes: { note } },
    })
  const storedBytes = async (account: TestAccount) =>
    (await account.call('GET', '/api/account')).body.account.budgetUsage.storageBytes
  const devices = []
  for (const account of [old, fresh]) {
    const device = await createDevice(account)
    devices.push(device)
    await reportWith(account, device, now - 3 * DAY, 'x'.repeat(5000))
    await reportWith(account, device, now - 2 * DAY, 'y')
  }
  await old.call('PATCH', '/api/account', { body: { retentionDays: 1 } })
  // An isolate writes its count at most once a second.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 1000 })
  const [ofOld, ofFresh] = [await storedBytes(old), await storedBytes(fresh)]
  await sweep(env, now)
  const rest = JSON.stringify({ attributes: { note: 'x'.repeat(5000) } })
  expect(await storedBytes(old)).toBe(ofOld - 64 - rest.length)
  expect(await storedBytes(fresh)).toBe(ofFresh)

  await fresh.call('DELETE', `/api/devices/${devices[1]}`)
  await sweep(env, Date.now() + 7 * DAY)
  expect(await storedBytes(fresh)).toBeLessThan(ofFresh - 4000)
  vi.useRealTimers()
})

test('a track longer than a page is trimmed exactly', async () => {
  const account = await openAccount()
  const device = await createDevice(account)
  const now = Date.now()
  const key = await keyOf(device)
  await addRows(key, 12_000, now - 400 * DAY)
  await report(account, device, now)
  await sweep(env, now)
  expect(await timesOf(account, device)).toEqual([now])
})

test('each run takes the next slice of devices and finds old locations by the primary key', async () => {
  const account = await openAccount({ licenses: 2000 })
  const [first, last] = [await createDevice(account), await createDevice(account)]
  await addDevicesBetween(first, last)
  const keys = [await keyOf(first), await keyOf(last)]
  const now = Date.now()
  for (const key of keys) await addRows(key, 3, now - 400 * DAY)
  const prepare = vi.spyOn(env.DB, 'prepare')
  const left = []
  for (let run = 0; run < 3; run++) {
    await sweep(env, now)
    left.push(await Promise.all(keys.map((key) => rowsUnder(key))))
  }
  const statements = new Set(
    prepare.mock.calls
      .map(([sql]) => sql)
      .filter((sql) => /DELETE FROM "locations".*"accounts"|UPDATE "account_usage"/s.test(sql)),
  )
  prepare.mockRestore()
  expect(left[0]).not.toEqual([1, 1])
  expect(left.at(-1)).toEqual([1, 1])
  expect(statements.size).toBe(2)
  for (const sql of statements) {
    const values = sql.match(/\?/g)?.map(() => 1) ?? []
    const { results } = await env.DB.prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .bind(...values)
      .all<{ detail: string }>()
    const plan = results.map(({ detail }) => detail)
    expect(plan.filter((line) => /^SCAN (locations|devices|accounts)\b/.test(line))).toEqual([])
    expect(plan).toContain('SEARCH locations USING PRIMARY KEY (device_key=? AND time<?)')
  }
})

test('rows that cannot be deleted hold up neither the locations nor the other devices of the cell', async () => {
  const account = await openAccount({ licenses: 2000 })
  const [first, last] = [await createDevice(account), await createDevice(account)]
  const now = Date.now()
  await addDevicesBetween(first, last)
  const keys = [await keyOf(first), await keyOf(last)]
  for (const key of keys) await addRows(key, 3, now - 400 * DAY)
  const log = vi.spyOn(console, 'error').mockImplementation(() => {})
  const broken = { ...env, DB: failStatements(env.DB, /DELETE FROM "(messages|events)"/) }
  for (let run = 0; run < 4; run++) await sweep(broken, now)
  const parts = new Set(log.mock.calls.map(([line]) => JSON.parse(String(line)).part))
  log.mockRestore()
  expect(parts).toEqual(new Set(['retention', 'old-rows']))
  expect(await Promise.all(keys.map((key) => rowsUnder(key)))).toEqual([1, 1])
})

test('a deleted device’s track is unreachable at once and erased completely, others stay', async () => {
  const account = await openAccount()
  const [gone, stays] = [await createDevice(account), await createDevice(account)]
  const now = Date.now()
  await report(account, gone, now - 1, now)
  await report(account, stays, now)
  const key = await keyOf(gone)
  await addRows(key, 12_000, now - 20 * DAY)
  expect((await account.call('DELETE', `/api/devices/${gone}`)).status).toBe(200)
  expect((await account.call('GET', `/api/devices/${gone}/locations`)).status).toBe(404)
  expect(
    (await account.call('POST', `/api/devices/${gone}/locations`, { body: place(now) })).status,
  ).toBe(404)
  await sweep(env, now + 6 * DAY)
  expect(await rowsUnder(key)).toBe(12_002)
  await sweep(env, Date.now() + 7 * DAY)
  expect(await rowsUnder(key)).toBe(0)
  expect(
    await env.DB.prepare('SELECT count(*) AS n FROM erasures WHERE account_id = ?')
      .bind(account.id)
      .first('n'),
  ).toBe(0)
  expect(await timesOf(account, stays)).toEqual([now])
})

test('an erased account leaves no track, not even of a device deleted just before; others stay', async () => {
  const [account, neighbour] = [await openAccount({ cell: 1 }), await openAccount({ cell: 1 })]
  const [device, deleted, other] = [
    await createDevice(account),
    await createDevice(account),
    await createDevice(neighbour),
  ]
  const now = Date.now()
  for (const [owner, id] of [
    [account, device],
    [account, deleted],
    [neighbour, other],
  ] as const)
    await report(owner, id, now - 1, now)
  const keys = [await keyOf(device, env.CELL_1), await keyOf(deleted, env.CELL_1)]
  await account.call('DELETE', `/api/devices/${deleted}`)
  await eraseAccount(account)
  // As if both orders were given in the same millisecond, and the account's came first.
  await env.CELL_1.prepare('UPDATE erasures SET creation = 0 WHERE account_id = ?1 AND id = ?1')
    .bind(account.id)
    .run()
  await sweep(env, now)
  for (const key of keys) expect(await rowsUnder(key, env.CELL_1)).toBe(0)
  expect(await timesOf(neighbour, other)).toEqual([now - 1, now])
})
