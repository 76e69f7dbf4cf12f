import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { ledgerOf } from '../../../src/ledger/stub.ts'
import { runMove } from '../../../src/move/run.ts'
import { sweep } from '../../../src/sweep/sweep.ts'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { watchStatements } from '../../support/bindings.ts'
import {
  dump,
  finishMove,
  insertMove,
  movePath,
  numberOf,
  readMove,
  report,
} from '../../support/db/moves.ts'
import { callAsOperator } from '../../support/http.ts'
import { makeSource } from '../../support/sources.ts'

const orderMove = async (account: TestAccount, [from, to] = [0, 1]) => {
  const reply = await callAsOperator('POST', movePath(account), { body: { cell: to } })
  expect(reply.status, reply.text).toBe(200)
  expect(reply.body.move).toMatchObject({ from, to })
}

const populate = async (account: TestAccount): Promise<string> => {
  const { body } = await account.call('POST', '/api/devices', {
    body: { name: 'Kestrel', identifier: 'K-1' },
  })
  const { id } = body.device
  for (const minute of [30, 20, 10]) expect((await report(account, id, minute)).status).toBe(201)
  const zone = { name: 'Yard', shape: { type: 'Circle', center: [8, 47], radius: 500 } }
  expect((await account.call('POST', '/api/zones', { body: zone })).status).toBe(201)
  await account.call('POST', '/api/groups', { body: { name: 'North' } })
  await account.call('POST', `/api/devices/${id}/alerts`, { body: { alertName: 'LowBattery' } })
  return id
}

/** Tables that change by themselves with the move and with requests. */
const withoutTraces = ({
  audit,
  keys,
  account_usage,
  key_networks,
  ...rest
}: Record<string, unknown[]>) => rest

test('an account moves with everything, and its tokens, pushes and event numbers go on', async () => {
  const account = await openAccount()
  const deviceId = await populate(account)
  const source = await makeSource(account, 'osmand')
  const before = await dump(0, account.id)
  await orderMove(account)
  await finishMove(account)
  expect(await readMove(account)).toMatchObject({ step: 'done', corrected: 0, fault: null })
  expect(withoutTraces(await dump(1, account.id))).toEqual(withoutTraces(before))
  expect(await dump(0, account.id)).toEqual({})
  const read = await callAsOperator('GET', `/admin/accounts/${account.id}`)
  expect(read.body.account.cell).toBe(1)
  expect((await report(account, deviceId, 1)).status).toBe(201)
  expect(
    (await account.call('GET', `/api/devices/${deviceId}/locations`)).body.locations,
  ).toHaveLength(4)
  const push = await source.push({
    query: `?id=K-1&lat=47.3769&lon=8.5427&timestamp=${Date.now() - 5000}`,
  })
  expect(push.status).toBe(200)
  const { body } = await account.call('GET', '/api/events?limit=1000')
  const sequences = body.events.map((event: { sequence: number }) => event.sequence)
  expect(new Set(sequences).size).toBe(sequences.length)
  const tables = await dump(1, account.id)
  expect(tables.locations).toHaveLength(5)
  expect(tables.audit?.some((row) => (row as { action: string }).action === 'account.moved')).toBe(
    true,
  )
  expect(Object.keys(await dump(0, account.id))).toEqual([])
})

test('it moves back, and a token that names the first cell works all the time', async () => {
  const account = await openAccount()
  const deviceId = await populate(account)
  for (const cells of [
    [0, 1],
    [1, 0],
  ] as [number, number][]) {
    await orderMove(account, cells)
    await finishMove(account)
    expect((await readMove(account)).step).toBe('done')
    expect((await report(account, deviceId, 60 + cells[0])).status).toBe(201)
  }
  expect((await dump(0, account.id)).locations).toHaveLength(5)
  expect(await dump(1, account.id)).toEqual({})
})

test('a frozen account refuses writes with 503 for seconds, and a push waits for the end', async () => {
  const account = await openAccount()
  const deviceId = await populate(account)
  const source = await makeSource(account, 'osmand')
  const number = await numberOf(account.id)
  await env.DB.prepare(
    `INSERT INTO moved_accounts VALUES (?, ?, 1, 'frozen', unixepoch('subsec') * 1000 + 2500, 'x', 1)`,
  )
    .bind(account.id, number)
    .run()
  const refused = await report(account, deviceId, 5)
  expect(refused.status, refused.text).toBe(503)
  expect(refused.body.code).toBe('account-moving')
  expect(refused.headers.get('Retry-After')).toBe('1')
  expect(
    (
      await account.call('POST', '/api/zones', {
        body: {
          name: 'No',
          shape: { type: 'Circle', center: [1, 1], radius: 500 },
        },
      })
    ).status,
  ).toBe(503)
  expect((await account.call('GET', `/api/devices/${deviceId}`)).status).toBe(200)
  const sos = `?id=K-1&lat=47.1&lon=8.2&alarm=sos&timestamp=${Date.now() - 1000}`
  expect((await source.push({ query: sos })).status).toBe(200)
  // The freeze has ended by itself.
  expect((await report(account, deviceId, 5)).status).toBe(201)
})

test('an alert that is raised after the move is shown in the new cell', async () => {
  const account = await openAccount()
  const deviceId = await populate(account)
  await orderMove(account)
  await finishMove(account)
  const raised = await account.call('POST', `/api/devices/${deviceId}/alerts`, {
    body: { alertName: 'SOS' },
  })
  expect(raised.status).toBe(201)
  expect((await dump(1, account.id)).alerts).toHaveLength(2)
  const { ok } = await ledgerOf(env, account.id).readAccount()
  expect(ok).toBe(true)
})

test('a move is cancelled before the switch, and nothing is left of it', async () => {
  const account = await openAccount()
  await populate(account)
  const killed = {
    ...env,
    CELL_1: watchStatements(env.CELL_1, () => {
      throw new Error('killed')
    }),
  }
  await insertMove(account)
  await runMove(killed as never, account.id)
  expect((await readMove(account)).fault).toMatch(/tried again/)
  const running = await callAsOperator('POST', movePath(account), { body: { cell: 1 } })
  expect(running.body.code).toBe('move-running')
  expect((await callAsOperator('DELETE', movePath(account))).status).toBe(200)
  await finishMove(account)
  expect((await readMove(account)).step).toBe('cancelled')
  expect(await dump(1, account.id)).toEqual({})
  await orderMove(account)
  await finishMove(account)
  expect((await readMove(account)).step).toBe('done')
  expect((await callAsOperator('DELETE', movePath(account))).body.code).toBe('move-switched')
})

test('a move to an unknown cell, to its own cell and of an unknown account is refused', async () => {
  const account = await openAccount()
  for (const cell of [77, 0]) {
    const reply = await callAsOperator('POST', movePath(account), { body: { cell } })
    expect(reply.status).toBe(400)
  }
  expect((await callAsOperator('GET', movePath(account))).body.code).toBe('move-not-found')
  const none = await callAsOperator('POST', '/admin/accounts/acc_none/move', { body: { cell: 1 } })
  expect(none.status).toBe(404)
})

test('killed after any number of statements, it goes on and loses nothing', async () => {
  const account = await openAccount()
  const deviceId = await populate(account)
  let minute = 100
  let places = 3
  let [from, to] = [0, 1]
  for (let allowed = 1; allowed < 190; allowed += 25) {
    await insertMove(account, [from, to])
    let left = allowed
    const count = () => {
      if (left-- <= 0) throw new Error('killed')
    }
    const killed = {
      ...env,
      DB: watchStatements(env.DB, count),
      CELL_1: watchStatements(env.CELL_1, count),
    }
    await runMove(killed as never, account.id).catch(() => {})
    // The account works on, wherever the move was interrupted: at the latest when a freeze ends.
    await expect
      .poll(async () => (await report(account, deviceId, minute)).status, {
        timeout: 12_000,
        interval: 300,
      })
      .toBe(201)
    minute++
    places++
    await finishMove(account)
    const move = await readMove(account)
    expect(move, `after ${allowed} statements`).toMatchObject({ step: 'done', corrected: 0 })
    expect((await dump(to, account.id)).locations, `after ${allowed}`).toHaveLength(places)
    expect(await dump(from, account.id)).toEqual({})
    ;[from, to] = [to, from]
  }
}, 300_000)

test('the sweep continues a move that a crash has left', async () => {
  const account = await openAccount()
  await populate(account)
  await orderMove(account)
  await sweep(env, Date.now())
  await finishMove(account)
  expect((await readMove(account)).step).toBe('done')
})
