import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { createDevice } from '../../support/devices.ts'
import { alertsOf } from '../../support/ruleTracks.ts'
import { createRule } from '../../support/zones.ts'

const report = async (account: TestAccount, device: string, body: unknown) =>
  expect((await account.call('POST', `/api/devices/${device}/locations`, { body })).status).toBe(
    201,
  )

const START = Date.now() - 7_200_000

/** A rule that was made before the locations. */
const createOldRule = async (account: TestAccount, when: object) => {
  const id = await createRule(account, { when, lateMinutes: 1440 })
  await env.DB.prepare('UPDATE rules SET last_modified = 0 WHERE id = ?').bind(id).run()
  return id
}

const placeAt = (time: number, metres: number, more: object = {}) => ({
  dateTime: new Date(time).toISOString(),
  latitude: metres / 110_574,
  longitude: 0,
  ...more,
})

/** What the rule would have raised. */
const tryRule = async (account: TestAccount, rule: string, deviceId: string) => {
  const [from, to] = [new Date(START).toISOString(), new Date(START + 7_200_000).toISOString()]
  const body = { deviceId, from, to }
  return (await account.call('POST', `/api/rules/${rule}/test`, { body })).body.alerts
}

test('imprecise locations of a drive are no standstill, live, late and tried', async () => {
  const account = await openAccount()
  const rule = await createOldRule(account, { type: 'stands', minutes: 1 })
  const drive = Array.from({ length: 60 }, (_, index) =>
    placeAt(
      START + index * 10_000,
      (index * 10 * 60) / 3.6,
      index % 6 === 5 ? { accuracy: 10_000 } : {},
    ),
  )
  const parked = Array.from({ length: 8 }, (_, index) =>
    placeAt(START + (60 + index) * 10_000, (60 * 10 * 60) / 3.6),
  )
  const raised = [{ text: 'Stands for 1 minute.', dateTime: parked[6]?.dateTime }]
  const [live, late] = [await createDevice(account), await createDevice(account)]
  for (let i = 0; i < drive.length; i += 5) await report(account, live, drive.slice(i, i + 5))
  expect(await alertsOf(account, live)).toEqual([])
  await report(account, live, parked)
  expect(await alertsOf(account, live)).toMatchObject(raised)
  // The imprecise ones come after all others.
  await report(account, late, [...drive.filter((_, index) => index % 6 !== 5), ...parked])
  await report(account, late, drive)
  expect(await alertsOf(account, late)).toMatchObject(raised)
  expect(await tryRule(account, rule, live)).toMatchObject(raised)
})

test('a speed is computed where none is reported, live, late and tried', async () => {
  const account = await openAccount()
  const when = { type: 'speed', above: 60 }
  const reported = await createOldRule(account, when)
  const computed = await createOldRule(account, { ...when, computed: true })
  const { rule } = (await account.call('GET', `/api/rules/${computed}`)).body
  expect(rule.when).toEqual({ ...when, computed: true })
  // 6 km/h, then 90; the third is imprecise and far away.
  const [slow, slower, off, fast] = [
    placeAt(START, 0),
    placeAt(START + 360_000, 600),
    placeAt(START + 420_000, 9000, { accuracy: 8000 }),
    placeAt(START + 480_000, 3600),
  ] as const
  const raised = [
    {
      ruleId: computed,
      dateTime: fast.dateTime,
      text: expect.stringMatching(
        /^Speed (89\.\d+|90(\.\d+)?) km\/h, computed from two positions\.$/,
      ),
    },
  ]
  for (const reports of [
    [[slow], [slower], [off], [fast]],
    [[slow, slower, off, fast]],
    [[fast], [off], [slow], [slower]],
  ]) {
    const device = await createDevice(account)
    for (const body of reports) await report(account, device, body)
    expect(await alertsOf(account, device)).toMatchObject(raised)
    expect(await tryRule(account, computed, device)).toMatchObject(raised)
    expect(await tryRule(account, reported, device)).toEqual([])
  }
  // A speed that the device cannot have decides nothing.
  const still = await createDevice(account, { name: 'Buoy', maxSpeed: 80 })
  for (const body of [[slow], [slower], [fast]]) await report(account, still, body)
  expect(await alertsOf(account, still)).toEqual([])
  expect(await tryRule(account, computed, still)).toEqual([])
  const wrong = await account.call('POST', '/api/rules', {
    body: { name: 'Speed', when: { ...when, computed: 'yes' } },
  })
  expect([wrong.status, wrong.body.errors[0].pointer]).toEqual([400, '/when/computed'])
})
