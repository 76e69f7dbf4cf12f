import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { openCell } from '../../../src/db/open.ts'
import { INITIAL_STATE } from '../../../src/ingest/arrival.ts'
import { storeArrivals } from '../../../src/ingest/store.ts'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { failStatements, watchResults } from '../../support/bindings.ts'
import { createDevice } from '../../support/devices.ts'
import { alertsOf, fixAt, start } from '../../support/ruleTracks.ts'
import { createRule, createZone } from '../../support/zones.ts'

/* What evaluating rules may cost at most. */

const SECOND = 1000
const FROM = Date.now() - 20 * 3_600_000

/** Stores a location each second in the zone, without evaluating them. */
const storeTrack = (device: string, count: number) =>
  env.DB.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?3 - 1)
      INSERT INTO locations (device_key, time, latitude, longitude, received_at)
      SELECT key, ?1 + i * 1000, i % 7 * 50, i % 5 * 50, ?1 FROM n, devices WHERE id = ?2`,
  )
    .bind(FROM, device, count)
    .run()

interface Sent {
  time: number
  isUrgent?: boolean
  DB?: D1Database
}

/** Reports one location in the zone; returns how many rows were read, and what was counted. */
const report = async ({ id: accountId }: TestAccount, deviceId: string, sent: Sent) => {
  const rulesVersion = await env.DB.prepare('SELECT rules_version FROM accounts WHERE id = ?')
    .bind(accountId)
    .first<string>('rules_version')
  const cost = { read: 0, units: 0 }
  const DB = watchResults(sent.DB ?? env.DB, (results) => {
    for (const { meta } of results) cost.read += meta.rows_read
  })
  const now = Date.now()
  const location = { dateTime: sent.time, latitude: 0, longitude: 0 }
  const arrivals = [{ location, receivedAt: now }]
  const outcome = await storeArrivals(openCell({ ...env, DB }, 0), {
    viewer: { accountId, groupId: null },
    devices: [{ deviceId, identifier: null, eventId: 'evt_1', contact: now, arrivals }],
    raisesBy: sent.isUrgent ? async () => [] : null,
    checksCredibility: false,
    assumed: { ...INITIAL_STATE, rulesVersion },
    origin: 'https://perigee.test',
    countWork: (units) => {
      cost.units += units
    },
    now,
  }).catch(() => ({ ok: false }))
  return { ...cost, isStored: outcome.ok }
}

/** With a device that has 30,000 locations in the minutes of three rules. */
const setUp = async () => {
  const account = await openAccount()
  const zone = await createZone(account)
  const minutes = 1440
  await createRule(account, { when: { type: 'inside', zones: [zone], minutes } })
  await createRule(account, { when: { type: 'outside', zones: [zone], minutes } })
  await createRule(account, { when: { type: 'stands', minutes } })
  const device = await createDevice(account)
  await storeTrack(device, 30_000)
  return { account, device }
}

test('a report reads a bounded number of locations and counts them, new or late', async () => {
  const { account, device } = await setUp()
  const newest = await report(account, device, { time: FROM + 30_000 * SECOND })
  // 8,192 locations, found by seeks and counted by the guard.
  expect(newest.read).toBeLessThan(40_000)
  expect(newest.units).toBeGreaterThan(8192 * 5)
  const next = await report(account, device, { time: FROM + 30_001 * SECOND })
  expect(next.read).toBeLessThan(10_000)
  expect(next.units).toBeGreaterThan(8192)
  const late = await report(account, device, { time: FROM + 15_000 * SECOND + 1 })
  expect(late.read).toBeLessThan(80_000)
  expect([newest, next, late].map(({ isStored }) => isStored)).toEqual([true, true, true])
}, 60_000)

test('a report with an emergency reads no long window', async () => {
  const { account, device } = await setUp()
  const time = FROM + 30_000 * SECOND
  const { read, isStored } = await report(account, device, { time, isUrgent: true })
  expect([isStored, read < 8000]).toEqual([true, true])
}, 60_000)

test('a report that fails is counted', async () => {
  const { account, device } = await setUp()
  const DB = failStatements(env.DB, /^INSERT INTO .?locations/i)
  const { units, isStored } = await report(account, device, {
    time: FROM + 30_000 * SECOND,
    DB,
  })
  expect([isStored, units > 8192]).toEqual([false, true])
}, 60_000)

test('of attributes only the compared ones are read, by whatever name', async () => {
  const account = await openAccount()
  const device = await createDevice(account)
  const names = ['tank', 'a"b', 'a.b', 'ä\\b', '[0]', "it's", 'latitude']
  const rules: string[] = []
  for (const member of names)
    rules.push(
      await createRule(account, {
        when: { type: 'value', member, above: 0.3 },
        hysteresis: { metres: 0, fixes: 2 },
      }),
    )
  const from = start()
  for (const [at, value] of [0.1, 0.3, 0.30000000000000004, 0.4].entries()) {
    const attributes = Object.fromEntries([
      ...names.map((name) => [name, value]),
      ['x', 'y'.repeat(4000)],
    ])
    const body = fixAt(from + at * SECOND, 'in', { attributes, latitude: 1e-9 })
    const sent = await account.call('POST', `/api/devices/${device}/locations`, { body })
    expect([sent.status, sent.body.errors]).toEqual([201, undefined])
    // The next report reads the stored ones.
    await createRule(account, { when: { type: 'moves', metres: 5000 } })
  }
  const alerts: { ruleId: string; dateTime: string }[] = await alertsOf(account, device)
  const last = new Date(from + 3 * SECOND).toISOString()
  expect(alerts.map(({ ruleId }) => ruleId).sort()).toEqual(rules.sort())
  expect(new Set(alerts.map(({ dateTime }) => dateTime))).toEqual(new Set([last]))
}, 60_000)
