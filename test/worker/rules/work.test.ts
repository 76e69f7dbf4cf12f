import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { createDevice } from '../../support/devices.ts'
import { createRule, createZone } from '../../support/zones.ts'

const START = Date.UTC(2026, 10, 1)
const at = (second: number): string => new Date(START + second * 1000).toISOString()

/** How many requests the account has left in this minute. */
const requestsLeft = async (account: TestAccount): Promise<number> => {
  const { headers } = await account.call('GET', '/api/zones')
  return Number(/r=(\d+)/.exec(headers.get('RateLimit') ?? '')?.[1])
}

/** A location each second, alternately outside and inside the zone. */
const storeLocations = async (device: string, count: number): Promise<void> => {
  await env.DB.prepare(
    `INSERT INTO locations (device_key, time, latitude, longitude, received_at)
    WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?2 - 1)
    SELECT (SELECT key FROM devices WHERE id = ?1), ?3 + 1000 * i, 0,
      CASE i % 2 WHEN 0 THEN 1000000 ELSE 10000 END, ?3 FROM n`,
  )
    .bind(device, count, START)
    .run()
}

test('a test of a rule that is too much work says where it stopped, and counts as many requests', async () => {
  const account = await openAccount()
  const device = await createDevice(account)
  const zone = await createZone(account)
  const rule = await createRule(account, { when: { type: 'enters', zones: [zone] } })
  await storeLocations(device, 21_000)
  const tryUntil = (to: number) =>
    account.call('POST', `/api/rules/${rule}/test`, {
      body: { deviceId: device, from: at(0), to: at(to) },
    })
  const short = await tryUntil(100)
  expect([short.status, short.body.testedUntil]).toEqual([200, null])
  expect(short.body.alerts).toHaveLength(50)
  const before = await requestsLeft(account)
  const { body } = await tryUntil(20_999)
  expect(body.alerts).toHaveLength(1000)
  expect(body.alerts.slice(0, 50)).toEqual(short.body.alerts)
  expect(body.testedUntil > at(10_000) && body.testedUntil < at(20_999)).toBe(true)
  expect(before - (await requestsLeft(account))).toBeGreaterThan(5)
})

test('a report counts by what its rules cost', async () => {
  const account = await openAccount()
  const device = await createDevice(account)
  const zone = await createZone(account)
  const report = async (from: number): Promise<number> => {
    const before = await requestsLeft(account)
    const reply = await account.call('POST', `/api/devices/${device}/locations`, {
      body: Array.from({ length: 1000 }, (_, index) => ({
        dateTime: at(from + index),
        latitude: 0,
        longitude: index % 2 ? 0.001 : 0.1,
      })),
    })
    expect(reply.status).toBeLessThan(300)
    return before - (await requestsLeft(account))
  }
  const plain = await report(0)
  for (let metres = 0; metres < 20; metres++)
    await createRule(account, {
      when: { type: 'enters', zones: [zone] },
      hysteresis: { metres, fixes: 1 },
    })
  expect(await report(10_000)).toBeGreaterThan(plain)
})
