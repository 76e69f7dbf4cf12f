import { env } from 'cloudflare:workers'
import { beforeAll, expect, test, vi } from 'vitest'
import { listAudit } from '../../../src/audit/store.ts'
import { countSignIn } from '../../../src/auth/signIns.ts'
import { base32Time } from '../../../src/domain/text/base32.ts'
import { deleteOldRows } from '../../../src/sweep/deletion/oldRows.ts'
import { openAccount } from '../../support/accounts.ts'
import { recordCell, rowsReadBy } from '../db/recordedCell.ts'
import { scansOf } from '../db/scans.ts'

vi.spyOn(console, 'log').mockImplementation(() => {})

const ROWS = 20_000
let accountId = ''
beforeAll(async () => {
  accountId = (await openAccount()).id
  await env.DB.prepare(
    `INSERT INTO audit (account_id, id, at, actor_type, actor_id, action, resource_type, resource_id, changes, request_id)
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
     SELECT ?1, ?3 || printf('%013d', i), 0, 'key', 'key_x', 'zone.updated', 'zone', 'zon_' || (i % 1000), '[]', '' FROM n`,
  )
    .bind(accountId, ROWS, `aud_${base32Time(Date.now() - 60_000)}`)
    .run()
})

const read = async (query: Partial<Parameters<typeof listAudit>[1]>) => {
  const { db, statements } = recordCell()
  const page = await listAudit(db, { accountId, before: '', limit: 100, ...query })
  expect(await scansOf(statements)).toEqual([])
  return { page, rows: await rowsReadBy(statements) }
}

test('a page of a long audit reads a page of rows', async () => {
  expect((await read({})).rows).toBeLessThan(400)
  expect((await read({ accountId: null })).rows).toBeLessThan(400)
  const { page, rows } = await read({ resource: 'zon_7' })
  expect(page.rows).toHaveLength(ROWS / 1000)
  expect(rows).toBeLessThan(200)
})

test('a filter that nothing matches reads a bounded part of it', async () => {
  const filters = [
    { actor: 'usr_none' },
    { action: 'user' },
    { resource: 'device' },
    { resource: 'zon_none', accountId: null },
  ]
  for (const filter of filters) {
    const { page, rows } = await read(filter)
    expect(page.rows).toEqual([])
    expect(page.next).not.toBeNull()
    expect(rows).toBeLessThan(ROWS)
  }
})

test('counting sign-ins and deleting old entries scan no table', async () => {
  const { db, statements } = recordCell()
  const actor = { type: 'system', id: 'test', name: null } as const
  await countSignIn(db, {
    accountId,
    action: 'signIn.refused',
    resource: { type: 'key', id: 'key_x' },
    writer: { actor, requestId: '', address: null },
    network: 'n',
    now: Date.now(),
  })
  const run = { env, cell: 0, db, now: Date.now(), take: () => true, later: () => {} }
  await deleteOldRows(run)
  expect(statements.some(({ sql }) => /key_networks/.test(sql))).toBe(true)
  const own = statements.filter(({ sql }) => /audit|key_networks/.test(sql))
  expect(await scansOf(own)).toEqual([])
})
