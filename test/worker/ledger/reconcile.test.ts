import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { sweep } from '../../../src/sweep/sweep.ts'
import { fetchToken, openAccount, type TestAccount } from '../../support/accounts.ts'
import { raiseAlert } from '../../support/alerts.ts'
import { createDevice } from '../../support/devices.ts'
import { call, callAsOperator } from '../../support/http.ts'
import { makeSource } from '../../support/sources.ts'
import { daysAgo, iso } from '../../support/time.ts'

const TABLES = [
  'accounts',
  'devices',
  'events',
  'event_heads',
  'tombstones',
  'erasures',
  'group_devices',
  'groups',
  'users',
  'keys',
  'directory',
  'cells',
  'sqlite_sequence',
] as const

/** Copies a database; the returned function restores it, as a restore of D1 alone does. */
const snapshot = async (db: D1Database) => {
  const dump = await Promise.all(
    TABLES.map(
      async (table) => [table, (await db.prepare(`SELECT * FROM ${table}`).all()).results] as const,
    ),
  )
  return async () => {
    for (const [table, rows] of dump) {
      const inserts = rows.map((row) => {
        const names = Object.keys(row)
        return db
          .prepare(
            `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
          )
          .bind(...Object.values(row))
      })
      await db.batch([db.prepare(`DELETE FROM ${table}`), ...inserts])
    }
  }
}

const names = async (account: TestAccount) =>
  (await account.call('GET', '/api/devices')).body.devices.map(({ name }: { name: string }) => name)
const asToken =
  (token: string): TestAccount['call'] =>
  (method, path, given = {}) =>
    call(method, path, { token, ...given })
const head = async (account: TestAccount) =>
  Number(
    (
      await env.DB.prepare('SELECT sequence FROM event_heads WHERE account_id = ?')
        .bind(account.id)
        .first()
    )?.sequence,
  )
const reconcile = (account: TestAccount, body?: object) =>
  callAsOperator('POST', `/admin/accounts/${account.id}/reconcile`, body ? { body } : {})
const NOTHING = { account: 0, devices: 0, removed: 0, usage: 0, directory: 0, events: 0, erased: 0 }

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
  await callAsOperator('DELETE', `/admin/accounts/${account.id}`)
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
  await callAsOperator('DELETE', `/admin/accounts/${gone.id}`)
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

describe('a restored ledger', () => {
  const LEDGER_TABLES = ['account', 'devices', 'endings', 'usage', 'log', 'outbox'] as const
  const inLedger = <T>(account: TestAccount, work: (sql: SqlStorage) => T): Promise<T> =>
    runInDurableObject(env.LEDGER.get(env.LEDGER.idFromName(account.id)), (_, state) =>
      work(state.storage.sql),
    )

  /** Copies a ledger; the returned function restores it, as point-in-time recovery does. */
  const snapshotLedger = async (account: TestAccount) => {
    const tables = ['sqlite_sequence', ...LEDGER_TABLES]
    const dump = await inLedger(account, (sql) =>
      tables.map((table) => [table, sql.exec(`SELECT * FROM ${table}`).toArray()] as const),
    )
    return () =>
      inLedger(account, (sql) => {
        for (const [table, rows] of dump.toReversed()) {
          sql.exec(`DELETE FROM ${table}`)
          for (const row of rows) {
            const names = Object.keys(row)
            sql.exec(
              `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
              ...Object.values(row),
            )
          }
        }
      })
  }

  test.each([true, false])('wins over the cell, with `restored` %s', async (restored) => {
    const account = await openAccount({ licenses: 10 })
    const edited = await createDevice(account, 'Before')
    const deleted = await createDevice(account, 'Deleted')
    const restore = await snapshotLedger(account)
    await account.call('PATCH', `/api/devices/${edited}`, { body: { name: 'After' } })
    await account.call('DELETE', `/api/devices/${deleted}`)
    const newer = await createDevice(account, 'Newer')
    const report = { location: { dateTime: iso(daysAgo(1)), latitude: 1, longitude: 2 } }
    await account.call('POST', `/api/devices/${newer}/locations`, { body: report })
    await restore()

    expect((await reconcile(account, { restored })).body.mended).toMatchObject({
      devices: 2,
      removed: 1,
    })
    expect(await names(account)).toEqual(['Before', 'Deleted'])
    expect((await reconcile(account)).body.mended).toEqual(NOTHING)
    await account.call('PATCH', `/api/devices/${edited}`, { body: { name: 'Later' } })
    expect(await names(account)).toEqual(['Deleted', 'Later'])

    const next = await createDevice(account, 'Next')
    expect((await account.call('GET', `/api/devices/${next}/locations`)).body.locations).toEqual([])
    await account.call('POST', `/api/devices/${deleted}/locations`, { body: report })
    await sweep(env, Date.now())
    expect(
      (await account.call('GET', `/api/devices/${deleted}/locations`)).body.locations,
    ).toHaveLength(1)
  })

  test('brings back an account that has been erased since', async () => {
    const account = await openAccount({ licenses: 10 })
    await createDevice(account, 'Kept')
    const restore = await snapshotLedger(account)
    await callAsOperator('DELETE', `/admin/accounts/${account.id}`)
    expect((await callAsOperator('GET', `/admin/accounts/${account.id}`)).status).toBe(404)
    await restore()
    await reconcile(account, { restored: true })
    await sweep(env, Date.now())
    expect(
      (await callAsOperator('GET', `/admin/accounts/${account.id}`)).body.account.licenses,
    ).toMatchObject({ total: 10, used: 1 })
    const { apiKey } = (
      await callAsOperator('POST', `/admin/accounts/${account.id}/keys`, {
        body: { name: 'Back', scopes: ['write'] },
      })
    ).body
    expect(
      await names({ ...account, call: asToken(await fetchToken(account.userName, apiKey)) }),
    ).toEqual(['Kept'])
  })

  test('is not listed again if another account has its user name by now', async () => {
    const account = await openAccount()
    const restore = await snapshotLedger(account)
    await callAsOperator('DELETE', `/admin/accounts/${account.id}`)
    const { status } = await callAsOperator('POST', '/admin/accounts', {
      body: { userName: account.userName, name: 'Next', licenses: 1, timeZone: 'UTC' },
    })
    expect(status).toBe(201)
    await restore()
    const reply = await reconcile(account, { restored: true })
    expect([reply.status, reply.body.code]).toEqual([409, 'user-name-taken'])
    await sweep(env, Date.now())
    expect(
      await env.DB.prepare('SELECT 1 FROM accounts WHERE id = ?').bind(account.id).first(),
    ).toBeNull()
  })

  test('removes devices that were created since, in pages', async () => {
    const account = await openAccount({ licenses: 2000 })
    const restore = await snapshotLedger(account)
    for (let n = 0; n < 600; n += 100)
      await Promise.all(Array.from({ length: 100 }, (_, i) => createDevice(account, `D${n + i}`)))
    await restore()
    const { body } = await reconcile(account, { restored: true })
    expect(body).toMatchObject({ checked: 0, mended: { removed: 600 }, nextCursor: null })
    expect(await names(account)).toEqual([])
  })

  describe('by the restore endpoint', () => {
    const restoreLedger = (id: string, body: object) =>
      callAsOperator('POST', `/admin/accounts/${id}/restore`, { body })

    test('has the state of the given time after the object restarts', async () => {
      const account = await openAccount()
      await createDevice(account, 'Kept')
      const asked: unknown[] = []
      await runInDurableObject(
        env.LEDGER.get(env.LEDGER.idFromName(account.id)),
        (_, { storage }) => {
          storage.getBookmarkForTime = async (time) => `bookmark of ${new Date(time).toISOString()}`
          storage.onNextSessionRestoreBookmark = async (bookmark) => {
            asked.push(bookmark)
            return 'the way back'
          }
        },
      )
      const reply = await restoreLedger(account.id, { time: '2026-11-01T12:00:00+01:00' })
      expect(reply.body).toEqual({ success: true, undo: 'the way back' })
      expect(asked).toEqual(['bookmark of 2026-11-01T11:00:00.000Z'])
      expect(
        await inLedger(
          account,
          (sql) => sql.exec('SELECT next_device FROM account').one().next_device,
        ),
      ).toBe(2)
      expect(await names(account)).toEqual(['Kept'])
      // The mocks are gone, because another object has replaced this one.
      expect((await restoreLedger(account.id, { undo: 'the way back' })).body.code).toBe(
        'history-unavailable',
      )
    })

    test('can be undone with the bookmark from the reply', async () => {
      const account = await openAccount()
      const asked: unknown[] = []
      await runInDurableObject(
        env.LEDGER.get(env.LEDGER.idFromName(account.id)),
        (_, { storage }) => {
          storage.onNextSessionRestoreBookmark = async (bookmark) => {
            asked.push(bookmark)
            return 'forth'
          }
        },
      )
      expect((await restoreLedger(account.id, { undo: 'back' })).body.undo).toBe('forth')
      expect(asked).toEqual(['back'])
    })

    test.each([{}, { time: '2026-11-01T12:00:00Z', undo: 'x' }, { time: 'yesterday' }])(
      'is refused with the body %j',
      async (body) => {
        const account = await openAccount()
        const reply = await restoreLedger(account.id, body)
        expect([reply.status, reply.body.errors?.[0]?.pointer]).toEqual([400, '/time'])
      },
    )

    test('is refused for an unknown account', async () => {
      expect(
        (await restoreLedger('acc_00000000000000000000', { time: '2026-11-01T12:00:00Z' })).status,
      ).toBe(404)
    })
  })
})
