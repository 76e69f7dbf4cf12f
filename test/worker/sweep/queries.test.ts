import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { CELL_QUERIES } from '../../../src/sweep/run.ts'
import { sweep } from '../../../src/sweep/sweep.ts'
import { openAccount } from '../../support/accounts.ts'
import { watchStatements } from '../../support/bindings.ts'
import { createDevice } from '../../support/devices.ts'

test('a cell with a watched device and nothing to delete takes no more than its share', async () => {
  const account = await openAccount({ cell: 1 })
  await createDevice(account, 'Tern')
  const rule = { name: 'Quiet', alertName: 'Silent', when: { type: 'silent', minutes: 60 } }
  const { status } = await account.call('POST', '/api/rules', { body: rule })
  expect(status).toBe(201)
  const statements: string[] = []
  const { CELL_1 } = env as unknown as { CELL_1: D1Database }
  const watched = { CELL_1: watchStatements(CELL_1, (sql) => statements.push(sql)) }
  await sweep({ ...env, ...watched }, Date.now())
  // Every part had its turn, up to the last, and the run was recorded. Slow work comes later.
  const recorded = statements.findIndex((sql) => sql.startsWith('insert into "sweep_runs"'))
  expect(statements[recorded - 1]).toMatch(/SELECT min\("locations"\."time"\)/)
  expect(statements.length).toBeLessThanOrEqual(CELL_QUERIES)
})
