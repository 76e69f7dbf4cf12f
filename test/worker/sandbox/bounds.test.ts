import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { sweep } from '../../../src/sweep/sweep.ts'
import { openSandbox } from '../../support/accounts.ts'
import { watchStatements } from '../../support/bindings.ts'
import { garminEvent, garminPush, makeSource } from '../../support/sources.ts'

const MINUTE = 60_000
/** `REPORT_QUERIES` of the sweep. */
const MAX_QUERIES = 30

/** How many statements a sweep makes in cell 1. */
const countStatements = async (now: number): Promise<number> => {
  let statements = 0
  const { CELL_1 } = env as unknown as { CELL_1: D1Database }
  const watched = { CELL_1: watchStatements(CELL_1, () => statements++) }
  await sweep({ ...env, ...watched }, now)
  return statements
}

/** Gives each device of the account a long track before its present locations. */
const fillTracks = async ({ id }: { id: string }): Promise<void> => {
  const { CELL_1 } = env as unknown as { CELL_1: D1Database }
  await CELL_1.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
     INSERT OR IGNORE INTO locations (device_key, time, latitude, longitude, received_at)
     SELECT key, ? - i * 60000, 380000000 + i % 7, -91000000, ? FROM devices, n
     WHERE account_id = ?`,
  )
    .bind(Date.now() - 1500 * MINUTE, Date.now(), id)
    .run()
}

test('moving a sandbox takes no more queries than the sweep counts for it', async () => {
  const account = await openSandbox({ cell: 1 })
  const zone = { name: 'World', shape: { type: 'Circle', center: [0, 0], radius: 1000 } }
  const zones = [(await account.call('POST', '/api/zones', { body: zone })).body.zone.id]
  // The longest look back at thousands of locations.
  for (const when of [
    { type: 'speed', above: 20 },
    { type: 'outside', zones, minutes: 10_000 },
    { type: 'stands', minutes: 10_000 },
    { type: 'moves', metres: 10_000 },
  ]) {
    const rule = { name: when.type, alertName: when.type, when, hysteresis: { fixes: 3 } }
    const { status, text } = await account.call('POST', '/api/rules', { body: rule })
    expect(status, text).toBe(201)
  }
  await fillTracks(account)
  const now = Date.now() + 60 * MINUTE
  const moving = await countStatements(now)
  const idle = await countStatements(now)
  expect(moving).toBeGreaterThan(idle)
  expect(moving - idle).toBeLessThanOrEqual(MAX_QUERIES)
})

test('a command of a sandbox goes to no network, and its answer says so', async () => {
  const account = await openSandbox()
  const imei = '300434060099001'
  const made = await account.call('POST', '/api/devices', {
    body: { name: 'Mine', identifier: imei },
  })
  const settings = { apiKey: 'ok', sender: 'ops@example.com' }
  const source = await makeSource(account, 'garmin', { settings })
  await source.push(garminPush([garminEvent(imei, Date.now())]))
  const path = `/api/devices/${made.body.device.id}/sendCommand`
  const { status, body } = await account.call('POST', path, { body: { command: 'Call base.' } })
  expect([status, body.command.status]).toEqual([200, 'sent'])
  expect(JSON.stringify(body.command)).toContain('Sandbox: nothing was sent.')
  expect(await (await fetch(`https://receiver.example/${imei}`)).json()).toEqual([])
})
