import { env } from 'cloudflare:workers'
import { afterEach, expect, test, vi } from 'vitest'
import { openCell } from '../../../src/db/open.ts'
import { runMove } from '../../../src/move/run.ts'
import { readCellHealth } from '../../../src/service/store.ts'
import { sweep } from '../../../src/sweep/sweep.ts'
import { eraseAccount, openAccount, type TestAccount } from '../../support/accounts.ts'
import { raiseAlert } from '../../support/alerts/alerts.ts'
import { waitUntilSent } from '../../support/alerts/messages.ts'
import { watchStatements } from '../../support/bindings.ts'
import {
  dump,
  endGrace,
  evictAll,
  finishMove,
  insertMove,
  numberOf,
  readMove,
  report,
  stopMove,
} from '../../support/db/moves.ts'
import { createDevice } from '../../support/devices.ts'
import { callAsOperator } from '../../support/http.ts'
import { daysAgo } from '../../support/time.ts'
import { createUser } from '../../support/users.ts'
import { hourly, moveAll, OLD, objectsOf, openFleet, reportAll } from '../history/fleet.ts'

afterEach(() => void vi.useRealTimers())

const CELLS = [env.DB, env.CELL_1] as const

test('a run makes no more queries than it may, and others end the move', async () => {
  const account = await openAccount()
  const device = await createDevice(account, 'Tern')
  for (const minute of [3, 2, 1]) await report(account, device, minute)
  await insertMove(account)
  let queries = 0
  const count = () => void queries++
  const counted = {
    ...env,
    DB: watchStatements(env.DB, count),
    CELL_1: watchStatements(env.CELL_1, count),
  }
  let runs = 0
  for (let step = ''; step !== 'done' && runs < 30; runs++) {
    queries = 0
    const made = await runMove(counted, account.id, 150)
    expect(queries).toBeLessThanOrEqual(150)
    expect(made).toBe(queries)
    await endGrace(account.id)
    step = (await readMove(account)).step
  }
  expect(runs).toBeGreaterThan(2)
  expect(await readMove(account)).toMatchObject({ step: 'done', corrected: 0, fault: null })
})

test('a sweep that continues moves makes fewer than a thousand queries', async () => {
  const accounts = []
  for (let count = 0; count < 4; count++) {
    const account = await openAccount()
    await createDevice(account, 'Tern')
    await insertMove(account)
    accounts.push(account)
  }
  let queries = 0
  const count = () => void queries++
  const DB = watchStatements(env.DB, count)
  const counted = { ...env, DB, CELL_1: watchStatements(env.CELL_1, count) }
  await sweep(counted, Date.now())
  expect(queries).toBeLessThan(1000)
  const steps = await Promise.all(accounts.map(async (one) => (await readMove(one)).step))
  expect(steps).toContain('erasing')
})

test('the old rows stay until the directory names the new cell', async () => {
  const account = await openAccount()
  const device = await createDevice(account, 'Tern')
  await stopMove(account, 'arrived')
  const setCell = (cell: number) =>
    env.DB.prepare('UPDATE directory SET cell = ? WHERE account_id = ?')
      .bind(cell, account.id)
      .run()
  await setCell(0)
  await runMove(env, account.id)
  await endGrace(account.id)
  await runMove(env, account.id)
  expect(await readMove(account)).toMatchObject({ step: 'erasing', fault: expect.any(String) })
  expect((await dump(0, account.id)).devices).toHaveLength(1)
  await setCell(1)
  await finishMove(account)
  expect(await dump(0, account.id)).toEqual({})
  expect((await report(account, device, 1)).status).toBe(201)
})

const monthsIn = async (db: D1Database, { id }: TestAccount) =>
  (await db.prepare('SELECT * FROM usage_months WHERE account_id = ?').bind(id).all()).results

test('a month is closed once, by the cell that the account is in', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2027-03-10T12:00:00Z') })
  const account = await openAccount()
  await createDevice(account, 'Tern')
  await stopMove(account, 'frozen')
  // The freeze is over, the copy of the account's row stays.
  await env.DB.prepare(`UPDATE moved_accounts SET state = 'copying' WHERE account_id = ?`)
    .bind(account.id)
    .run()
  expect(Object.keys(await dump(1, account.id))).toContain('accounts')
  vi.setSystemTime(Date.parse('2027-04-03T13:00:00Z'))
  await env.DB.prepare(`UPDATE moves SET leased_until = ?`)
    .bind(Date.now() + 1e9)
    .run()
  for (const db of CELLS)
    await db.prepare(`DELETE FROM sweep_positions WHERE part LIKE 'usage-months%'`).run()
  await sweep(env, Date.now())
  const closed = await monthsIn(env.DB, account)
  expect(closed).toHaveLength(1)
  expect(await monthsIn(env.CELL_1, account)).toEqual([])
  await finishMove(account)
  expect(await monthsIn(env.CELL_1, account)).toEqual(closed)
  expect((await readMove(account)).corrected).toBe(0)
})

test('a cell that has closed a month goes back for an account that has not', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2027-05-10T12:00:00Z') })
  const account = await openAccount()
  vi.setSystemTime(Date.parse('2027-06-04T12:00:00Z'))
  await env.CELL_1.prepare(
    `INSERT INTO sweep_positions (part, position) VALUES ('usage-months-done', 202705)
     ON CONFLICT (part) DO UPDATE SET position = 202705`,
  ).run()
  await insertMove(account)
  await finishMove(account)
  await sweep(env, Date.now())
  expect(await monthsIn(env.CELL_1, account)).toMatchObject([{ month: '2027-05' }])
})

test.each(['moved', 'arrived'] as const)(
  'while it is %s, nothing old is deleted of either copy',
  async (at) => {
    const accounts = [await openAccount(), await openAccount()] as const
    const [moving, other] = accounts
    for (const { id } of accounts)
      await env.DB.prepare(
        `INSERT INTO events (account_id, sequence, id, type, time, data)
       VALUES (?1, 900, 'evt_' || ?1, 'filler', ?2, '{}')`,
      )
        .bind(id, daysAgo(40))
        .run()
    await stopMove(moving, at)
    const count = ({ id }: TestAccount) =>
      env.DB.prepare('SELECT count(*) AS n FROM events WHERE account_id = ? AND sequence = 900')
        .bind(id)
        .first('n')
    // Nobody goes on with the move.
    await env.DB.prepare(`UPDATE moves SET leased_until = ?`)
      .bind(Date.now() + 1e9)
      .run()
    await sweep(env, Date.now())
    expect([await count(moving), await count(other)]).toEqual([1, 0])
    await finishMove(moving)
    expect((await readMove(moving)).corrected).toBe(0)
  },
)

test('months in R2 wait for the end of a move, are read all the time and move on after it', async () => {
  const { account, device } = await openFleet(hourly(OLD))
  await moveAll(account)
  const objects = await objectsOf(account)
  expect(objects).toHaveLength(1)
  const next = OLD + 32 * 86_400_000
  await reportAll(account, device, hourly(next))
  const read = async () => {
    const span = `from=${new Date(OLD).toISOString()}&limit=1000`
    return (await account.call('GET', `/api/devices/${device}/locations?${span}`)).body.locations
  }
  const before = await read()
  await stopMove(account, 'copying')
  await moveAll(account)
  expect(await objectsOf(account)).toEqual(objects)
  expect(await read()).toEqual(before)
  await finishMove(account)
  expect(await read()).toEqual(before)
  // Back to the cell that these helpers look at.
  await insertMove(account, [1, 0])
  await finishMove(account)
  await moveAll(account)
  expect(await objectsOf(account)).toHaveLength(2)
  expect(await read()).toEqual(before)
})

test('the health of a cell leaves out what has left it', async () => {
  const account = await openAccount()
  await createUser(account)
  await raiseAlert(account, await createDevice(account, 'Tern'))
  await waitUntilSent(account)
  await env.DB.prepare(`UPDATE messages SET status = 'queued', changed = 1000 WHERE account_id = ?`)
    .bind(account.id)
    .run()
  const unsentIn = async (cell: number) =>
    (await readCellHealth(openCell(env, cell), Date.now())).unsentMessage?.accountId
  expect(await unsentIn(0)).toBe(account.id)
  await stopMove(account, 'arrived')
  expect([await unsentIn(0), await unsentIn(1)]).toEqual([undefined, account.id])
  await finishMove(account)
})

test.each(['copying', 'frozen', 'moved', 'arrived'] as const)(
  'an account that is erased while its move is %s leaves nothing in either cell',
  async (at) => {
    const account = await openAccount()
    const device = await createDevice(account, 'Tern')
    await report(account, device, 1)
    const number = await numberOf(account.id)
    await stopMove(account, at)
    expect((await eraseAccount(account)).status).toBe(200)
    const rows = async () => {
      const kept = []
      for (const cell of [0, 1]) {
        const { audit, usage_months, erasures, ...rest } = await dump(cell, account.id, number)
        kept.push(...Object.keys(rest))
      }
      return kept
    }
    for (let runs = 0; runs < 8 && (await rows()).length > 0; runs++) {
      await endGrace(account.id)
      // A freeze ends after 8 s.
      await env.DB.prepare('UPDATE moved_accounts SET until = 0 WHERE account_id = ?')
        .bind(account.id)
        .run()
      await sweep(env, Date.now() + runs * 120_000)
    }
    expect(await rows()).toEqual([])
  },
)

test('an account is deleted, brought back and suspended while it moves', async () => {
  const account = await openAccount()
  const device = await createDevice(account, 'Tern')
  const admin = `/admin/accounts/${account.id}`
  await stopMove(account, 'copying')
  expect((await callAsOperator('DELETE', admin)).status).toBe(200)
  await runMove(env, account.id)
  expect((await readMove(account)).switched).not.toBeNull()
  await evictAll(account)
  expect((await report(account, device, 2)).status).toBe(401)
  expect((await callAsOperator('POST', `${admin}/undelete`)).status).toBe(200)
  await evictAll(account)
  expect((await report(account, device, 1)).status).toBe(201)
  await callAsOperator('PATCH', admin, { body: { status: 'readOnly' } })
  await finishMove(account)
  expect((await account.call('POST', '/api/groups', { body: { name: 'No' } })).status).toBe(403)
  expect((await readMove(account)).corrected).toBe(0)
  expect(await dump(0, account.id)).toEqual({})
})
