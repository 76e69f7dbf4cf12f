import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, expect, test, vi } from 'vitest'
import { sweep } from '../../../src/sweep/sweep.ts'
import { eraseAccount, fetchToken, openAccount } from '../../support/accounts.ts'
import { watchStatements } from '../../support/bindings.ts'
import { call, callAsOperator } from '../../support/http.ts'
import { eventually } from '../../support/time.ts'

afterEach(() => {
  vi.useRealTimers()
})

const CELLS = { 0: env.DB, 1: env.CELL_1 }

/** How many rows of an account each table of a cell has, without what the operator did. */
const rowsOf = async (db: D1Database, accountId: string): Promise<Record<string, number>> => {
  const { results } = await db
    .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%account_id%'`)
    .all<{ name: string }>()
  const columns = [['accounts', 'id'], ...results.map(({ name }) => [name, 'account_id'])] as [
    string,
    string,
  ][]
  const counts = await db.batch<{ n: number }>(
    columns.map(([table, column]) =>
      db
        .prepare(
          `SELECT count(*) AS n FROM "${table}" WHERE "${column}" = ?
            ${table === 'audit' ? "AND actor_type <> 'operator'" : ''}`,
        )
        .bind(accountId),
    ),
  )
  return Object.fromEntries(
    columns
      .map(([table], index) => [table, counts[index]?.results[0]?.n ?? 0] as const)
      .filter(([, n]) => n > 0),
  )
}

const afterAMinute = () => vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 })

test.each([0, 1] as const)(
  'an account in cell %i has all its rows there, except its directory entry',
  async (cell) => {
    const account = await openAccount({ cell })
    await account.call('POST', '/api/devices', {
      body: { name: 'Tern' },
      headers: { 'Idempotency-Key': 'x' },
    })
    const there = await rowsOf(CELLS[cell], account.id)
    expect(there).toMatchObject({
      accounts: 1,
      keys: 1,
      devices: 1,
      idempotency: 1,
      event_heads: 1,
    })
    const elsewhere = await rowsOf(CELLS[cell === 0 ? 1 : 0], account.id)
    expect(elsewhere).toEqual(cell === 0 ? {} : { directory: 1 })
  },
)

test('a new account goes to the cell with the fewest accounts', async () => {
  const counts = async () => {
    const { results } = await env.DB.prepare('SELECT cell, accounts FROM cells ORDER BY cell').all<{
      cell: number
      accounts: number
    }>()
    return results.map(({ accounts }) => accounts)
  }
  await openAccount({ cell: 0 })
  await openAccount({ cell: 0 })
  const chosen = []
  for (let number = 0; number < 8; number++) {
    const body = {
      userName: `least-${crypto.randomUUID().slice(0, 8)}`,
      name: 'Least',
      licenses: 0,
      timeZone: 'UTC',
    }
    const [zero = 0, one = 0] = await counts()
    const { account } = (await callAsOperator('POST', '/admin/accounts', { body })).body
    expect(account.cell).toBe(one < zero ? 1 : 0)
    chosen.push(account.cell)
  }
  expect(new Set(chosen)).toEqual(new Set([0, 1]))
  const { results } = await env.DB.prepare(
    'SELECT cell, count(*) AS n FROM directory GROUP BY cell ORDER BY cell',
  ).all<{ n: number }>()
  expect(results.map(({ n }) => n)).toEqual(await counts())
})

test('an erased account is unreachable at once and its user name is free', async () => {
  const account = await openAccount()
  const { body } = await account.call('POST', '/api/devices', { body: { name: 'Tern' } })
  expect((await eraseAccount(account)).body).toEqual({ success: true })
  for (const path of [
    '/api/account',
    '/api/account/keys',
    '/api/devices',
    `/api/devices/${body.device.id}`,
  ]) {
    expect((await account.call('GET', path)).status, path).toBe(401)
  }
  const signIn = await call('POST', '/api/Auth/Token', {
    body: { userName: account.userName, apiKey: account.apiKey },
  })
  expect([signIn.status, signIn.body.code]).toEqual([401, 'wrong-credentials'])
  expect((await eraseAccount(account)).status).toBe(404)
  expect((await callAsOperator('GET', `/admin/accounts/${account.id}`)).status).toBe(404)
  expect((await callAsOperator('POST', `/admin/accounts/${account.id}/keys`)).status).toBe(404)

  const again = { userName: account.userName, name: 'Next', licenses: 1, timeZone: 'UTC' }
  const reopened = await callAsOperator('POST', '/admin/accounts', { body: again })
  expect(reopened.status).toBe(201)
  const token = await fetchToken(account.userName, reopened.body.apiKey)
  expect((await call('GET', '/api/devices', { token })).body.devices).toEqual([])
})

test.each([0, 1] as const)(
  'the rows of an erased account in cell %i are deleted in pages, then its ledger',
  async (cell) => {
    const account = await openAccount({ cell, licenses: 3 })
    const db = CELLS[cell]
    for (const name of ['One', 'Two', 'Three'])
      await account.call('POST', '/api/devices', { body: { name } })
    await db
      .prepare(
        `WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 5000)
       INSERT INTO events (account_id, sequence, id, type, time, data)
       SELECT ?1, 1000 + value, 'evt_' || value, 'filler', 0, '{}' FROM n`,
      )
      .bind(account.id)
      .run()
    await eraseAccount(account)
    expect((await rowsOf(db, account.id)).events).toBeGreaterThan(5000)
    await sweep(env, Date.now())
    expect(await rowsOf(db, account.id)).toEqual({ erasures: 1, usage_months: 1 })

    // A request that another isolate accepted a moment ago still writes.
    await db
      .prepare(`INSERT INTO event_heads (account_id, sequence) VALUES (?, 1)`)
      .bind(account.id)
      .run()
    afterAMinute()
    await sweep(env, Date.now())
    // Invoices are made from its usage.
    expect(await rowsOf(db, account.id)).toEqual({ usage_months: 1 })
    expect(await rowsOf(env.DB, account.id)).toEqual(cell === 0 ? { usage_months: 1 } : {})
    const ledger = env.LEDGER.get(env.LEDGER.idFromName(account.id))
    expect(await ledger.readAccount()).toEqual({ ok: false, refusal: 'account-not-found' })
    const { results: kept } = await db
      .prepare('SELECT DISTINCT action FROM audit WHERE account_id = ? ORDER BY action')
      .bind(account.id)
      .all()
    expect(kept).toContainEqual({ action: 'account.erased' })
  },
)

/** Orders the erasure of accounts that have rows but no ledger. */
const orderErasures = async (db: D1Database, name: string, count: number, creation = 0) => {
  const numbers = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`
  const id = `'acc_${name}' || i`
  await db.batch([
    db.prepare(
      `INSERT INTO erasures (account_id, id, creation) ${numbers} SELECT ${id}, ${id}, ${creation} FROM n`,
    ),
    db.prepare(`INSERT INTO event_heads (account_id, sequence) ${numbers} SELECT ${id}, 1 FROM n`),
  ])
}
const countErasures = async (db: D1Database, name: string) =>
  db.prepare(`SELECT count(*) AS n FROM erasures WHERE id LIKE 'acc_${name}%'`).first<number>('n')

test('a run makes fewer than a thousand queries, however much there is to erase', async () => {
  await orderErasures(env.DB, 'many', 60)
  await orderErasures(env.CELL_1, 'many', 5)
  let queries = 0
  const counted = {
    ...env,
    DB: watchStatements(env.DB, () => queries++),
    CELL_1: watchStatements(env.CELL_1, () => queries++),
  }
  let left = 60
  for (let run = 0; run < 2; run++) {
    queries = 0
    await sweep(counted, Date.now())
    expect(queries).toBeLessThan(1000)
    const leftNow = (await countErasures(env.DB, 'many')) ?? 0
    expect(leftNow).toBeLessThan(left)
    expect(leftNow).toBeGreaterThan(0)
    left = leftNow
    // The other cell does not wait for this one.
    expect(await countErasures(env.CELL_1, 'many')).toBe(0)
  }
  await env.DB.prepare(`DELETE FROM erasures WHERE id LIKE 'acc_many%'`).run()
})

test('a large account holds up no other erasure', async () => {
  await orderErasures(env.DB, 'large', 1)
  await env.DB.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 70000)
     INSERT INTO events (account_id, sequence, id, type, time, data)
     SELECT 'acc_large1', i, 'evt_' || i, 'filler', ?, '{}' FROM n`,
  )
    .bind(Date.now())
    .run()
  await orderErasures(env.DB, 'small', 3, 1)
  await sweep(env, Date.now())
  expect(await countErasures(env.DB, 'large')).toBe(1)
  expect(await countErasures(env.DB, 'small')).toBe(0)
  await sweep(env, Date.now())
  expect(await countErasures(env.DB, 'large')).toBe(0)
  expect(await rowsOf(env.DB, 'acc_large1')).toEqual({})
})

test('effects that arrive after an account was erased restore nothing', async () => {
  const account = await openAccount()
  const late: D1PreparedStatement[] = []
  const lost = new Proxy(env.DB, {
    get: (db, name: 'batch' | 'prepare') =>
      name === 'prepare'
        ? db.prepare.bind(db)
        : async (statements: D1PreparedStatement[]) => {
            late.push(...statements)
            throw new Error('D1_ERROR: Network connection lost.')
          },
  })
  const ledger = env.LEDGER.get(env.LEDGER.idFromName(account.id))
  const inLedger = (change: (object: { env: typeof env }) => void) =>
    runInDurableObject(ledger, (object) => change(object as never))
  await inLedger((object) =>
    Object.defineProperty(object, 'env', {
      value: { ...object.env, DB: lost },
      configurable: true,
    }),
  )
  await account.call('PATCH', '/api/account', { body: { name: 'Later' } })
  expect(late).not.toEqual([])
  await inLedger((object) =>
    Object.defineProperty(object, 'env', { value: { ...object.env, DB: env.DB } }),
  )
  await eraseAccount(account)
  await eventually(async () =>
    expect(await rowsOf(env.DB, account.id)).toMatchObject({ erasures: 1 }),
  )

  await env.DB.batch(late)
  expect((await rowsOf(env.DB, account.id)).accounts).toBeUndefined()
  const columns =
    'id, number, user_name, name, time_zone, day, licenses, used, creation, last_modified, version, seq'
  await env.DB.prepare(
    `INSERT INTO accounts (${columns}) VALUES (?, 1, 'x', 'Written before this was guarded', 'UTC', '', 0, 0, 0, 0, 1, 1)`,
  )
    .bind(account.id)
    .run()
  afterAMinute()
  await sweep(env, Date.now())
  expect(await rowsOf(env.DB, account.id)).toEqual({ usage_months: 1 })
})

test('erasing an account leaves other accounts unchanged', async () => {
  const [erased, neighbour] = [await openAccount(), await openAccount()]
  for (const { call: ask } of [erased, neighbour])
    await ask('POST', '/api/devices', { body: { name: 'Tern' } })
  const before = await rowsOf(env.DB, neighbour.id)
  await eraseAccount(erased)
  afterAMinute()
  await sweep(env, Date.now())
  expect(await rowsOf(env.DB, neighbour.id)).toEqual(before)
  expect((await neighbour.call('GET', '/api/devices')).body.devices).toHaveLength(1)
})

test('the user name of an interrupted opening becomes free again, and its cell counts one less', async () => {
  const userName = `cut-${crypto.randomUUID().slice(0, 8)}`
  const count = async () =>
    (
      await env.DB.prepare('SELECT accounts FROM cells WHERE cell = 0').first<{
        accounts: number
      }>()
    )?.accounts ?? 0
  await openAccount({ cell: 0 })
  const before = await count()
  await env.DB.batch([
    env.DB.prepare(
      'INSERT INTO directory (user_name_key, account_id, cell, opening_at) VALUES (?, ?, 0, ?)',
    ).bind(userName, `acc_${userName}`, Date.now()),
    env.DB.prepare('UPDATE cells SET accounts = accounts + 1 WHERE cell = 0'),
  ])
  const open = () =>
    callAsOperator('POST', '/admin/accounts', {
      body: { userName, name: 'Cut', licenses: 0, timeZone: 'UTC', cell: 0 },
    })
  await sweep(env, Date.now() + 60_000)
  expect((await open()).body.code).toBe('user-name-taken')
  await Promise.all([sweep(env, Date.now() + 301_000), sweep(env, Date.now() + 301_000)])
  expect(await count()).toBe(before)
  expect((await open()).status).toBe(201)
})

test('an opening that completed but was not confirmed is kept', async () => {
  const account = await openAccount()
  await env.DB.prepare('UPDATE directory SET opening_at = 1 WHERE account_id = ?')
    .bind(account.id)
    .run()
  await sweep(env, Date.now())
  expect((await account.call('GET', '/api/account')).status).toBe(200)
  const row = await env.DB.prepare('SELECT opening_at FROM directory WHERE account_id = ?')
    .bind(account.id)
    .first()
  expect(row).toEqual({ opening_at: null })
})

test('stored replies, expired keys and events are deleted after their period', async () => {
  const account = await openAccount()
  const day = 86_400_000
  await account.call('POST', '/api/account/keys', {
    body: { name: 'Once', scopes: ['read'] },
    headers: { 'Idempotency-Key': 'x' },
  })
  await env.DB.prepare('UPDATE keys SET expires = ? WHERE account_id = ? AND name = ?')
    .bind(Date.now() + 1000, account.id, 'Once')
    .run()
  await sweep(env, Date.now() + day - 60_000)
  expect(await rowsOf(env.DB, account.id)).toMatchObject({ idempotency: 1, keys: 2, events: 2 })
  await sweep(env, Date.now() + day + 60_000)
  expect((await rowsOf(env.DB, account.id)).idempotency).toBeUndefined()
  await sweep(env, Date.now() + 31 * day)
  expect(await rowsOf(env.DB, account.id)).toMatchObject({ accounts: 1, keys: 1, event_heads: 1 })
  expect((await rowsOf(env.DB, account.id)).events).toBeUndefined()
})
