import { describe, expect, test } from 'vitest'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { createDevice } from '../../support/devices.ts'
import { alertsOf, fixAt } from '../../support/ruleTracks.ts'
import { createRule, createZone } from '../../support/zones.ts'

/* A condition that holds when its rule is made, or with the first location of a device. */

const MINUTE = 60_000

const send = async (account: TestAccount, device: string, ...body: object[]) =>
  expect((await account.call('POST', `/api/devices/${device}/locations`, { body })).status).toBe(
    201,
  )

const edit = async (account: TestAccount, rule: string, body: object) =>
  expect((await account.call('PATCH', `/api/rules/${rule}`, { body })).status).toBe(200)

const conditions = (zone: string, other: string) => ({
  inside: [{ type: 'inside', zones: [zone], minutes: 30 }, {}],
  outside: [{ type: 'outside', zones: [other], minutes: 30 }, {}],
  stands: [{ type: 'stands', minutes: 30 }, {}],
  speed: [{ type: 'speed', above: 50 }, { speed: 60 }],
  'speed in a zone': [{ type: 'speed', above: 50, zones: [zone] }, { speed: 60 }],
  value: [{ type: 'value', member: 'battery', below: 20 }, { battery: 10 }],
})

const setUp = async () => {
  const account = await openAccount()
  const zone = await createZone(account)
  const shape = { type: 'Circle', center: [0.1, 0], radius: 1000 }
  return { account, zone, other: await createZone(account, { shape }) }
}

describe.each(Object.keys(conditions('', '')))('%s', (kind) => {
  test('that holds already is raised once, and again only by another condition', async () => {
    const { account, zone, other } = await setUp()
    const [when, more] = conditions(zone, other)[kind as 'speed'] as [object, object]
    const device = await createDevice(account)
    const now = Date.now()
    const fix = (ms: number) => fixAt(now + ms, 'in', more)
    /** Dated after all changes so far, and before those that follow. */
    const sendNow = async () => {
      await scheduler.wait(2)
      await send(account, device, fixAt(Date.now(), 'in', more))
      await scheduler.wait(2)
    }
    await send(account, device, fix(-60 * MINUTE), fix(-20 * MINUTE), fix(-MINUTE))
    const rule = await createRule(account, { when })
    // Dated before the rule.
    await send(account, device, fix(-1000))
    expect(await alertsOf(account, device)).toEqual([])
    await sendNow()
    expect(await alertsOf(account, device)).toMatchObject([{ ruleId: rule }])
    await sendNow()
    await edit(account, rule, { name: 'Other', text: 'Look!', notifications: ['SMS'] })
    await sendNow()
    expect(await alertsOf(account, device)).toHaveLength(1)
    await edit(account, rule, { hysteresis: { metres: 1, fixes: 1 } })
    await sendNow()
    await sendNow()
    expect(await alertsOf(account, device)).toHaveLength(2)
    await edit(account, rule, { enabled: false })
    await sendNow()
    await edit(account, rule, { enabled: true })
    await sendNow()
    await sendNow()
    expect(await alertsOf(account, device)).toHaveLength(3)
  })
})

test('what moves already is raised once', async () => {
  const { account } = await setUp()
  const device = await createDevice(account)
  const now = Date.now()
  await send(account, device, fixAt(now - 12 * MINUTE, 'in'), fixAt(now - 6 * MINUTE, 'out'))
  await createRule(account, { when: { type: 'moves', metres: 200 } })
  await send(account, device, fixAt(now + 2000, 'in'))
  await send(account, device, fixAt(now + 3000, 'in'))
  expect(await alertsOf(account, device)).toHaveLength(1)
})

test.each(['speed', 'value'] as const)('%s of a first report is raised once', async (kind) => {
  const { account, zone, other } = await setUp()
  const [when, more] = conditions(zone, other)[kind]
  await createRule(account, { when })
  const now = Date.now() + 1000
  const orders = [
    [0, 1, 2],
    [2, 1, 0],
    [1, 2, 0],
  ]
  for (const order of orders) {
    const device = await createDevice(account)
    for (const ms of order) await send(account, device, fixAt(now + ms, 'out', more as object))
    expect(await alertsOf(account, device)).toHaveLength(1)
  }
})

test('who is in a zone already neither enters nor leaves it', async () => {
  const { account, zone } = await setUp()
  const device = await createDevice(account)
  await send(account, device, fixAt(Date.now() - MINUTE, 'in'))
  for (const type of ['enters', 'leaves'])
    await createRule(account, { when: { type, zones: [zone] } })
  await send(account, device, fixAt(Date.now() + 2000, 'in'))
  await send(account, await createDevice(account), fixAt(Date.now() + 2000, 'in'))
  expect(await alertsOf(account, device)).toEqual([])
})

test('a test says which alerts are since the last change', async () => {
  const { account } = await setUp()
  const device = await createDevice(account)
  const rule = await createRule(account, { when: { type: 'speed', above: 50 } })
  const now = Date.now()
  const speeds = [10, 60, 60, 10, 60].map((speed, at) =>
    fixAt(now + (at - 2) * 1000 + 500, 'in', { speed }),
  )
  await send(account, device, ...speeds)
  const tested = await account.call('POST', `/api/rules/${rule}/test`, {
    body: {
      deviceId: device,
      from: new Date(now - MINUTE).toISOString(),
      to: new Date(now + MINUTE).toISOString(),
    },
  })
  const found: { dateTime: string; sinceChange: boolean }[] = tested.body.alerts
  const isSince = found.map(({ sinceChange }) => sinceChange)
  expect(isSince).toEqual([false, true, true])
  const raised: { dateTime: string }[] = await alertsOf(account, device)
  expect(raised.map(({ dateTime }) => dateTime)).toEqual(
    found.filter(({ sinceChange }) => sinceChange).map(({ dateTime }) => dateTime),
  )
})
