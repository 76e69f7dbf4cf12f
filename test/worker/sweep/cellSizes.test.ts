import { env } from 'cloudflare:workers'
import { beforeEach, expect, test } from 'vitest'
import { sweep } from '../../../src/sweep/sweep.ts'
import { callWithBindings, watchStatements } from '../../support/bindings.ts'
import { call, callAsOperator } from '../../support/http.ts'

const GB = 1_000_000_000

const sizes = async (): Promise<(number | null)[]> => {
  const { results } = await env.DB.prepare('SELECT size_bytes FROM cells ORDER BY cell').all<{
    size_bytes: number | null
  }>()
  return results.map(({ size_bytes }) => size_bytes)
}
const setCells = (...cells: [accounts: number, sizeBytes: number | null][]) =>
  env.DB.batch(
    cells.map(([accounts, sizeBytes], cell) =>
      env.DB.prepare(
        'INSERT INTO cells (cell, accounts, size_bytes) VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET accounts = ?2, size_bytes = ?3',
      ).bind(cell, accounts, sizeBytes),
    ),
  )
const opening = (cell?: number) => ({
  userName: `cell-${crypto.randomUUID().slice(0, 8)}`,
  name: 'Placed',
  licenses: 0,
  timeZone: 'UTC',
  ...(cell !== undefined && { cell }),
})
const open = (body = opening()) => callAsOperator('POST', '/admin/accounts', { body })
const cellOfNew = async () => (await open()).body.account?.cell

beforeEach(() => setCells([0, null], [0, null]))

test('the sweep records the size of each cell, and again when it has changed by 1 % or more', async () => {
  await sweep(env, Date.now())
  const measured = (await sizes()) as number[]
  expect(measured).toHaveLength(2)
  for (const size of measured) expect(size).toBeGreaterThan(10_000)

  const written: string[] = []
  const DB = watchStatements(env.DB, (sql) => {
    if (/insert into "cells"/i.test(sql)) written.push(sql)
  })
  await sweep({ ...env, DB }, Date.now())
  expect(written).toEqual([])
  const near = measured.map((size) => Math.round(size * 1.009))
  await setCells([0, near[0] ?? 0], [0, near[1] ?? 0])
  await sweep({ ...env, DB }, Date.now())
  expect(await sizes()).toEqual(near)
  await setCells([0, 1], [0, near[1] ?? 0])
  await sweep({ ...env, DB }, Date.now())
  expect(await sizes()).toEqual([measured[0], near[1]])
  expect(written).toHaveLength(1)
})

test('a new account goes to the smallest cell, then to the one with the fewest accounts', async () => {
  await setCells([1, 3 * GB], [50, 2 * GB])
  expect(await cellOfNew()).toBe(1)
  // Within the same hundredth of the maximum they count as equally large.
  await setCells([7, 2 * GB + 40_000_000], [8, 2 * GB])
  expect(await cellOfNew()).toBe(0)
  await setCells([7, null], [6, 1_000_000])
  expect(await cellOfNew()).toBe(1)
})

test('a cell past 70 % of the maximum takes no new accounts', async () => {
  await setCells([0, 7 * GB], [90, 6.9 * GB])
  expect(await cellOfNew()).toBe(1)
  const named = await open(opening(0))
  expect([named.status, named.body.code]).toEqual([503, 'cells-full'])

  await setCells([0, 7 * GB], [90, 7 * GB])
  const body = opening()
  const refused = await open(body)
  expect([refused.status, refused.body.code]).toEqual([503, 'cells-full'])
  expect(refused.body.detail).toMatch(/70 % full/)
  expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0)
  const plan = { CELL_MAX_BYTES: String(11 * GB) }
  const larger = await callWithBindings(plan, 'POST', '/admin/accounts', {
    token: env.ADMIN_TOKEN ?? '',
    body,
  })
  expect(larger.status).toBe(201)
})

test('while all cells are full, a user name that is taken is still reported as taken', async () => {
  const body = opening()
  expect((await open(body)).status).toBe(201)
  await setCells([1, 9 * GB], [1, 9 * GB])
  expect((await open(body)).body.code).toBe('user-name-taken')
})

test('the health check shows the size of each cell, and is degraded while one is full', async () => {
  await sweep(env, Date.now())
  await setCells([0, 5 * GB], [0, null])
  const health = async (bindings: object = {}) =>
    (await callWithBindings(bindings, 'GET', '/healthz')).body
  expect((await call('GET', '/healthz')).body).toEqual({
    success: true,
    status: 'ok',
    lastSweep: expect.any(String),
    sweepOnTime: true,
    cells: [
      { cell: 0, sizeBytes: 5 * GB, full: false },
      { cell: 1, sizeBytes: null, full: false },
    ],
  })
  expect(await health({ CELL_MAX_BYTES: String(7 * GB) })).toMatchObject({
    status: 'degraded',
    cells: [{ full: true }, { full: false }],
  })
})
