import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { sweep } from '../../../src/sweep/sweep.ts'
import { eraseAccount, openAccount, type TestAccount } from '../../support/accounts.ts'
import { raiseAlert } from '../../support/alerts/alerts.ts'
import { createDevice } from '../../support/devices.ts'
import { callAsOperator } from '../../support/http.ts'
import { makeSource } from '../../support/sources.ts'
import { daysAgo, iso } from '../../support/time.ts'
import { head, NOTHING, names, reconcile, snapshot } from './restores.ts'

test('changes nothing and skips no event number if nothing differs', async () => {
  const account = await openAccount()
  await createDevice(account, 'One')
  const before = await head(account)
  expect((await reconcile(account)).body).toEqual({
    success: true,
    checked: 1,
    mended: NOTHING,
    nextCursor: null,
  })
  expect(await head(account)).toBe(before)
})

test('after a restore of the cell the ledger wins for account, devices and licenses, the cell for groups, and event numbers jump ahead', async () => {
  const account = await openAccount({ licenses: 10 })
  const kept = await createDevice(account, 'Kept')
  const edited = await createDevice(account, 'Before')
  const deleted = await createDevice(account, 'Deleted')
  const insert =
    'INSERT INTO groups (id, account_id, name, name_key, description, creation, last_modified, version) VALUES (?, ?, ?, ?, ?, 0, 0, 1)'
  await env.DB.prepare(insert).bind(`grp_${account.id}`, account.id, 'North', 'north', '').run()
  const member =
    'INSERT INTO group_devices (group_id, device_key, account_id) SELECT ?, key, account_id FROM devices WHERE id = ?'
  for (const id of [kept, deleted]) await env.DB.prepare(member).bind(`grp_${account.id}`, id).run()

  const restore = await snapshot(env.DB)
  await account.call('PATCH', `/api/devices/${edited}`, { body: { name: 'After' } })
  await account.call('DELETE', `/api/devices/${deleted}`)
  await createDevice(account, 'Newer')
  await callAsOperator('PATCH', `/admin/accounts/${account.id}`, { body: { licenses: 7 } })
  const reached = await head(account)
  await restore()
  expect(await names(account)).toEqual(['Before', 'Deleted', 'Kept'])

  const { body } = await reconcile(account)
  expect(body.mended).toEqual({
    account: 1,
    devices: 2,
    removed: 1,
    usage: 0,
    directory: 0,
    events: 1,
    erased: 0,
  })
  expect(await names(account)).toEqual(['After', 'Kept', 'Newer'])
  expect(
    (await callAsOperator('GET', '/admin/accounts')).body.accounts.find(
      ({ id }: { id: string }) => id === account.id,
    ).licenses,
  ).toEqual({
    total: 7,
    used: 3,
    available: 4,
  })
  const { results } = await env.DB.prepare(
    'SELECT device_key FROM group_devices WHERE group_id = ?',
  )
    .bind(`grp_${account.id}`)
    .all()
  expect(results).toHaveLength(1)
  expect(await head(account)).toBe(reached + 1_000_000)
  await createDevice(account, 'Next')
  expect(await head(account)).toBe(reached + 1_000_001)
  expect((await reconcile(account)).body.mended).toEqual(NOTHING)
})

test('`restored` makes event numbers jump ahead even if nothing differs', async () => {
  const account = await openAccount()
  const before = await head(account)
  expect((await reconcile(account, { restored: true })).body.mended).toEqual({
    ...NOTHING,
    events: 1,
  })
  expect(await head(account)).toBe(before + 1_000_000)
})

test('an erased account that only the directory lists again is removed, and its user name is free', async () => {
  const account = await openAccount({ cell: 1 })
  const restore = await snapshot(env.DB)
  await eraseAccount(account)
  await sweep(env, Date.now())
  await restore()
  const open = () =>
    callAsOperator('POST', '/admin/accounts', {
      body: { userName: account.userName, name: 'Next', licenses: 0, timeZone: 'UTC', cell: 0 },
    })
  expect((await open()).status).toBe(409)
  expect((await reconcile(account)).body.mended).toEqual({ ...NOTHING, erased: 1 })
  expect((await open()).status).toBe(201)
})

test('an erased account that a restore brought back is erased again, and a lost account returns', async () => {
  const gone = await openAccount()
  await createDevice(gone, 'Ghost')
  const restoreErased = await snapshot(env.DB)
  await eraseAccount(gone)
  await sweep(env, Date.now())
  await restoreErased()
  expect((await reconcile(gone)).body.mended).toEqual({ ...NOTHING, erased: 1 })
  await sweep(env, Date.now())
  const { results } = await env.DB.prepare('SELECT id FROM devices WHERE account_id = ?')
    .bind(gone.id)
    .all()
  expect(results).toEqual([])
  expect((await reconcile(gone)).status).toBe(404)

  const restoreLost = await snapshot(env.DB)
  const lost = await openAccount()
  await createDevice(lost, 'Survivor')
  await restoreLost()
  expect((await callAsOperator('GET', `/admin/accounts/${lost.id}`)).status).toBe(404)
  expect((await reconcile(lost)).body.mended).toEqual({
    ...NOTHING,
    account: 1,
    devices: 1,
    directory: 1,
    events: 1,
  })
  expect(
    (await callAsOperator('GET', `/admin/accounts/${lost.id}`)).body.account.licenses.used,
  ).toBe(1)
})

test('a foreign cursor is refused, with a pointer into the body', async () => {
  const account = await openAccount()
  for (const path of [`/admin/accounts/${account.id}/reconcile`, '/admin/cells/0/reconcile']) {
    const { status, body } = await callAsOperator('POST', path, { body: { cursor: 'forged' } })
    expect([status, body.code, body.errors[0].pointer]).toEqual([400, 'invalid-cursor', '/cursor'])
  }
})

describe('a whole cell', () => {
  test('is reconciled account by account, and accounts without a ledger are listed', async () => {
    const accounts = await Promise.all([1, 2, 3].map(() => openAccount({ cell: 1 })))
    for (const account of accounts) await createDevice(account, 'One')
    await env.CELL_1.prepare("UPDATE devices SET name = 'Tampered'").run()
    await env.CELL_1.prepare(
      `INSERT INTO accounts (id, number, user_name, name, time_zone, day, licenses, used, disabled, creation, last_modified, version, seq)
       VALUES ('acc_stray', 999999, 'stray', 'Stray', 'UTC', '2026-01-01', 1, 0, 0, 0, 0, 1, 1)`,
    ).run()
    const { status, body } = await callAsOperator('POST', '/admin/cells/1/reconcile')
    expect(status).toBe(200)
    expect(body).toMatchObject({
      accounts: 4,
      checked: 3,
      mended: { ...NOTHING, devices: 3 },
      unknown: ['acc_stray'],
      nextCursor: null,
    })
    for (const account of accounts) expect(await names(account)).toEqual(['One'])
  })

  test.each(['7', 'x', '01'])('cell %s is not bound', async (cell) => {
    expect((await callAsOperator('POST', `/admin/cells/${cell}/reconcile`)).status).toBe(404)
  })
})

test('a retry under the same Idempotency-Key replays the first reply, and each page needs its own key', async () => {
  const account = await openAccount({ cell: 1 })
  const headOf = () =>
    env.CELL_1.prepare('SELECT sequence FROM event_heads WHERE account_id = ?')
      .bind(account.id)
      .first('sequence')
  for (const path of [`/admin/accounts/${account.id}/reconcile`, '/admin/cells/1/reconcile']) {
    const headers = { 'Idempotency-Key': crypto.randomUUID() }
    const send = (body: object) => callAsOperator('POST', path, { headers, body })
    const first = await send({ restored: true })
    expect(first.body.mended.events).toBeGreaterThan(0)
    const moved = await headOf()
    const again = await send({ restored: true })
    expect([again.text, again.headers.get('Idempotent-Replayed')]).toEqual([first.text, 'true'])
    expect(await headOf()).toBe(moved)
    expect((await send({ restored: true, cursor: 'the next page' })).body.code).toBe(
      'idempotency-key-reused',
    )
  }
})

test('sources that a restored directory has lost are listed again', async () => {
  const account = await openAccount({ cell: 1 })
  await makeSource(account, 'osmand')
  const lost = await makeSource(account, 'osmand')
  await env.DB.prepare('DELETE FROM source_directory WHERE id = ?').bind(lost.id).run()
  expect((await reconcile(account)).body.mended).toEqual({ ...NOTHING, directory: 1 })
  expect((await lost.push({ query: '?id=7&lat=1&lon=2' })).status).toBe(200)
  expect((await reconcile(account)).body.mended).toEqual(NOTHING)
})

describe('an account opened after a restore of the directory', () => {
  afterEach(() => void vi.useRealTimers())
  const report = { location: { dateTime: iso(daysAgo(1)), latitude: 1, longitude: 2 } }
  const listed = async (account: TestAccount) =>
    (await callAsOperator('GET', `/admin/accounts/${account.id}`)).status === 200
  /** Opens an account in cell 1, restores the directory to before it, and opens another later. */
  const openAround = async (
    later: number,
    hide: (account: TestAccount) => Promise<() => Promise<unknown>> = async () => async () => null,
  ) => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const restore = await snapshot(env.DB)
    const first = await openAccount({ cell: 1 })
    const device = await createDevice(first, 'First')
    await first.call('POST', `/api/devices/${device}/locations`, { body: report })
    await restore()
    vi.setSystemTime(Date.now() + later)
    const show = await hide(first)
    const second = await openAccount({ cell: 1 })
    await show()
    return { first, device, second }
  }

  test.each([600_000, 0])(
    'gets an unused number and sees nothing of the account before it (%i ms later)',
    async (later) => {
      const { first, device, second } = await openAround(later)
      const id = await createDevice(second, 'Second')
      expect((await second.call('GET', `/api/devices/${id}`)).body.device).toMatchObject({
        name: 'Second',
        lastLocation: null,
      })
      expect((await reconcile(first)).body.mended).toEqual({ ...NOTHING, directory: 1 })
      expect([await listed(first), await listed(second)]).toEqual([true, true])
      expect(await names(second)).toEqual(['Second'])
      expect(
        (await first.call('GET', `/api/devices/${device}/locations`)).body.locations,
      ).toHaveLength(1)
    },
  )

  test('that got a used number takes no row of the other account, and both are reported', async () => {
    const { first, device, second } = await openAround(0, async ({ id }) => {
      const number = await env.CELL_1.prepare('SELECT number FROM accounts WHERE id = ?')
        .bind(id)
        .first('number')
      const become = (other: unknown) =>
        env.CELL_1.prepare('UPDATE accounts SET number = ? WHERE id = ?').bind(other, id).run()
      await become(0)
      return () => become(number)
    })
    const rival = await createDevice(second, 'Second')
    expect((await first.call('GET', `/api/devices/${device}`)).body.device.name).toBe('First')
    const reply = await reconcile(first)
    expect([reply.status, reply.body.code]).toEqual([409, 'account-number-taken'])
    expect([await listed(first), await listed(second)]).toEqual([false, true])
    const { body } = await callAsOperator('POST', '/admin/cells/1/reconcile')
    expect(body.unknown).toContain(first.id)
    expect(body.unknown).not.toContain(second.id)
    const { n } = (await env.CELL_1.prepare('SELECT count(*) AS n FROM accounts').first()) as {
      n: number
    }
    expect(body.accounts).toBe(n)
    expect(await names(first)).toEqual(['First'])
    await raiseAlert(second, rival)
    expect((await second.call('DELETE', `/api/devices/${rival}`)).status).toBe(200)
    await sweep(env, Date.now())
    expect((await first.call('GET', `/api/devices/${device}`)).body.device).toMatchObject({
      name: 'First',
      lastContact: expect.any(String),
    })
    expect(
      (await first.call('GET', `/api/devices/${device}/locations`)).body.locations,
    ).toHaveLength(1)
  })
})

test('a large account is reconciled in pages', async () => {
  const account = await openAccount({ licenses: 2000 })
  for (let n = 0; n < 1100; n += 100)
    await Promise.all(Array.from({ length: 100 }, (_, i) => createDevice(account, `D${n + i}`)))
  await env.DB.prepare('DELETE FROM devices WHERE account_id = ?').bind(account.id).run()
  const { body } = await reconcile(account)
  expect(body).toMatchObject({ checked: 1100, mended: { devices: 1100 }, nextCursor: null })
  const { n } = (await env.DB.prepare('SELECT count(*) AS n FROM devices WHERE account_id = ?')
    .bind(account.id)
    .first()) as { n: number }
  expect(n).toBe(1100)
})
