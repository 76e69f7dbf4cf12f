import { env } from 'cloudflare:workers'
import { expect, test, vi } from 'vitest'
import { openAccount } from '../../support/accounts.ts'
import { createDevice } from '../../support/devices.ts'
import { daysAgo, iso } from '../../support/time.ts'
import { createBoundUser } from '../../support/users.ts'

const START = daysAgo(50)
const SPAN = { from: iso(START), to: iso(daysAgo(0)) }
const TABLES = 'locations|alerts|devices|accounts|messages'

const plansOf = async (statements: string[]): Promise<string[][]> => {
  const plans = statements.map(async (sql) => {
    const values = sql.match(/\?/g)?.map(() => 1) ?? []
    const { results } = await env.DB.prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .bind(...values)
      .all<{ detail: string }>()
    return results.map(({ detail }) => detail)
  })
  return Promise.all(plans)
}

test('no report and no query of a span scans a table', async () => {
  const account = await openAccount()
  const id = await createDevice(account)
  const group = { name: 'North', devices: [id] }
  const north = (await account.call('POST', '/api/groups', { body: group })).body.id
  const confined = await createBoundUser(account, { group: north, privileges: ['write'] })
  await env.DB.prepare(
    `INSERT INTO locations (device_key, time, latitude, longitude, received_at)
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4001)
     SELECT key, ?2 + i, 0, 0, 0 FROM n, devices WHERE id = ?1`,
  )
    .bind(id, START)
    .run()
  await env.DB.prepare(
    `INSERT INTO alerts (account_id, device_key, id, time, name, text, messages)
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1001)
     SELECT account_id, key, 'alr_' || key || '_' || i, ?2 + i, 'Often', '', 0
     FROM n, devices WHERE id = ?1`,
  )
    .bind(id, START)
    .run()
  const location = { dateTime: iso(START), latitude: 1, longitude: 2 }
  const prepare = vi.spyOn(env.DB, 'prepare')
  for (const caller of [account, confined]) {
    for (const [list, body] of [
      ['locations', location],
      ['locations', [location, { ...location, speed: 1 }]],
      ['locations', SPAN],
      ['alerts', SPAN],
      ['alerts', { ...SPAN, alertName: 'Often' }],
      ['alerts', { ...SPAN, acknowledged: false, sort: '-dateTime' }],
    ] as const) {
      const reply = await caller.call('POST', `/api/devices/${id}/${list}`, { body })
      expect(reply.status).toBeLessThan(300)
    }
    for (const path of [`/api/devices/${id}/locations?order=desc`, '/api/alerts?acknowledged=true'])
      expect((await caller.call('GET', path)).status).toBe(200)
  }
  const statements = [...new Set(prepare.mock.calls.map(([sql]) => sql))].filter((sql) =>
    /"(locations|alerts)"/.test(sql),
  )
  prepare.mockRestore()
  expect(statements.filter((sql) => /count\(\*\)/.test(sql))).toHaveLength(7)
  expect(statements.filter((sql) => /length\(/.test(sql) && /isNew/.test(sql))).toHaveLength(1)
  const plans = await plansOf(statements)
  expect(plans.flat().length).toBeGreaterThan(30)
  const isScan = new RegExp(`^SCAN (${TABLES})( |$)`)
  expect(plans.flat().filter((step) => isScan.test(step))).toEqual([])
  // `a` names the alerts, and the bounded subquery that searches them.
  for (const plan of plans.filter((steps) => steps.includes('SCAN a')))
    expect(plan).toEqual(expect.arrayContaining([expect.stringMatching(/^SEARCH a USING .*INDEX/)]))
})
