import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { openCell } from '../../../src/db/open.ts'
import { INITIAL_STATE } from '../../../src/ingest/arrival.ts'
import { storeArrivals } from '../../../src/ingest/store.ts'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { watchBatches } from '../../support/bindings.ts'
import { createDevice } from '../../support/devices.ts'
import { createRule, createZone } from '../../support/zones.ts'

/** Cell 0, counting round trips, and rows read and written. */
const countCell = () => {
  const count = { trips: 0, read: 0, written: 0 }
  const DB = watchBatches(env.DB, (results) => {
    count.trips++
    for (const { meta } of results) {
      count.read += meta.rows_read
      count.written += meta.rows_written
    }
  })
  return { db: openCell({ ...env, DB }, 0), count }
}

let time = Date.now() - 3_600_000
const nextTime = () => {
  time += 1000
  return time
}

/** Reports one location of each device and returns what it cost. */
const costOf = async (
  { id: accountId }: TestAccount,
  deviceIds: string[],
  rulesVersion: string | null,
  checksCredibility = false,
) => {
  const { db, count } = countCell()
  const location = { dateTime: nextTime(), latitude: 10, longitude: 20, accuracy: 5 }
  const now = Date.now()
  const outcome = await storeArrivals(db, {
    viewer: { accountId, groupId: null },
    devices: deviceIds.map((deviceId, index) => ({
      deviceId,
      identifier: null,
      eventId: `evt_${index}`,
      contact: now,
      arrivals: [{ location, receivedAt: now }],
    })),
    raisesBy: null,
    checksCredibility,
    assumed: { ...INITIAL_STATE, rulesVersion },
    origin: 'https://perigee.test',
    now,
  })
  expect(outcome).toMatchObject({ ok: true, accepted: deviceIds.length })
  return count
}

const versionOf = ({ id }: TestAccount) =>
  env.DB.prepare('SELECT rules_version FROM accounts WHERE id = ?')
    .bind(id)
    .first<string>('rules_version')

test('an account without rules pays nothing; with rules one more trip and a few rows', async () => {
  const plain = await openAccount()
  const plainDevice = await createDevice(plain)
  for (let i = 0; i < 8; i++) await costOf(plain, [plainDevice], null)
  const without = await costOf(plain, [plainDevice], null)
  expect(without.trips).toBe(1)
  // Five of them look whether the account is being moved.
  expect(without.read).toBeLessThanOrEqual(17)

  const account = await openAccount()
  const device = await createDevice(account)
  for (let i = 0; i < 20; i++) await costOf(account, [device], null)
  const zones = [await createZone(account), await createZone(account)]
  await createRule(account, { when: { type: 'enters', zones } })
  const version = await versionOf(account)
  // Compiles the rules.
  await costOf(account, [await createDevice(account)], version)
  const read = await costOf(account, [device], version)
  expect(read.trips).toBe(2)
  expect(read.read).toBeLessThanOrEqual(47)
  expect(read.written).toBe(without.written)
  const remembered = await costOf(account, [device], version)
  expect(remembered.trips).toBe(1)
  expect(remembered.read).toBeLessThanOrEqual(22)
  expect(remembered.written).toBe(without.written)
})

test.each([false, true])(
  'a mixed report pays as much for each device (credibility: %s)',
  async (is) => {
    const account = await openAccount({ licenses: 60 })
    const fleet = await Promise.all(Array.from({ length: 40 }, () => createDevice(account)))
    for (let i = 0; i < 9; i++) await costOf(account, fleet, null, is)
    const without = await costOf(account, fleet, null, is)
    expect(without.trips).toBe(1)
    const zones = [await createZone(account), await createZone(account)]
    await createRule(account, { when: { type: 'enters', zones } })
    const version = await versionOf(account)
    // Compiles the rules.
    await costOf(account, [await createDevice(account)], version, is)
    const read = await costOf(account, fleet, version, is)
    expect(read.trips).toBe(2)
    expect((read.read - without.read) / fleet.length).toBeLessThanOrEqual(40)
    expect(read.written).toBe(without.written)
    const remembered = await costOf(account, fleet, version, is)
    expect(remembered.trips).toBe(1)
    expect((remembered.read - without.read) / fleet.length).toBeLessThanOrEqual(10)
    expect(remembered.written).toBe(without.written)
  },
)
